import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import { testBundle, testHistory, testPayment } from "../../../test/bundles/bundles.ts";
import { attestd, start } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import {
  BASE_OFFER,
  delivery,
  fakeService,
  paymentRequired,
  type Reply,
  type Seen,
} from "../../client/test/fake-service.ts";

const ITEMS = Array.from({ length: 12 }, (_, n) => ({ chain: "algorand", txnBytes: testPayment(`payment ${n}`) }));
const ids = testBatch(ITEMS).items.map(({ source }) => source.txnId);
/** Of a transaction that is in no list. */
const testBatchId = (n: number) => testBundle({ txnBytes: testPayment(`other ${n}`) }).source.txnId;
const offered = paymentRequired([BASE_OFFER]);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const inFolder = (...names: string[]) => join(folder.path, ...names);
beforeEach(async () => {
  folder = await temporaryFolder();
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await writeFile(inFolder("wallet.json"), JSON.stringify({ payers: { base: { address, privateKey } } }));
  await writeFile(inFolder("keys.json"), JSON.stringify(testHistory()));
  await writeFile(inFolder("list.txt"), `${ids.join("\n\n")}\r\n`);
});
afterEach(() => folder[Symbol.asyncDispose]());

const parties = ({ url }: { url: string }) => ["--service", url, "--wallet", "wallet.json", "--keys", "keys.json"];
const options = () => ({ cwd: folder.path, env: { XDG_STATE_HOME: inFolder("state") } });
const command = (service: { url: string }, ...more: string[]) => [
  "attest",
  "--file",
  "list.txt",
  ...parties(service),
  ...more,
];

/** What the service has sold, by payment. */
function seller(onPaid: (payments: number) => void = () => undefined) {
  const sold = new Map<string, string[]>();
  const answer = ({ header, body }: Seen): Reply => {
    const { items } = body as { items: { txid: string }[] };
    const wanted = items.map(({ txid }) => txid);
    if (header === undefined) return offered;
    sold.set(header, wanted);
    onPaid(sold.size);
    const batch = testBatch(wanted.map((txid) => ITEMS[ids.indexOf(txid)] as (typeof ITEMS)[0]));
    return delivery(new TextEncoder().encode(JSON.stringify(batch)));
  };
  return { sold, script: Array.from({ length: 40 }, () => answer) };
}

test("buys a list in batches, goes on after kill -9, and pays for nothing twice", async () => {
  let kill = () => undefined as unknown;
  const { sold, script } = seller((payments) => payments === 2 && kill());
  await using service = await fakeService(...script);
  const first = start(command(service, "--batch-size", "5"), options());
  kill = () => first.kill("SIGKILL");
  expect((await first.ended).code).toBe(null);
  kill = () => undefined;
  const { code, stdout, stderr } = await attestd(command(service, "--batch-size", "5"), options());
  expect(stderr).toBe("");
  expect(stdout).toContain("resuming   4 of 12 are done");
  expect(code).toBe(0);
  // Three payments, each item once.
  expect([...sold.values()].flat().toSorted()).toEqual(ids.toSorted());
  expect(sold.size).toBe(3);
  const saved = (await readdir(inFolder("list-attested"))).filter(
    (name) => name.endsWith(".json") && !name.startsWith("."),
  );
  expect(saved.toSorted()).toEqual(ids.map((id) => `${id}.json`).toSorted());
  const rows = (await readFile(inFolder("list-attested", "attestations.csv"), "utf8")).trim().split("\r\n");
  expect(rows).toHaveLength(13);
  expect(rows.slice(1).map((row) => ids.findIndex((id) => row.includes(id)))).toEqual([...ids.keys()]);
  expect(await readdir(inFolder("state", "attestd", "payments"))).toEqual([]);
});

test("names every line at fault, and asks nobody", async () => {
  await using service = await fakeService();
  await writeFile(inFolder("list.csv"), `n;hash\r\n1;"${ids[0]}"\r\n"two\nlines";oops\n3;${ids[0]}\n`);
  const args = ["attest", "--file", "list.csv", "--column", "hash", ...parties(service)];
  const { code, stderr } = await attestd(args, options());
  expect(stderr).toContain('line 3: "oops" is not a transaction id');
  expect(stderr).toContain("line 5: the same transaction as in line 2");
  expect([code, service.requests.length]).toEqual([2, 0]);
});

test("a batch that the service refuses after its payment is not bought by another while that can be taken", async () => {
  const body = {
    status: 404,
    code: "source_not_found",
    detail: "1 of 12",
    items: [{ index: 3, code: "source_not_found" }],
  };
  const refusal: Reply = { status: 404, body: JSON.stringify(body) };
  let answer = ({ header }: Seen): Reply => (header === undefined ? offered : refusal);
  await using service = await fakeService(...Array.from({ length: 40 }, () => (seen: Seen) => answer(seen)));
  const payments = () => new Set(service.requests.flatMap(({ header }) => header ?? []));
  const first = await attestd(command(service), options());
  expect(first.stdout).toContain("✓ signed 0.001 USDC on Base");
  expect(first.stderr).toMatch(
    /A payment for them is signed: it can be taken until .* UTC, and no other is signed before/,
  );
  expect(first.stderr).not.toContain("othing was paid");
  expect([first.code, payments().size]).toEqual([6, 1]);

  // The same list sends the same payment, and a list without the fault none.
  expect((await attestd(command(service), options())).code).toBe(6);
  await writeFile(inFolder("list.txt"), ids.filter((_, index) => index !== 3).join("\n"));
  const others = await attestd(command(service), options());
  expect(others.stderr).toMatch(
    /^attestd: not paid: there is a signed payment for a part of this list\n {2}It can be taken/,
  );
  expect([others.code, payments().size]).toEqual([6, 1]);

  // Once it can no longer be taken, it is given up.
  const folder = inFolder("state", "attestd", "payments");
  const [name = ""] = await readdir(folder);
  const stored = JSON.parse(await readFile(join(folder, name), "utf8"));
  await writeFile(join(folder, name), JSON.stringify({ ...stored, until: Date.now() - 1 }));
  const { script, sold } = seller();
  answer = script[0] as typeof answer;
  expect((await attestd(command(service), options())).code).toBe(0);
  expect([...sold.values()].map((bought) => bought.length)).toEqual([11]);
});

test("a list signs no more in all than the price allowed, whatever the service asks for the second batch", async () => {
  const dear = paymentRequired([{ ...BASE_OFFER, amount: "9000" }]);
  const { script, sold } = seller();
  // The price of both is asked first, then of each again.
  await using service = await fakeService(offered, offered, offered, script[0] as never, dear);
  const { code, stderr } = await attestd(command(service, "--batch-size", "6"), options());
  expect(stderr).toContain("The service asks 0.009 USDC, more than the 0.001 allowed.");
  expect([code, sold.size]).toEqual([6, 1]);
});

/** Leaves a state of the command in the folder of the list. */
async function stateOf(service: { url: string }, state: object) {
  await mkdir(inFolder("list-attested"));
  const whole = { version: 1, service: service.url, list: "", refused: [], pending: [], done: {}, ...state };
  await writeFile(inFolder("list-attested", ".attest.json"), JSON.stringify(whole));
}

/** As the command hashes a list: SHA-256 of its ids, sorted, a line each. */
const hashOf = (list: readonly string[]) => createHash("sha256").update(list.toSorted().join("\n")).digest("hex");

describe("a stranger's state in the folder buys nothing that the list does not hold", () => {
  const others = Array.from({ length: 51 }, (_, n) => testBatchId(n));
  test.each<[string, object, RegExp]>([
    ["of another list", { list: hashOf(others), pending: [others] }, /was begun with another list/],
    ["of no list", { pending: [others] }, /was begun with another list/],
    [
      "with more than the list",
      { list: hashOf(ids), pending: [[...ids, ...others]] },
      /would buy more than the list holds/,
    ],
    ["with others as done", { list: hashOf(ids), done: { [others[0] as string]: "" } }, /is not in the list/],
    ["with a transaction twice", { list: hashOf(ids), pending: [ids, ids.slice(1)] }, /names a transaction twice/],
    [
      "with a receipt elsewhere",
      { list: hashOf(ids), done: { [ids[0] as string]: "../../keys.json" } },
      /not the state of a list/,
    ],
    ["without a list", { list: undefined, pending: [ids] }, /not the state of a list/],
  ])("%s", async (_, state, words) => {
    await using service = await fakeService(...seller().script);
    await stateOf(service, state);
    const { code, stderr } = await attestd(command(service), options());
    expect(stderr).toMatch(words);
    expect([code === 2 || code === 3, service.requests.length]).toEqual([true, 0]);
  });

  test.each([
    ["a named pipe", () => void execFileSync("mkfifo", [inFolder("list-attested", ".attest.json")]), /named pipe/],
    ["a device", () => symlink("/dev/zero", inFolder("list-attested", ".attest.json")), /It is a link/],
    [
      "a pipe for its lock",
      () => void execFileSync("mkfifo", [inFolder("list-attested", ".attest.lock")]),
      /is not a lock/,
    ],
  ])("%s", async (_, make, words) => {
    await using service = await fakeService(...seller().script);
    await mkdir(inFolder("list-attested"));
    await make();
    const { stderr } = await start(command(service), options()).ended;
    expect(stderr).toMatch(words);
    expect(service.requests).toEqual([]);
  });
});

test("what can't be attested may be taken out of the list, and nothing else", async () => {
  const [first = "", ...good] = ids;
  const { sold, script } = seller();
  const refusing = (seen: Seen): Reply => {
    const { items } = seen.body as { items: { txid: string }[] };
    const index = items.findIndex(({ txid }) => txid === first);
    if (index === -1 || seen.header === undefined) return script[0]?.(seen) ?? "hang up";
    const body = {
      status: 404,
      code: "source_not_found",
      detail: "no such",
      items: [{ index, code: "source_not_found" }],
    };
    return { status: 404, headers: { "content-type": "application/problem+json" }, body: JSON.stringify(body) };
  };
  await using service = await fakeService(...script.map(() => refusing));
  const partly = await attestd(command(service, "--batch-size", "6"), options());
  expect(partly).toMatchObject({ code: 6, stderr: expect.stringContaining(`line 1: ${first}: source_not_found`) });
  await writeFile(inFolder("list.txt"), good.slice(1).join("\n"));
  expect(await attestd(command(service), options())).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/another list/),
  });
  await writeFile(inFolder("list.txt"), good.join("\n"));
  // It is the same list still; what is left of it waits for the payment that was signed for its batch.
  const left = await attestd(command(service), options());
  expect(left).toMatchObject({ code: 6, stderr: expect.stringContaining("a signed payment for a part of this list") });
  expect([...sold.values()].flat().toSorted()).toEqual(ids.slice(6).toSorted());
});

test("a list may come from a pipe, behind a byte order mark, and not in UTF-16", async () => {
  const { sold, script } = seller();
  await using service = await fakeService(...script);
  const args = (file: string) => ["attest", "--file", file, "--out", "out", ...parties(service)];
  const utf16 = inFolder("utf16.txt");
  await writeFile(utf16, Buffer.from(`\ufeff${ids.join("\r\n")}`, "utf16le"));
  expect(await attestd(args(utf16), options())).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/UTF-16, as PowerShell's > writes it: save it as UTF-8\.\n$/),
  });
  const { code } = await attestd(args("-"), { ...options(), input: `\ufeff${ids.join("\r\n")}` });
  expect([code, [...sold.values()].flat().toSorted()]).toEqual([0, ids.toSorted()]);
});
