import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type KeyHistory, type ProofBundle, parseKeyHistory, parseNote, verify } from "@attestd/proof";
import { keyEntryHash, keyNotePrefix, keyRevocationHash } from "@attestd/proof/attestor";
import { auditJournal } from "@attestd/service/operator";
import algosdk from "algosdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { IndexerSearch } from "../../packages/service/src/providers/indexer-search.ts";
import { type Settings, secret, settingsFileOf, withOver } from "../../packages/service/test/settings.ts";
import { attestd, start } from "../helpers/command.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

/* One attestor's keys over time, on a real ledger: each test continues from the one before. */

const SEED = "11".repeat(32);

let deployment: Deployment;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let settings: Settings;
/** Bought under the first key, and under the second. */
const bundles: ProofBundle[] = [];
let history: KeyHistory;

beforeAll(async () => {
  folder = await temporaryFolder();
  const sandbox = sandboxFolder(join(folder.path, ".attestd"));
  await mkdir(sandbox.data, { recursive: true, mode: 0o700 });
  const over = { journal: { url: `sqlite:${join(sandbox.data, "journal.db")}` }, attestor: { pq_seed: secret(SEED) } };
  deployment = await startDeployment({ networks: [] }, over);
  settings = await sandboxSettings(deployment.sandbox, sandbox, { ...over, log_level: "fatal" });
});
afterAll(async () => {
  await deployment?.close();
  await folder?.[Symbol.asyncDispose]();
});

const path = (name: string) => join(folder.path, name);
const keys = (...args: string[]) => attestd(["keys", ...args], { cwd: folder.path });
/** Runs an operator's command with the seed in a file; the ledger makes the rounds that it waits for at once. */
function operate(seed: string | undefined, ...args: string[]) {
  const own = seed === undefined ? settings : withOver(settings, seedIn(seed));
  settingsFileOf(own.tables, sandboxFolder(path(".attestd")).settings);
  return attestd(["keys", ...args, "--sandbox"], { cwd: folder.path, onError: hasten });
}
function hasten(text: unknown): void {
  const round = Number(WAITING.exec(String(text))?.[1] ?? 0);
  const { ledger } = deployment.sandbox.algorand;
  while (ledger.round < round) ledger.advance();
}
const WAITING = /Waiting for round (\d+)/;
const seedIn = (name: string) => ({ attestor: { pq_seed: `file:${path(name)}` } });
const served = async () =>
  (await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).json()) as KeyHistory;

/** Kids of the JWK Set. */
async function keySet(): Promise<string[]> {
  const { keys } = (await (await fetch(`${deployment.url}/.well-known/jwks.json`)).json()) as {
    keys: { kid: string }[];
  };
  return keys.map(({ kid }) => kid);
}

async function buy(): Promise<ProofBundle> {
  const body = { txid: deployment.sandbox.sampleTransactions.algorand };
  const answer = await pay(
    `${deployment.url}/attest`,
    body,
    await sign(`${deployment.url}/attest`, body, algorandClient(deployment.sandbox)),
  );
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text);
}

async function bought(): Promise<ProofBundle> {
  const bundle = await buy();
  bundles.push(bundle);
  await writeFile(path(`${bundles.length}.json`), JSON.stringify(bundle));
  return bundle;
}

type Report = ReturnType<typeof verify>;

/** The verdicts on every bundle bought so far by the service, the command and the library, which must agree. */
async function verdicts({ chain = false } = {}): Promise<string[]> {
  const files = bundles.map((_, i) => `${i + 1}.json`);
  const online = chain ? ["--chain", "--service", deployment.url] : [];
  const command = await attestd(["verify", ...files, "--keys", "keys.json", "--json", ...online], { cwd: folder.path });
  const byCommand: Report[] = command.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const words = await Promise.all(
    bundles.map(async (bundle, i) => {
      const { status, json } = await post(`${deployment.url}/verify${chain ? "?chain=1" : ""}`, bundle);
      const byService = (status === 200 ? json : json.report) as Report;
      // The library does not ask the chain.
      const byLibrary = chain ? byService : verify(JSON.stringify(bundle), { trust: history });
      const all = [byService, byCommand[i] as Report, byLibrary].map(({ verified, attestor, failures }) =>
        [verified ? "verified" : "refused", attestor.status, ...failures.map(({ check }) => check)].join(" "),
      );
      expect(all).toEqual(all.map(() => all[0]));
      return all[0] ?? "";
    }),
  );
  expect(command.code).toBe(byCommand.every(({ verified }) => verified) ? 0 : 1);
  return words;
}

/** Changes the journal's rows, while no service has it open. */
function edit(statement: string): void {
  const db = new DatabaseSync(join(folder.path, ".attestd/data/journal.db"));
  db.exec(statement);
  db.close();
}

/** Has the attestor's account send a note, without the service. */
async function note(text: string, from?: { address: string; mnemonic: string }): Promise<void> {
  const { algodUrl, attestor } = deployment.sandbox;
  const { address: sender, mnemonic } = from ?? attestor;
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const suggestedParams = await algod.getTransactionParams().do();
  const parties = { sender, receiver: attestor.address, amount: 0 };
  const made = algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    ...parties,
    note: Buffer.from(text),
    suggestedParams,
  });
  const { txid } = await algod.sendRawTransaction(made.signTxn(algosdk.mnemonicToSecretKey(mnemonic).sk)).do();
  await algosdk.waitForConfirmation(algod, txid, 20);
}

/** Key notes on the ledger, oldest first. */
async function keyNotes(): Promise<string[]> {
  const notes = (await outsider(deployment.sandbox).attestations()).map(({ note }) => parseNote(note));
  return notes.flatMap((note) => ("k" in note ? [note.k] : []));
}

describe("keys over time", { timeout: 120_000 }, () => {
  test("a key is not replaced while the service runs, or while a call is attested under it", async () => {
    await bought();
    expect(await operate(undefined, "rotate", "--seed-file", "second.seed")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/not rotated\n.*another process has this journal open\n.*Stop that service first/),
    });
    await deployment.stopService();
    edit("UPDATE calls SET state = 'confirmed', open = TRUE");
    expect(await operate(undefined, "rotate", "--seed-file", "second.seed")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("1 paid call is attested with the current key, and not delivered yet."),
    });
    edit("UPDATE calls SET state = 'done', open = FALSE");
    expect(await keyNotes()).toEqual([]);
  });

  test("the same command finishes a killed rotation, with one note", async () => {
    const rotating = start(["keys", "rotate", "--seed-file", "second.seed", "--sandbox"], { cwd: folder.path });
    rotating.stderr?.on("data", (text) => WAITING.test(String(text)) && rotating.kill("SIGKILL"));
    expect((await rotating.ended).code).toBeNull();
    await expect(deployment.restart()).rejects.toThrow("is being replaced by");

    const { code, stdout } = await operate(undefined, "rotate", "--seed-file", "second.seed");
    expect(code).toBe(0);
    expect(stdout).toContain(`pq_seed = "file:${path("second.seed")}"\n`);
    expect((await stat(path("second.seed"))).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain((await readFile(path("second.seed"), "utf8")).trim());
    expect(await keyNotes()).toHaveLength(1);
  });

  test("the service starts only with the new seed, and serves a history that every verifier accepts", async () => {
    await expect(deployment.restart()).rejects.toThrow(/The attestor's key is .*, which was replaced in round \d+:/);
    await deployment.restart(seedIn("second.seed"));
    await bought();
    history = parseKeyHistory(await served());
    const [first, second] = history.keys;
    expect(await keyNotes()).toEqual([second && keyEntryHash(second)]);
    expect(first?.untilRound).toBe(second?.fromRound);
    expect(await keySet()).toEqual([first?.kid, second?.kid]);

    const { code, stdout } = await keys("history", "--service", deployment.url, "--save", "keys.json");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`current {2}${second?.kid}\n.*retired {2}${first?.kid}\n`, "s"));
    expect(JSON.parse(await readFile(path("keys.json"), "utf8"))).toEqual(history);
  });

  test("the service, the command and the library verify bundles of both keys", async () => {
    expect(await verdicts()).toEqual(["verified retired", "verified current"]);
    expect(await verdicts({ chain: true })).toEqual(["verified retired", "verified current"]);
    const { stdout } = await attestd(["verify", "1.json", "--keys", "keys.json"], { cwd: folder.path });
    expect(stdout).toMatch(
      /Verified, with a warning.*\n.*\n {2}stated as recorded.*\n {2}signed by 127\.0\.0\.1:\d+, key \S+ \(retired\)\n/,
    );
  });

  test("the audit counts no key note as an attestation", async () => {
    const audited = withOver(settings, seedIn("second.seed"));
    expect(await auditJournal(audited, { sandbox: true, signal: AbortSignal.timeout(30_000) })).toMatchObject({
      verdict: "clean",
      counts: { calls: 2, attested: 2, delivered: 2, strangers: 0 },
    });
  });

  test("bundles of a revoked key are rejected, unless the ledger has them before the revocation", async () => {
    await deployment.stopService();
    const [first] = history.keys;
    const round = (bundles[0]?.attest.round ?? 0) + 1;
    const revoke = ["revoke", first?.kid ?? "", "--from", String(round)];
    const { code, stdout } = await operate("second.seed", ...revoke);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`from round  ${round}\n`)]);

    // The audit checks like a verifier, with the ledger and the whole history: also when the journal's row of the revocation
    // has a round before the bundle's.
    const audited = withOver(settings, seedIn("second.seed"));
    const audit = () => auditJournal(audited, { sandbox: true, signal: AbortSignal.timeout(30_000) });
    expect(await audit()).toMatchObject({ verdict: "clean", counts: { delivered: 2 } });
    edit(`UPDATE key_revocations SET revoked_round = ${round - 1}`);
    expect((await audit()).findings.map(({ code }) => code)).toEqual(["bundle_bytes_do_not_verify"]);
    edit(`UPDATE key_revocations SET revoked_round = ${round}`);
    await deployment.restart();
    const saved = await keys(
      "history",
      "--service",
      deployment.url,
      "--save",
      "keys.json",
      "--indexer",
      deployment.sandbox.indexerUrl,
    );
    expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining("continues the earlier copy") });
    history = parseKeyHistory(await served());
    expect(await keyNotes()).toContain(
      history.keys[0] && keyRevocationHash({ ...history.keys[0], revokedRound: round }),
    );

    expect(await keySet()).toEqual([history.keys[1]?.kid]);
    expect(await verdicts()).toEqual(["refused revoked keyTrust", "verified current"]);
    expect(await verdicts({ chain: true })).toEqual(["verified revoked", "verified current"]);
    const { stdout: refusal } = await attestd(["verify", "1.json", "--keys", "keys.json"], { cwd: folder.path });
    expect(refusal).toMatch(
      /Not verified.*\n {2}keyTrust {2}key withdrawn in round \d+; its signature alone can't be believed \(--chain\)\n {2}rests on the key list in keys\.json, written on \d{4}-\d\d-\d\d\n$/,
    );
  });

  test("the service does not start with a revoked current key until the key is replaced", async () => {
    await deployment.stopService();
    const [, second] = history.keys;
    expect((await attestd(["backup", "--sandbox", "--to", "before"], { cwd: folder.path })).code).toBe(0);
    const revoked = await operate("second.seed", "revoke", second?.kid ?? "", "--json");
    expect(revoked).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(revoked.stdout)).toMatchObject({ kid: second?.kid, revokedRound: expect.any(Number) });
    await expect(deployment.restart()).rejects.toThrow(`The current key ${second?.kid} is revoked`);
    expect((await operate("second.seed", "rotate", "--seed-file", "third.seed")).code).toBe(0);
    await deployment.restart(seedIn("third.seed"));
    await bought();
    history = parseKeyHistory(await served());
    expect(await keyNotes()).toHaveLength(4);
    expect((await keys("history", "--service", deployment.url, "--save", "keys.json")).code).toBe(0);
    expect(await verdicts()).toEqual(["refused revoked keyTrust", "refused revoked keyTrust", "verified current"]);
  });

  test("a history with a removed, altered or moved entry, or without a revocation, is rejected with the entry's name", async () => {
    const [first, second, third] = history.keys as [
      KeyHistory["keys"][0],
      KeyHistory["keys"][0],
      KeyHistory["keys"][0],
    ];
    const unrevoked = { ...first };
    delete unrevoked.revokedRound;
    const last = { ...second };
    delete last.untilRound;
    const known = ["--save", "keys.json"];
    const onLedger = ["--indexer", deployment.sandbox.indexerUrl];
    const missing =
      /is refused\n {2}\/keys: the note \S+ in round \d+ announces a key or a revocation that the history lacks/;
    const forgeries: [KeyHistory["keys"], string[], number, RegExp][] = [
      [[first, third], [], 3, /\/keys\/0\/untilRound: is not where the next key begins/],
      [[second, first, third], [], 3, /\/keys\/0\/untilRound: is not where the next key begins/],
      [
        [first, { ...second, origin: "https://other.example" }, third],
        [],
        3,
        /\/keys\/1\/endorsement: was not made by the previous key/,
      ],
      // These are valid histories; an earlier copy, or the ledger, contradicts them.
      [[unrevoked, second, third], known, 1, /\/keys\/0\/revokedRound: the key was revoked/],
      [[first, last], known, 1, /\/keys\/2: the key \S+, known before, is gone/],
      [[unrevoked, second, third], onLedger, 1, missing],
      [[first, last], onLedger, 1, missing],
    ];
    await Promise.all(
      forgeries.map(async ([forged, more, exit, words], i) => {
        await writeFile(path(`bad${i}.json`), JSON.stringify({ ...history, keys: forged }));
        const { code, stderr } = await keys("history", "--keys", `bad${i}.json`, ...more);
        expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
      }),
    );
    expect((await keys("history", "--keys", "keys.json", ...onLedger)).code).toBe(0);
  });

  test("keys restore puts the changes that an older journal lacks back from a saved history, if the ledger has them", async () => {
    await deployment.stopService();
    const third = history.keys[2]?.kid;
    edit(`DELETE FROM key_revocations; DELETE FROM keys WHERE kid = '${third}'`);
    await expect(deployment.restart()).rejects.toThrow(
      new RegExp(`The attestor's key is ${third} \\(attestor.signer\\), but .* with "attestd keys restore"`),
    );
    expect((await operate("third.seed", "restore", "bad3.json")).stderr).toContain("It does not fit the ledger");
    expect((await operate("third.seed", "restore", "keys.json")).code).toBe(0);
    await deployment.restart();
    expect(await served()).toEqual(history);
  });

  /** `/ready`, and the answer to somebody who pays. */
  async function status() {
    const ready = await fetch(`${deployment.url}/ready`);
    const { reasons } = (await ready.json()) as { reasons: string[] };
    const url = `${deployment.url}/attest`;
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const answer = await pay(url, body, await sign(url, body, algorandClient(deployment.sandbox)));
    return { ready: ready.status, reasons, paid: [answer.status, answer.json.code ?? "sold"] };
  }
  const sells = { ready: 200, reasons: [], paid: [200, "sold"] };
  const lacks =
    /^key_history_behind: the note \w+ in round \d+ announces a key or a revocation that the history lacks\. Restore .*keys restore/;
  const isBehind = {
    ready: 503,
    reasons: [expect.stringMatching(lacks)],
    // The journal is a copy: a payment that it does not know may have been made, so nobody is told that nothing was charged.
    paid: [503, "payment_unknown"],
  };

  test("a backup from before a rotation sells nothing under the old key, which every verifier would refuse", async () => {
    expect(await status()).toEqual(sells);
    await deployment.stopService();
    const { data } = sandboxFolder(path(".attestd"));
    for (const name of await readdir(data)) if (name.startsWith("journal.db")) await rm(join(data, name));
    expect((await attestd(["restore", "before", "--sandbox"], { cwd: folder.path })).code).toBe(0);
    await deployment.restart(seedIn("second.seed"));
    expect(await status()).toEqual(isBehind);
    await deployment.stopService();
    expect((await operate("third.seed", "restore", "keys.json")).code).toBe(0);
    await deployment.restart(seedIn("third.seed"));
    expect(await status()).toEqual(sells);
  });

  test("key notes that strangers send to the account are not listed for it, however many, and stop nothing", async () => {
    const { algorand, attestor, indexerUrl, payers } = deployment.sandbox;
    const sentWithNote = keyNotePrefix(history.ledger);
    const own = await keyNotes();
    for (const k of ["cd", "ef"]) await note(`${sentWithNote}${k.repeat(32)}"}`, payers.algorand);
    const span = { from: 0, to: algorand.ledger.round };
    // It refuses to list more than it is told to.
    const most = own.length;
    const indexer = new IndexerSearch({ url: indexerUrl });
    const listed = await indexer.list(
      { address: attestor.address, sentWithNote },
      span,
      most,
      AbortSignal.timeout(10_000),
    );
    expect(listed).toHaveLength(most);
    expect(await status()).toEqual(sells);
  });

  test("a service that runs stops selling when its account notes a key that the journal does not know", async () => {
    await note(`${keyNotePrefix(history.ledger)}${"ab".repeat(32)}"}`);
    await expect.poll(async () => (await fetch(`${deployment.url}/ready`)).status, { timeout: 10_000 }).toBe(503);
    expect(await status()).toEqual(isBehind);
  });
});
