import { once } from "node:events";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import algosdk from "algosdk";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { attestd, attestdProcess } from "../../../test/helpers/command.ts";
import { recordedAmsterdamBlock } from "../../proof/test/recorded.ts";
import type { Settings } from "../src/operator/settings.ts";
import { sandboxFolder } from "../src/trust/sandbox-folder.ts";
import { type ExaminedDeployment, jsonAnswer, rpcAnswer, startExaminedDeployment } from "./examined-deployment.ts";

type Line = { subject: string; mark: string; message: string };

let deployment: ExaminedDeployment;
let settings: Settings;
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

/**
 * Examines with some settings replaced, `undefined` for none.
 *
 * @param run in a process of its own, where what it learns of the clock must not reach the service in this one
 */
async function examine(over: Settings = {}, run: typeof attestdProcess = attestd) {
  const all = { ...settings, ...over };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const file = here("changed.env");
  await writeFile(file, lines.map(([name, value]) => `${name}="${value}"\n`).join(""), { mode: 0o600 });
  const { code, stdout, stderr } = await run(["doctor", "--sandbox", "--env", file, "--json"]);
  expect(stderr).toBe("");
  for (const secret of secrets(all)) expect(stdout).not.toContain(secret);
  const found = stdout
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  return { code, bad: found.filter(({ mark }) => mark !== "ok").map(({ mark, message }) => `${mark} ${message}`) };
}

function secrets(set: Settings): string[] {
  return Object.entries(set).flatMap(([name, value]) =>
    value && /MNEMONIC$|SEED$|_SECRET$|TOKEN$/.test(name) ? value.split(",").filter((part) => part.length > 4) : [],
  );
}

describe("attestd doctor", () => {
  test("finds everything good in a running sandbox, changes nothing and spends nothing", async () => {
    const data = here("data");
    const before = await readdir(data);
    deployment.requests.length = 0;
    const { settings: file } = sandboxFolder(deployment.path);
    const { code, stdout, stderr } = await attestd(["doctor", "--sandbox", "--env", file]);
    expect(stdout).not.toMatch(/[⚠✕]/);
    expect([code, stderr]).toEqual([0, ""]);
    const headings = stdout.split("\n").filter((line) => /^[a-z]+$/.test(line));
    expect(headings).toEqual(
      "settings signer journal algod indexer attestor base solana payees facilitators clock address".split(" "),
    );
    expect(stdout).toMatch(/\n\d+ good\n$/);
    for (const secret of secrets(settings)) expect(stdout).not.toContain(secret);
    expect(await readdir(data)).toEqual(before);
    expect(deployment.requests.filter((one) => /settle|POST \/v2\/transactions$/.test(one))).toEqual([]);
  });

  test("fails with 2 for settings that cannot be read, and warns of files that others can read", async () => {
    expect(await attestd(["doctor", "--env", here("none.env")])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("none.env"),
    });
    const seed = here("seed");
    await writeFile(seed, String(settings.ATTESTOR_PQ_SEED));
    await chmod(seed, 0o644);
    const over: Settings = { ATTESTOR_PQ_SEED: undefined, ATTESTOR_PQ_SEED_FILE: seed };
    const { code, bad } = await examine(over);
    expect([code, bad]).toEqual([
      0,
      [`warning ATTESTOR_PQ_SEED_FILE: ${seed} has mode 0644, and others can read it. Run: chmod 600 ${seed}`],
    ]);
  });

  test("warns of lines of the file that are left out, twice there, or replaced by the environment", async () => {
    const file = here("careless.env");
    const lines = Object.entries({ ...settings, RATE_LIMIT: "9" }).map(([name, value]) => `${name}="${value}"`);
    const before = lines.length;
    await writeFile(file, `${[...lines, "# a comment", "TRUST_PROXY 1", "RATE_LIMIT=10"].join("\n")}\n`, {
      mode: 0o600,
    });
    const env = { RATE_LIMIT: "11" };
    const { stdout } = await attestd(["doctor", "--sandbox", "--env", file], { env });
    expect(stdout.split("\n").filter((line) => /[⚠✕]/.test(line))).toEqual([
      `  ⚠ ${file}, line ${before + 2}, is not NAME=value, and is ignored.`,
      `  ⚠ ${file}, line ${before + 3}: RATE_LIMIT is there already in line ${before}. The last one counts.`,
      `  ⚠ RATE_LIMIT of the environment replaces the one in ${file}.`,
    ]);
  });

  test("finds a port that another program has, and every fault of the settings at once", async () => {
    await using other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const taken = await examine({ PORT: String(port), PUBLIC_URL: undefined });
    expect(taken.bad).toEqual([
      `fail HOST, PORT: 127.0.0.1:${port} is in use by another program. Stop that, or choose another PORT.`,
    ]);
    const { code, bad } = await examine({ PORT: "x", PAY_TO_BASE: "0x1", LOG_LEVEL: "loud", ALGOD_URL: undefined });
    expect([code, bad.map((line) => line.split(" ").slice(0, 2).join(" "))]).toEqual([
      1,
      ["fail PORT", "fail ALGOD_URL", "fail LOG_LEVEL", "fail PAY_TO_BASE", "warning Nothing"],
    ]);
  });

  test("takes a facilitator that names Algorand by the whole genesis hash, as the rail does that sells by it", async () => {
    const network = `algorand:${deployment.sandbox.genesisHash}`;
    const over = meddle("facilitator", jsonAnswer(200, { kinds: [{ x402Version: 2, scheme: "exact", network }] }));
    const { bad } = await examine(over ?? {});
    expect(bad.filter((line) => line.includes(" FACILITATOR_URL"))).toEqual([]);
  });

  test.each<[what: string, over: Settings | (() => Settings | undefined), line: string | RegExp]>([
    [
      "a misspelt setting",
      { BASE_FACILITATR_URL: "https://f.example" },
      "fail BASE_FACILITATR_URL is not a setting of attestd. Did you mean BASE_FACILITATOR_URL?",
    ],
    [
      "a payee with a wrong checksum",
      { PAY_TO_ALGORAND: `B${"A".repeat(57)}` },
      "fail PAY_TO_ALGORAND has a wrong checksum: copy the address again.",
    ],
    [
      "a payee who has not opted in",
      { PAY_TO_ALGORAND: String(nobody.addr) },
      /^fail PAY_TO_ALGORAND has not opted in to USDC \(asset 31566704\)\. Nothing can be paid to /,
    ],
    [
      "a payee without a token account",
      { PAY_TO_SOLANA: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4" },
      /^fail PAY_TO_SOLANA has no USDC account/,
    ],
    [
      "a payee that is the token",
      { PAY_TO_BASE: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
      /^fail PAY_TO_BASE is the token's own contract\./,
    ],
    [
      "an account without ALGO",
      { ATTESTOR_MNEMONIC: algosdk.secretKeyToMnemonic(nobody.sk), DATABASE_URL: "sqlite:/tmp/none.db" },
      /^fail ATTESTOR_SIGNER: the account \w{58} can pay for 0 attestations\. Send it ALGO/,
    ],
    [
      "a node that is away",
      { ALGOD_URL: "http://127.0.0.1:1" },
      "fail ALGOD_URL: 127.0.0.1:1 could not be read: ECONNREFUSED. Check that it runs, and that a firewall lets us through.",
    ],
    [
      "a wrong token",
      () => meddle("algod", jsonAnswer(401, { message: "Invalid API Token" })),
      /^fail ALGOD_URL: .* answered HTTP 401: Invalid API Token\. Check ALGOD_TOKEN: the host refuses us\.$/,
    ],
    [
      "a URL that is not algod's",
      () => ({ ALGOD_URL: deployment.sandbox.solanaRpcUrl }),
      /^fail ALGOD_URL: .* answered HTTP 40\d.*\. Check/,
    ],
    [
      "a node of another ledger",
      { ALGORAND_GENESIS_HASH: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
      /^fail ALGOD_URL: .* is on the network of genesis .*\. Name a node of the right network\.$/,
    ],
    [
      "a node that catches up",
      () => behave({ catchup: "blocks" }),
      /^fail ALGOD_URL: .* is catching up with the network, at round \d+\. Wait until it has\.$/,
    ],
    [
      "a follower",
      () => behave({ follower: true }),
      /^fail ALGOD_URL: .* is a follower, which submits nothing\. Name a node in normal mode\.$/,
    ],
    [
      "a congested pool",
      () => behave({ feePerByte: 5 }),
      /^warning ALGOD_URL: .* is congested: it asks for 5 microAlgos a byte\./,
    ],
    [
      "a node that keeps few blocks",
      () => behave({ keptRounds: 5 }),
      /^warning ALGOD_URL: .* keeps no block of round 1: .* Name an archival node too/,
    ],
    [
      "an indexer that lags",
      () => behave({ indexerBehind: 20 }),
      /^fail INDEXER_URL: .* is (1\d|2\d) rounds behind algod: .* Wait until it has caught up, or repair it\.$/,
    ],
    ["an indexer that is away", () => behave({ indexerAway: true }), /^fail INDEXER_URL: .* answered HTTP 502\.$/],
    [
      "a node of another chain",
      () => meddle("base", rpcAnswer("eth_chainId", { result: "0x1" })),
      /^fail BASE_RPC_URL: .* is on chain 1, not 8453\. Name a node of the right network\.$/,
    ],
    [
      "a node that refuses logs of so many blocks",
      () => meddle("base", rpcAnswer("eth_getLogs", { error: { code: -32600, message: "up to a 10 block range" } })),
      /^warning BASE_RPC_URL: .* refuses logs of \d+ blocks \(up to a 10 block range\)\. Set BASE_LOG_SPAN/,
    ],
    [
      "a node of a fork that is newer than attestd",
      () => {
        const timestamp = `0x${Math.floor(Date.now() / 1000).toString(16)}`;
        const result = { ...recordedAmsterdamBlock.block, timestamp, rootOfAFork: "0x00" };
        return meddle("base", rpcAnswer("eth_getBlockByNumber", { result }));
      },
      /^fail BASE_RPC_URL: .* gave a header of block 1 that .*unknown fields: rootOfAFork\. If Base has forked, update/,
    ],
    [
      "another cluster",
      () => meddle("solana", rpcAnswer("getGenesisHash", { result: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" })),
      /^fail SOLANA_RPC_URL: .* is of the cluster of genesis EtWTRABZ/,
    ],
    [
      "a node that is behind its cluster",
      () =>
        meddle("solana", rpcAnswer("getHealth", { error: { code: -32005, message: "Node is behind by 42 slots" } })),
      /^fail SOLANA_RPC_URL: .* refused getHealth: Node is behind by 42 slots/,
    ],
    [
      "a facilitator that settles something else",
      () =>
        meddle("facilitator", jsonAnswer(200, { kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:1" }] })),
      /^fail FACILITATOR_URL: .* does not settle algorand:\S+, but eip155:1\. Name one that does\.$/,
    ],
    [
      "a facilitator that wants credentials",
      () => meddle("facilitator", jsonAnswer(401, { error: "unauthorized" })),
      /^fail FACILITATOR_URL: \/supported: .* answered HTTP 401.*\. Set FACILITATOR_KIND, KEY_ID and SECRET\.$/,
    ],
    [
      "a facilitator that does not know the key",
      { BASE_FACILITATOR_KEY_ID: "another" },
      /^fail BASE_FACILITATOR_URL: \/\w+: .* answered HTTP 401.*\. Check BASE_FACILITATOR_KEY_ID, SECRET and this host's clock/,
    ],
    [
      "an account that is used up",
      () =>
        meddle("facilitator", {
          answer: (incoming, outgoing) =>
            incoming.url === "/verify" && Boolean(outgoing.writeHead(403).end('{"error":"free_tier_exhausted"}')),
        }),
      /^fail FACILITATOR_URL: \/verify: .* answered HTTP 403: .*free_tier_exhausted.*\. Check the account/,
    ],
    [
      "a journal of another ledger's attestor",
      { ATTESTOR_MNEMONIC: algosdk.secretKeyToMnemonic(nobody.sk) },
      /^fail DATABASE_URL holds the journal of another attestor, \w{58}\. Name the journal/,
    ],
    [
      "a seed that is not the journal's",
      { ATTESTOR_PQ_SEED: "ab".repeat(32) },
      /^fail The attestor's key is .* \(ATTESTOR_SIGNER\), .* "attestd keys restore"; if not, choose the signer, or the seed, of this journal\.$/,
    ],
    [
      "no journal",
      () => ({ DATABASE_URL: `sqlite:${here("new.db")}` }),
      /^warning DATABASE_URL: there is no journal in .*\/new\.db yet\. The first start begins it\. If you have sold before/,
    ],
    [
      "a folder that is not there",
      { DATABASE_URL: "sqlite:/no/such/folder/j.db" },
      "fail DATABASE_URL: there is no folder /no/such. Make it for the service's user.",
    ],
    [
      "a database that is away",
      { DATABASE_URL: "postgres://me:hunter2hunter2@127.0.0.1:1/attestd" },
      /^fail DATABASE_URL: PostgreSQL 127\.0\.0\.1:1\/attestd: .*ECONNREFUSED/,
    ],
    [
      "too little room",
      { DISK_RESERVE_MIB: "1000000000" },
      /^fail DISK_RESERVE_MIB: \d+ MiB are free for the journal, less than the 1000000000 of the reserve\./,
    ],
    [
      "a public URL of another attestor",
      () => meddle("service", jsonAnswer(200, { keys: [{ kid: "theirs" }] })),
      /^fail PUBLIC_URL: .* leads to another attestor, with the key theirs\.$/,
    ],
    [
      "a public URL that leads nowhere",
      { PUBLIC_URL: "http://127.0.0.1:1" },
      /^fail PUBLIC_URL: http:\/\/127\.0\.0\.1:1 could not be read: ECONNREFUSED\. Check DNS, the firewall and the proxy\.$/,
    ],
    [
      "a proxy that removes headers",
      () => meddle("service", { response: (headers) => Reflect.deleteProperty(headers, "payment-required") }),
      "fail PUBLIC_URL: the proxy removes the header PAYMENT-REQUIRED. Let it pass all headers.",
    ],
    [
      "a proxy that refuses long headers",
      () =>
        meddle("service", {
          answer: ({ headers }, outgoing) =>
            JSON.stringify(headers).length > 8_192 && Boolean(outgoing.writeHead(431).end()),
        }),
      /^fail PUBLIC_URL: with a payment of 12 KB the proxy answers HTTP 431\. Let it pass headers of 16 KB/,
    ],
    [
      "a proxy that changes Host",
      () => meddle("service", { request: (headers) => Object.assign(headers, { host: "attestd.internal" }) }),
      /^fail PUBLIC_URL: .*\/mcp refuses its own name\. Let the proxy pass Host unchanged\.$/,
    ],
    [
      "a variable that is no setting",
      { NODE_OPTIONZ: "x" },
      /^warning NODE_OPTIONZ is in .*, and is not a setting of attestd\. Remove it\.$/,
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
  const file = here("costs.env");
  const changed = { ...settings, PRICE_MICRO_USDC_BASE: "2500" };
  await writeFile(
    file,
    Object.entries(changed)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(""),
    { mode: 0o600 },
  );
  const args = ["costs", "--sandbox", "--env", file, "--algo-price", "0.2"];
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
    const { code, stderr } = await attestd(["costs", "--sandbox", "--env", file, ...given]);
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
