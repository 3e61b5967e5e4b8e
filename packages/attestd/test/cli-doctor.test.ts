import { once } from "node:events";
import { chmod, copyFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import algosdk from "algosdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { attestd, attestdProcess } from "../../../test/helpers/command.ts";
import { leaksIn, secretsOf } from "../../../test/helpers/secrets.ts";
import { recordedAmsterdamBlock } from "../../proof/test/recorded.ts";
import { merged, secret, settingsFileOf, settingsOf, type Table } from "../../service/test/settings.ts";
import { sandboxFolder } from "../src/trust/sandbox-folder.ts";
import { type ExaminedDeployment, jsonAnswer, rpcAnswer, startExaminedDeployment } from "./examined-deployment.ts";

type Line = { subject: string; mark: string; message: string };

let deployment: ExaminedDeployment;
let settings: Table;
beforeAll(async () => {
  deployment = await startExaminedDeployment();
  ({ settings } = deployment);
}, 60_000);
afterEach(() => deployment.reset());
afterAll(() => deployment?.[Symbol.asyncDispose]());

const here = (name: string) => join(deployment.path, name);
const meddle: ExaminedDeployment["meddle"] = (...args) => deployment.meddle(...args);
const behave: ExaminedDeployment["behave"] = (...args) => deployment.behave(...args);
const nobody = algosdk.generateAccount();
const NOBODYS = secret(algosdk.secretKeyToMnemonic(nobody.sk));

/**
 * Examines with some settings replaced, `undefined` for none.
 *
 * @param run in a process of its own, where what it learns of the clock must not reach the service in this one
 */
async function examine(over: Table = {}, run: typeof attestdProcess = attestd) {
  const all = merged(settings, over);
  const file = settingsFileOf(all);
  const { code, stdout, stderr } = await run(["doctor", "--sandbox", "--settings", file, "--json"]);
  expect(stderr).toBe("");
  expect(leaksIn(stdout, secretsOf(settingsOf(all)))).toEqual([]);
  const found = stdout
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  return { code, bad: found.filter(({ mark }) => mark !== "ok").map(({ mark, message }) => `${mark} ${message}`) };
}

describe("attestd doctor", () => {
  test("finds everything good in a running sandbox, changes nothing and spends nothing", async () => {
    const data = here("data");
    const before = await readdir(data);
    deployment.requests.length = 0;
    const { settings: file } = sandboxFolder(deployment.path);
    const { code, stdout, stderr } = await attestd(["doctor", "--sandbox", "--settings", file]);
    expect(stdout).not.toMatch(/[⚠✕]/);
    expect([code, stderr]).toEqual([0, ""]);
    const headings = stdout.split("\n").filter((line) => /^[a-z]+$/.test(line));
    expect(headings).toEqual(
      "settings signer journal algod indexer attestor base solana payees facilitators clock address".split(" "),
    );
    expect(stdout).toMatch(/\n\d+ good\n$/);
    expect(leaksIn(stdout, secretsOf(settingsOf(settings)))).toEqual([]);
    expect(await readdir(data)).toEqual(before);
    expect(deployment.requests.filter((one) => /settle|POST \/v2\/transactions$/.test(one))).toEqual([]);
  });

  test("fails with 2 for settings that cannot be read, and warns of files that others can read", async () => {
    expect(await attestd(["doctor", "--settings", here("none.toml")])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("none.toml"),
    });
    const seed = here("seed");
    await copyFile(here("data/attestor.pq-seed"), seed);
    await chmod(seed, 0o644);
    const { code, bad } = await examine({ attestor: { pq_seed: `file:${seed}` } });
    expect([code, bad]).toEqual([
      0,
      [`warning attestor.pq_seed: ${seed} has mode 0644, and others can read it. Run: chmod 600 ${seed}`],
    ]);
  });

  test("finds a port that another program has, and every fault of the settings at once", async () => {
    await using other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const taken = await examine({ port, public_url: undefined });
    expect(taken.bad).toEqual([
      `fail host, port: 127.0.0.1:${port} is in use by another program. Stop that, or choose another port.`,
    ]);
    const { code, bad } = await examine({
      port: "x",
      rails: { base: { pay_to: "0x1" } },
      log_level: "loud",
      chains: { algorand: { algod: undefined } },
    });
    expect([code, bad.map((line) => line.split(" ").slice(0, 2).join(" "))]).toEqual([
      1,
      ["fail port", "fail log_level", "fail chains.algorand.algod", "fail rails.base.pay_to", "warning Nothing"],
    ]);
  });

  test("takes a facilitator that names Algorand by the whole genesis hash, as the rail does that sells by it", async () => {
    const network = `algorand:${deployment.sandbox.genesisHash}`;
    const over = meddle("facilitator", jsonAnswer(200, { kinds: [{ x402Version: 2, scheme: "exact", network }] }));
    const { bad } = await examine(over ?? {});
    expect(bad.filter((line) => line.includes(" facilitators: "))).toEqual([]);
  });

  test.each<[what: string, over: Table | (() => Table | undefined), line: string | RegExp]>([
    [
      "a misspelt setting",
      { facilitaters: [{ url: "https://f.example" }] },
      "fail facilitaters is not a setting of attestd. Did you mean facilitators?",
    ],
    [
      "a payee with a wrong checksum",
      { rails: { algorand: { pay_to: `B${"A".repeat(57)}` } } },
      "fail rails.algorand.pay_to has a wrong checksum: copy the address again.",
    ],
    [
      "a payee who has not opted in",
      { rails: { algorand: { pay_to: String(nobody.addr) } } },
      /^fail rails.algorand.pay_to has not opted in to USDC \(asset 31566704\)\. Nothing can be paid to /,
    ],
    [
      "a payee without a token account",
      { rails: { solana: { pay_to: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4" } } },
      /^fail rails.solana.pay_to has no USDC account/,
    ],
    [
      "a payee that is the token",
      { rails: { base: { pay_to: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" } } },
      /^fail rails.base.pay_to is the token's own contract\./,
    ],
    [
      "an account without ALGO",
      { attestor: { mnemonic: NOBODYS }, journal: { url: "sqlite:/tmp/none.db" } },
      /^fail attestor.signer: the account \w{58} can pay for 0 attestations\. Send it ALGO/,
    ],
    [
      "a node that is away",
      { chains: { algorand: { algod: ["http://127.0.0.1:1"] } } },
      "fail chains.algorand.algod: 127.0.0.1:1 could not be read: ECONNREFUSED. Check that it runs, and that a firewall lets us through.",
    ],
    [
      "a wrong token",
      () => meddle("algod", jsonAnswer(401, { message: "Invalid API Token" })),
      /^fail chains.algorand.algod: .* answered HTTP 401: Invalid API Token\. Check its token: the host refuses us\.$/,
    ],
    [
      "a URL that is not algod's",
      () => ({ chains: { algorand: { algod: [deployment.sandbox.solanaRpcUrl] } } }),
      /^fail chains.algorand.algod: .* answered HTTP 40\d.*\. Check/,
    ],
    [
      "a node of another ledger",
      { chains: { algorand: { genesis_hash: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" } } },
      /^fail chains.algorand.algod: .* is on the network of genesis .*\. Name a node of the right network\.$/,
    ],
    [
      "a node that catches up",
      () => behave({ catchup: "blocks" }),
      /^fail chains.algorand.algod: .* is catching up with the network, at round \d+\. Wait until it has\.$/,
    ],
    [
      "a follower",
      () => behave({ follower: true }),
      /^fail chains.algorand.algod: .* is a follower, which submits nothing\. Name a node in normal mode\.$/,
    ],
    [
      "a congested pool",
      () => behave({ feePerByte: 5 }),
      /^warning chains.algorand.algod: .* is congested: it asks for 5 microAlgos a byte\./,
    ],
    [
      "a node that keeps few blocks",
      () => behave({ keptRounds: 5 }),
      /^warning chains.algorand.algod: .* keeps no block of round 1: .* Name an archival node too/,
    ],
    [
      "an indexer that lags",
      () => behave({ indexerBehind: 20 }),
      /^fail chains.algorand.indexer: .* is (1\d|2\d) rounds behind algod: .* Wait until it has caught up, or repair it\.$/,
    ],
    [
      "an indexer that is away",
      () => behave({ indexerAway: true }),
      /^fail chains.algorand.indexer: .* answered HTTP 502\.$/,
    ],
    [
      "a node of another chain",
      () => meddle("base", rpcAnswer("eth_chainId", { result: "0x1" })),
      /^fail chains.base.rpc: .* is on chain 1, not 8453\. Name a node of the right network\.$/,
    ],
    [
      "a node that refuses logs of so many blocks",
      () => meddle("base", rpcAnswer("eth_getLogs", { error: { code: -32600, message: "up to a 10 block range" } })),
      /^warning chains.base.rpc: .* refuses logs of \d+ blocks \(up to a 10 block range\)\. Set chains.base.log_span/,
    ],
    [
      "a node of a fork that is newer than attestd",
      () => {
        const timestamp = `0x${Math.floor(Date.now() / 1000).toString(16)}`;
        const result = { ...recordedAmsterdamBlock.block, timestamp, rootOfAFork: "0x00" };
        return meddle("base", rpcAnswer("eth_getBlockByNumber", { result }));
      },
      /^fail chains.base.rpc: .* gave a header of block 1 that .*unknown fields: rootOfAFork\. If Base has forked, update/,
    ],
    [
      "another cluster",
      () => meddle("solana", rpcAnswer("getGenesisHash", { result: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" })),
      /^fail chains.solana.rpc: .* is of the cluster of genesis EtWTRABZ/,
    ],
    [
      "a node that is behind its cluster",
      () =>
        meddle("solana", rpcAnswer("getHealth", { error: { code: -32005, message: "Node is behind by 42 slots" } })),
      /^fail chains.solana.rpc: .* refused getHealth: Node is behind by 42 slots/,
    ],
    [
      "a facilitator that settles something else",
      () =>
        meddle("facilitator", jsonAnswer(200, { kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:1" }] })),
      /^fail facilitators: .* does not settle algorand:\S+, but eip155:1\. Name one that does\.$/,
    ],
    [
      "a facilitator that wants credentials",
      () => meddle("facilitator", jsonAnswer(401, { error: "unauthorized" })),
      /^fail facilitators: \S+: \/supported: .* answered HTTP 401.*\. Set its kind, key_id and secret\.$/,
    ],
    [
      "a facilitator that does not know the key",
      () => {
        const [first, second] = settings.facilitators as [Table, Table];
        return { facilitators: [first, { ...second, key_id: "another" }] };
      },
      /^fail facilitators: \S+: \/\w+: .* answered HTTP 401.*\. Check its key_id, secret and this host's clock/,
    ],
    [
      "an account that is used up",
      () =>
        meddle("facilitator", {
          answer: (incoming, outgoing) =>
            incoming.url === "/verify" && Boolean(outgoing.writeHead(403).end('{"error":"free_tier_exhausted"}')),
        }),
      /^fail facilitators: \S+: \/verify: .* answered HTTP 403: .*free_tier_exhausted.*\. Check the account/,
    ],
    [
      "a journal of another ledger's attestor",
      { attestor: { mnemonic: NOBODYS } },
      /^fail journal.url holds the journal of another attestor, \w{58}\. Name the journal/,
    ],
    [
      "a seed that is not the journal's",
      { attestor: { pq_seed: secret("ab".repeat(32)) } },
      /^fail The attestor's key is .* \(attestor\.signer\), .* "attestd keys restore"; if not, choose the signer, or the seed, of this journal\.$/,
    ],
    [
      "no journal",
      () => ({ journal: { url: `sqlite:${here("new.db")}` } }),
      /^warning journal.url: there is no journal in .*\/new\.db yet\. The first start begins it\. If you have sold before/,
    ],
    [
      "a folder that is not there",
      { journal: { url: "sqlite:/no/such/folder/j.db" } },
      "fail journal.url: there is no folder /no/such. Make it for the service's user.",
    ],
    [
      "a database that is away",
      { journal: { url: secret("postgres://me:hunter2hunter2@127.0.0.1:1/attestd") } },
      /^fail journal.url: PostgreSQL 127\.0\.0\.1:1\/attestd: .*ECONNREFUSED/,
    ],
    [
      "too little room",
      { journal: { disk_reserve_mib: 1_000_000_000 } },
      /^fail journal.disk_reserve_mib: \d+ MiB are free for the journal, less than the 1000000000 of the reserve\./,
    ],
    [
      "a public URL of another attestor",
      () => meddle("service", jsonAnswer(200, { keys: [{ kid: "theirs" }] })),
      /^fail public_url: .* leads to another attestor, with the key theirs\.$/,
    ],
    [
      "a public URL that leads nowhere",
      { public_url: "http://127.0.0.1:1" },
      /^fail public_url: http:\/\/127\.0\.0\.1:1 could not be read: ECONNREFUSED\. Check DNS, the firewall and the proxy\.$/,
    ],
    [
      "a proxy that removes headers",
      () => meddle("service", { response: (headers) => Reflect.deleteProperty(headers, "payment-required") }),
      "fail public_url: the proxy removes the header PAYMENT-REQUIRED. Let it pass all headers.",
    ],
    [
      "a proxy that refuses long headers",
      () =>
        meddle("service", {
          answer: ({ headers }, outgoing) =>
            JSON.stringify(headers).length > 8_192 && Boolean(outgoing.writeHead(431).end()),
        }),
      /^fail public_url: with a payment of 12 KB the proxy answers HTTP 431\. Let it pass headers of 16 KB/,
    ],
    [
      "a proxy that changes Host",
      () => meddle("service", { request: (headers) => Object.assign(headers, { host: "attestd.internal" }) }),
      /^fail public_url: .*\/mcp refuses its own name\. Let the proxy pass Host unchanged\.$/,
    ],
  ])("names %s, and what to do", async (_, given, line) => {
    const over = typeof given === "function" ? given() : given;
    const { code, bad } = await examine(over);
    expect(bad).toContainEqual(typeof line === "string" ? line : expect.stringMatching(line));
    expect(code).toBe(bad.some((one) => one.startsWith("fail")) ? 1 : 0);
  });
});

test.each([
  [
    "two hosts of two",
    ["algod", "facilitator"] as const,
    "fail",
    "2 of 2",
    /: payments and tokens .* Set it by NTP\.$/,
  ],
  [
    "one host alone",
    ["algod"] as const,
    "warning",
    "1 of 1",
    /\. Set it by NTP, or find out which of them is wrong\.$/,
  ],
])("a clock that is 90 s ahead by the answers of %s is a finding", async (_, hosts, mark, count, end) => {
  for (const host of hosts)
    meddle(host, {
      response: (headers) => Object.assign(headers, { date: new Date(Date.now() - 90_000).toUTCString() }),
    });
  const { bad } = await examine({}, attestdProcess);
  expect(bad).toEqual([expect.stringMatching(end)]);
  expect(bad[0]).toMatch(new RegExp(`^${mark} The clock of this host is (89|90) s ahead of ${count} others \\(127`));
});

test("attestd costs computes what remains of the prices of the configured service, and for how long its ALGO lasts", async () => {
  const { algodUrl, attestor } = deployment.sandbox;
  const { amount, minBalance } = await new algosdk.Algodv2("", algodUrl).accountInformation(attestor.address).do();
  const file = settingsFileOf(merged(settings, { rails: { base: { price_micro_usdc: 2500 } } }));
  const args = ["costs", "--sandbox", "--settings", file, "--algo-price", "0.2"];
  const { code, stdout } = await attestd([...args, "--settlement", "base=0.001", "solana=0.0015", "--json"]);
  expect(code).toBe(0);
  // By hand: a note of 0.001 ALGO, Algorand's minimum fee, is 0.0002; 0.1 ALGO stay.
  expect(JSON.parse(stdout)).toEqual({
    rails: [
      { rail: "algorand", price: "0.001", remains: "0.0008" },
      { rail: "base", price: "0.0025", settlement: "0.001", remains: "0.0013" },
      { rail: "solana", price: "0.001", settlement: "0.0015", remains: "-0.0007" },
    ],
    note: "0.0002",
    attestations: Number((amount - minBalance - 100_000n) / 1_000n),
  });
  const { stdout: table } = await attestd(args);
  expect(table).toContain("base: 0.0023 USD of 0.0025 USDC remain (settlement 0, as --settlement names none)");

  const refused = async (...given: string[]) => {
    const { code, stderr } = await attestd(["costs", "--sandbox", "--settings", file, ...given]);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await refused()).toContain("required option '--algo-price <usd>' not specified");
  expect(await refused("--algo-price", "0,2")).toContain("'0,2' is invalid. Write an amount of USD");
  expect(await refused("--algo-price", "-1")).toContain("Write an amount of USD");
  expect(await refused("--algo-price", "1", "--settlement", "0.001")).toContain("It names no rail: write base=0.001.");
  expect(await refused("--algo-price", "1", "--settlement", "base=x")).toContain(
    "'base=x' is invalid. Write an amount of USD",
  );
  expect(await refused("--algo-price", "1", "--settlement", "tron=1")).toContain("on which nothing is sold");
});
