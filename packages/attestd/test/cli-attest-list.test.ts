import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testBatch } from "../../../test/bundles/batches.ts";
import { testHistory, testPayment } from "../../../test/bundles/bundles.ts";
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
  expect(stdout).toContain("going on   4 of 12 are done");
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
