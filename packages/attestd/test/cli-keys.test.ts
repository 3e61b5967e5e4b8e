import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { encodeNote, keyEntryHash } from "@attestd/proof/attestor";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testAttestor, testHistory } from "../../../test/bundles/bundles.ts";
import { testTakeover } from "../../../test/bundles/takeover.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { beginJournal, offlineSettings } from "../../service/test/fakes/offline-deployment.ts";
import { settingsFileOf, withOver } from "../../service/test/settings.ts";

const attestor = testAttestor();
const successor = { ...testAttestor("successor"), algorandAddress: attestor.algorandAddress };
const one = testHistory([{ attestor, fromRound: 10 }]);
const two = testHistory([
  { attestor, fromRound: 10, revokedRound: 15 },
  { attestor: successor, fromRound: 20 },
]);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ReturnType<typeof createServer>;
let url: string;
/** How the service, or the indexer, answers. */
let answer: RequestListener;
beforeAll(async () => {
  folder = await temporaryFolder();
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.close();
  await folder?.[Symbol.asyncDispose]();
});

const history = (...args: string[]) => attestd(["keys", "history", ...args], { cwd: folder.path });
const path = (name: string) => join(folder.path, name);
const serve = (body: unknown, status = 200) => {
  answer = (_request, response) =>
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
};

test("keys history prints every key with its rounds, the latest first, and --json the history itself", async () => {
  serve(two);
  const { code, stdout } = await history("--service", `${url}/`);
  expect([code, stdout]).toEqual([
    0,
    [
      "✓ 2 keys of attestd.example",
      `  ledger   ${two.ledger}`,
      `  current  ${successor.kid}`,
      "           from round 20 on",
      `  revoked  ${attestor.kid}`,
      "           rounds 10 to 19, withdrawn from round 15 on",
      "  not compared with the ledger (--indexer URL)",
      "",
    ].join("\n"),
  ]);
  expect(JSON.parse((await history("--service", url, "--json")).stdout)).toEqual(two);
});

test("keys history --save replaces an earlier copy only by a history that continues it", async () => {
  serve(one);
  expect((await history("--service", url, "--save", "keys.json")).stdout).toContain("  saved keys.json\n");
  serve(two);
  expect((await history("--service", url, "--save", "keys.json")).stdout).toContain(
    "  continues the earlier copy, saved",
  );
  serve(one);
  const before = (await stat(path("keys.json"))).mtimeMs;
  expect(await history("--service", url, "--save", "keys.json")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /is refused\n {2}It does not continue .*\n {2}\/keys\/0\/revokedRound: the key was revoked/,
    ),
  });
  expect(JSON.parse(await readFile(path("keys.json"), "utf8"))).toEqual(two);
  expect((await stat(path("keys.json"))).mtimeMs).toBe(before);
});

test("keys history --indexer asks page by page for the account's key notes on this ledger", async () => {
  const unrevoked = testHistory([
    { attestor, fromRound: 10 },
    { attestor: successor, fromRound: 20 },
  ]);
  await writeFile(path("unrevoked.json"), JSON.stringify(unrevoked));
  const [, entry] = unrevoked.keys;
  const note = encodeNote({ g: unrevoked.ledger, k: entry ? keyEntryHash(entry) : "" });
  const sent = { id: "NOTE", sender: attestor.algorandAddress, "tx-type": "pay", note: toBase64(utf8(note)) };
  const mainnet = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
  const pages = [
    [{ ...sent, "confirmed-round": 18, "genesis-hash": toBase64(new Uint8Array(32)) }],
    [{ ...sent, "confirmed-round": 19, "genesis-hash": mainnet }],
    [],
  ];
  const asked: URLSearchParams[] = [];
  answer = (request, response) => {
    asked.push(new URL(request.url ?? "", url).searchParams);
    response.end(JSON.stringify({ transactions: pages[asked.length - 1], "next-token": String(asked.length) }));
  };
  expect(await history("--keys", "unrevoked.json", "--indexer", url)).toMatchObject({ code: 0 });
  expect(asked.map((query) => query.get("next"))).toEqual([null, "1", "2"]);
  expect(Object.fromEntries(asked[0] ?? [])).toEqual({
    address: attestor.algorandAddress,
    "address-role": "sender",
    "tx-type": "pay",
    "note-prefix": Buffer.from(note.slice(0, note.indexOf('"k":"') + 5)).toString("base64"),
  });
});

test("keys history --indexer filters by itself where the indexer has its default settings", async () => {
  const unrevoked = testHistory([
    { attestor, fromRound: 10 },
    { attestor: successor, fromRound: 20 },
  ]);
  await writeFile(path("unrevoked.json"), JSON.stringify(unrevoked));
  const [, entry] = unrevoked.keys;
  const note = utf8(encodeNote({ g: unrevoked.ledger, k: entry ? keyEntryHash(entry) : "" }));
  const mainnet = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
  const at = { "confirmed-round": 19, "genesis-hash": mainnet };
  const sent = { id: "NOTE", sender: attestor.algorandAddress, "tx-type": "pay", note: toBase64(note), ...at };
  const others = [
    { ...sent, sender: successor.kid },
    { ...sent, "tx-type": "appl" },
    { ...sent, note: toBase64(utf8("an attestation")) },
    { ...sent, note: undefined },
  ];
  const asked: URLSearchParams[] = [];
  let allowsNothing = false;
  /** The words of indexer 3.9.0 (api/disabled_parameters.go). */
  const refuse = (response: ServerResponse, name: string) =>
    response.writeHead(400).end(JSON.stringify({ message: `provided disabled parameter: ${name}` }));
  answer = (request, response) => {
    const query = new URL(request.url ?? "", url).searchParams;
    asked.push(query);
    const disabled = ["address-role", "tx-type", "note-prefix"].find((name) => query.has(name));
    if (disabled || allowsNothing) refuse(response, disabled ?? "address");
    else if (query.has("next")) response.end(JSON.stringify({ transactions: [sent] }));
    else response.end(JSON.stringify({ transactions: others, "next-token": "1" }));
  };
  expect(await history("--keys", "unrevoked.json", "--indexer", url)).toMatchObject({ code: 0 });
  const all = { address: attestor.algorandAddress, limit: "1000" };
  expect(asked.slice(1).map((query) => Object.fromEntries(query))).toEqual([all, { ...all, next: "1" }]);

  allowsNothing = true;
  expect(await history("--keys", "unrevoked.json", "--indexer", url)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("refuses to list an account"),
  });
  answer = (_request, response) => response.writeHead(500).end('{"message":"error while searching\\u001b[2J"}');
  expect(await history("--keys", "unrevoked.json", "--indexer", url)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("answered 500: error while searching [2J."),
  });
});

test("keys history --indexer --save refuses the history of an attacker who has only the seed", async () => {
  const { history: forged, notes } = testTakeover();
  const mainnet = "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=";
  const listed = notes.map(({ txid: id, sender, round, note }) => {
    return {
      id,
      sender,
      "tx-type": "pay",
      note: Buffer.from(note).toString("base64"),
      "confirmed-round": round,
      "genesis-hash": mainnet,
    };
  });
  answer = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const sent = searchParams.has("next") ? [] : listed.filter(({ sender }) => sender === searchParams.get("address"));
    response.end(JSON.stringify(pathname === "/v2/transactions" ? { transactions: sent } : forged));
  };
  await writeFile(path("honest.json"), JSON.stringify(testHistory()));
  for (const from of [
    ["--service", url, "--save", "honest.json"],
    ["--service", url, "--save", "new.json"],
  ]) {
    const { code, stdout, stderr } = await history(...from, "--indexer", url);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("/keys/1/algorandAddress: is not the first key's account");
  }
  expect(JSON.parse(await readFile(path("honest.json"), "utf8"))).toEqual(testHistory());
  await expect(stat(path("new.json"))).rejects.toThrow("ENOENT");
});

test("keys history sends an indexer its token, from a file or from the settings, and never prints it", async () => {
  const seen: (string | undefined)[] = [];
  answer = ({ headers }, response) => {
    const { "x-indexer-api-token": token } = headers;
    seen.push(String(token));
    response.writeHead(token === "SECRET" ? 200 : 401).end('{"transactions":[]}');
  };
  await writeFile(path("one.json"), JSON.stringify(one));
  await writeFile(path("token"), "SECRET\n");
  await writeFile(path("not-a-token"), "two words\n");
  const ask = (args: string[]) => attestd(["keys", "history", "--keys", "one.json", ...args], { cwd: folder.path });
  expect((await ask(["--indexer", url, "--indexer-token-file", "token"])).code).toBe(0);

  const settings = offlineSettings(`sqlite:${path("journal.sqlite")}`);
  await beginJournal(settings);
  const env = { TOKEN_0: "OTHER", TOKEN_1: "SECRET" };
  const by = (...urls: string[]) => {
    const indexer = urls.map((at, n) => ({ url: at, token: `env:TOKEN_${n}` }));
    const file = settingsFileOf(withOver(settings, { chains: { algorand: { indexer } } }).tables);
    return attestd(["keys", "history", "--settings", file, "--indexer", url], { cwd: folder.path, env });
  };
  expect((await by("https://indexer.example", `${url}/`)).code).toBe(0);
  // Another indexer's token is not sent to this one.
  const refused = await by("https://a.example", "https://b.example");
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("answered 401: it needs a token.") });
  expect(seen).toEqual(["SECRET", "SECRET", "undefined"]);

  for (const [args, words] of [
    [["--indexer-token-file", "token"], "--indexer-token-file is for --indexer"],
    [["--indexer", url, "--indexer-token-file", "none"], "can't read none"],
    [["--indexer", url, "--indexer-token-file", "not-a-token"], "not-a-token has no token"],
    [["--indexer", "https://me:SECRET@indexer.example"], "without a password"],
  ] as const) {
    const { code, stderr } = await ask([...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toMatch(/SECRET|two words/);
  }
});

test.each<[string, () => void, string[], number, string]>([
  ["no source", () => serve(one), [], 2, "whose key history?"],
  ["a service that answers 500", () => serve("", 500), ["--service"], 4, "answered 500"],
  ["an answer that is not JSON", () => serve("<html>"), ["--service"], 3, "is not a key history"],
  ["an answer that is not a history", () => serve({ keys: [] }), ["--service"], 1, "is refused\n  /version: missing."],
  [
    "an answer that is not an indexer's",
    () => serve("{}"),
    ["--keys", "one.json", "--indexer"],
    4,
    "couldn't ask the ledger",
  ],
  [
    "a folder that does not exist",
    () => serve(one),
    ["--save", "no/folder.json", "--service"],
    2,
    "can't write no/folder",
  ],
  ["a file that does not exist", () => serve(""), ["--keys", "none.json"], 3, "There is no such file."],
])("keys history fails with %s", async (_, given, args, code, words) => {
  given();
  await writeFile(path("one.json"), JSON.stringify(one));
  const named = args.at(-1)?.startsWith("--") ? [...args, url] : args;
  expect(await history(...named)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(words) });
});
