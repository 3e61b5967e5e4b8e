import { cp, mkdir, readdir, readFile, rm, watch, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ProofBundle } from "@attestd/proof";
import type { SandboxOptions } from "@attestd/sandbox";
import { type AuditReport, adoptPayment, auditJournal, recordRefund } from "@attestd/service/operator";
import algosdk from "algosdk";
import { createWalletClient, defineChain, type Hex, http, parseAbi, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { secret, withOver } from "../../packages/service/test/settings.ts";
import { attestd, start } from "../helpers/command.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { ALGORAND_USDC } from "./ledger.ts";
import { fundedMultisig, multisigClient, rekeyAway } from "./multisig.ts";
import { BASE_USDC, type RailName, railsOf } from "./rails.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A deployment whose operator can reach the settings and the journal. */
async function operatedWorld(options: Partial<SandboxOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const folder = sandboxFolder(join(path, ".attestd"));
  await mkdir(folder.data, { recursive: true, mode: 0o700 });
  const journal = join(folder.data, "journal.db");
  const over = { journal: { url: `sqlite:${journal}` }, attestor: { pq_seed: secret("11".repeat(32)) } };
  // Operators' commands must work with an indexer as it is installed.
  const behaviour = { indexerParameters: "default" } as const;
  const deployment = stack.adopt(await startDeployment({ behaviour, ...options }, over), (started) => started.close());
  const settings = await sandboxSettings(deployment.sandbox, folder, { ...over, log_level: "silent" });
  // As an operator has them on a machine without the attestor's keys.
  const keyless = withOver(settings, { attestor: undefined });
  const operator = () => ({ sandbox: true, signal: AbortSignal.timeout(60_000) });
  const onWait = (round: number) => {
    const { ledger } = deployment.sandbox.algorand;
    while (ledger.round < round) ledger.advance();
  };
  const done = stack.move();
  return {
    deployment,
    audit: () => auditJournal(keyless, operator()),
    /** Runs a command; the ledger makes the rounds that it waits for at once. */
    adopt: (target: string, txid: string) => adoptPayment(settings, { target, subject: { txid }, onWait }, operator()),
    refund: (key: string, transaction: string) => recordRefund(keyless, { key, transaction }, operator()),
    /** The same in its own process. */
    run: (...args: string[]) => attestd([...args, "--sandbox"], { cwd: path }),
    /** The folder in which it runs. */
    path,
    /** The journal's rows, while no service has it open. */
    edit(text: string, ...values: (string | number)[]) {
      const db = new DatabaseSync(journal);
      db.prepare(text).run(...values);
      db.close();
    },
    [Symbol.asyncDispose]: () => done.disposeAsync(),
  };
}

type Operated = Awaited<ReturnType<typeof operatedWorld>>;

/** Sends signed transactions as one group. @returns the id of the first, once it is confirmed */
async function send(
  { sandbox }: Deployment,
  make: (params: algosdk.SuggestedParams) => algosdk.Transaction,
  sk: Uint8Array,
) {
  const algod = new algosdk.Algodv2("", sandbox.algodUrl, new URL(sandbox.algodUrl).port);
  const transaction = make(await algod.getTransactionParams().do());
  await algod.sendRawTransaction(transaction.signTxn(sk)).do();
  await algosdk.waitForConfirmation(algod, transaction.txID(), 5);
  return transaction.txID();
}

function transfer(
  deployment: Deployment,
  from: { address: string; secretKey: Uint8Array },
  receiver: string,
  amount = 1_000,
) {
  const make = (suggestedParams: algosdk.SuggestedParams) =>
    algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
      sender: from.address,
      receiver,
      amount,
      assetIndex: ALGORAND_USDC,
      suggestedParams,
    });
  return send(deployment, make, from.secretKey);
}

function sendNote(
  deployment: Deployment,
  from: { address: string; secretKey: Uint8Array },
  receiver: string,
  note: string,
) {
  const make = (suggestedParams: algosdk.SuggestedParams) =>
    algosdk.makePaymentTxnWithSuggestedParamsFromObject({
      sender: from.address,
      receiver,
      amount: 0,
      note: Buffer.from(note),
      suggestedParams,
    });
  return send(deployment, make, from.secretKey);
}

/** Settles a payment without the service, as if its row had been lost afterwards. */
async function paidAlone({ deployment }: Operated, client = algorandClient(deployment.sandbox)) {
  const { url, sandbox } = deployment;
  const payment = await sign(`${url}/attest`, sampleOf(deployment), client);
  const { json } = await post(`${sandbox.facilitatorUrl}/settle`, {
    x402Version: 2,
    paymentPayload: payment,
    paymentRequirements: payment.accepted,
  });
  expect(json).toMatchObject({ success: true });
  return { payment, transaction: json.transaction as string };
}

const sampleOf = ({ sandbox }: Deployment) => ({ txid: sandbox.sampleTransactions.algorand });
const codes = ({ findings }: AuditReport) => findings.map(({ severity, code }) => `${severity} ${code}`);

test("the audit of three rails is clean after strangers' transfers, finds payments that a restored backup lost, and adopts them", async () => {
  await using operated = await operatedWorld();
  const { deployment, audit, adopt, run, path } = operated;
  const { sandbox } = deployment;
  const rails = await railsOf(sandbox);
  const sample = { txid: sandbox.sampleTransactions.base as string };
  const buy = async (name: RailName) => {
    const payment = await sign(`${deployment.url}/attest`, sample, rails[name].client);
    const answer = await pay(`${deployment.url}/attest`, sample, payment);
    expect(answer.status).toBe(200);
    return { payment, bundle: JSON.parse(answer.text) as ProofBundle };
  };
  const fromSolana = await buy("solana");
  // The service runs meanwhile.
  expect(await run("backup", "--to", "saved")).toMatchObject({ code: 0, stderr: "" });
  const [fromAlgorand, fromBase] = await Promise.all([buy("algorand"), buy("base")]);
  const bought = [fromAlgorand, fromBase, fromSolana];

  const stranger = sandbox.algorand.accounts.payer;
  await transfer(deployment, stranger, sandbox.payTo.algorand);
  await sendNote(deployment, stranger, sandbox.attestor.address, fromAlgorand.bundle.attest.note);
  await transferOnBase(deployment);
  // The service runs meanwhile.
  expect(await audit()).toMatchObject({
    verdict: "clean",
    counts: { calls: 3, settled: 3, attested: 3, delivered: 3, open: {}, unaccounted: 0, strangers: 3 },
  });

  await deployment.stopService();
  expect((await run("restore", "saved")).stderr).toContain("is there already: move it away");
  const data = await readdir(join(path, ".attestd", "data"));
  for (const name of data.filter((one) => one.startsWith("journal")))
    await rm(join(path, ".attestd", "data", name), { recursive: true });
  const restored = await run("restore", "saved");
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.stdout).toContain("1 done");
  const lost = await audit();
  expect(lost).toMatchObject({ verdict: "violated", counts: { calls: 1, unaccounted: 2 } });
  expect(codes(lost).slice(0, 2)).toEqual(Array(2).fill("violation payment_without_row"));
  await deployment.restart();
  for (const { payment } of [fromAlgorand, fromBase])
    expect(await pay(`${deployment.url}/attest`, sample, payment)).toMatchObject({
      status: 503,
      json: { code: "payment_unaccounted" },
    });
  await deployment.stopService();

  const other = `bought an attestation of transaction ${sample.txid}`;
  for (const { key = "", txid = "" } of lost.findings.slice(0, 2)) {
    await expect(adopt(key, sandbox.sampleTransactions.algorand)).rejects.toThrow(other);
    expect(await adopt(key.startsWith("eip155:") ? key : txid, sample.txid)).toMatchObject({ key, state: "signed" });
    await expect(adopt(key, sample.txid)).rejects.toThrow("has a call for");
  }
  await deployment.restart();
  for (const { payment, bundle } of bought) {
    const again = await pay(`${deployment.url}/attest`, sample, payment);
    expect(again).toMatchObject({ status: 200, json: { source: bundle.source, attest: bundle.attest } });
  }
  expect(await audit()).toMatchObject({ verdict: "clean", counts: { settled: 3, attested: 3, delivered: 3 } });

  // A year later the service prunes them, and gives and accounts for the same.
  const replies = () =>
    Promise.all(
      bought.map(async ({ payment }) => {
        const { status, text, headers } = await pay(`${deployment.url}/attest`, sample, payment);
        return { status, text, receipt: headers.get("payment-response") };
      }),
    );
  const before = await replies();
  await deployment.stopService();
  operated.edit("UPDATE calls SET created_at = created_at - ?", 365 * DAY_MS);
  const old = async () => JSON.parse((await run("prune", "--days", "300", "--dry-run", "--json")).stdout);
  await deployment.restart();
  await expect.poll(old, { timeout: 20_000 }).toMatchObject({ calls: 3, dryRun: true });
  await deployment.restart({ journal: { retention_days: 300 } });
  await expect.poll(old, { timeout: 10_000 }).toMatchObject({ calls: 0, bytes: 0 });
  expect(before.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await replies()).toEqual(before);
  expect(await audit()).toMatchObject({ verdict: "clean", counts: { settled: 3, attested: 3, delivered: 3 } });
});

/** A transfer of the price outside x402, as a stranger could make it. */
async function transferOnBase({ sandbox }: Deployment): Promise<void> {
  const { baseRpcUrl, payers, payTo } = sandbox;
  const transport = http(baseRpcUrl);
  const currency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = defineChain({ id: 8453, name: "Base", nativeCurrency: currency, rpcUrls: { default: { http: [] } } });
  const account = privateKeyToAccount(payers.base?.privateKey as Hex);
  const wallet = createWalletClient({ account, chain, transport }).extend(publicActions);
  const hash = await wallet.writeContract({
    address: BASE_USDC,
    abi: parseAbi(["function transfer(address to, uint256 value) returns (bool)"]),
    functionName: "transfer",
    args: [payTo.base as Hex, 1_000n],
  });
  await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 });
}

test("a payment that was lost before its attestation is open, and is adopted once no attestation can come", async () => {
  await using operated = await operatedWorld({ networks: [] });
  const { deployment, audit, adopt } = operated;
  // The payer was rekeyed, so a simulation of its payment fails: its account accepts no signature of these keys.
  const multisig = await fundedMultisig(deployment.sandbox);
  const { payment, transaction } = await paidAlone(operated, multisigClient(deployment.sandbox, multisig));
  await rekeyAway(deployment.sandbox, multisig);
  const unaccounted = { status: 503, json: { code: "payment_unaccounted" } };
  expect(await pay(`${deployment.url}/attest`, sampleOf(deployment), payment)).toMatchObject(unaccounted);
  await deployment.stopService();
  const lost = await audit();
  expect([lost.verdict, codes(lost)]).toEqual(["open", ["open payment_without_row"]]);

  expect(await adopt(transaction, sampleOf(deployment).txid)).toMatchObject({ state: "paid", attempts: [] });
  await deployment.restart();
  expect(await pay(`${deployment.url}/attest`, sampleOf(deployment), payment)).toMatchObject({ status: 200 });
  expect(await audit()).toMatchObject({ verdict: "clean", counts: { settled: 1, attested: 1, delivered: 1 } });
});

test("an attestation that the attestor's key sent outside the service is a violation", async () => {
  await using operated = await operatedWorld({ networks: [] });
  const { deployment, run } = operated;
  const payment = await sign(`${deployment.url}/attest`, sampleOf(deployment), algorandClient(deployment.sandbox));
  const { json } = await pay(`${deployment.url}/attest`, sampleOf(deployment), payment);
  await deployment.stopService();
  const { attestor } = deployment.sandbox.algorand.accounts;
  const { note } = (json as unknown as ProofBundle).attest;
  const byHand = await sendNote(deployment, attestor, attestor.address, note.replace(/"p":"..../, '"p":"AAAA'));

  const { code, stdout } = await run("audit");
  expect(code).toBe(1);
  expect(stdout).toContain("✕ Violated");
  expect(stdout).toContain("✕ 1  every attestation has a payment of its own");
  expect(stdout).toContain("✓ 2 ");
  expect(stdout).toContain("note_commitment_unknown");
  expect(stdout).toContain(byHand);
});

test("a refund of a call owed for a day is recorded when the chain has it, and the payer's next request gets 410", async () => {
  await using operated = await operatedWorld({ networks: [] });
  const { deployment, audit, adopt, refund, edit, run } = operated;
  const { payTo, payer } = deployment.sandbox.algorand.accounts;
  const { payment, transaction } = await paidAlone(operated);
  await transfer(deployment, payer, payTo.address);
  await deployment.stopService();
  const { key } = await adopt(transaction, sampleOf(deployment).txid);

  const tooLittle = await transfer(deployment, payTo, payer.address, 999);
  const back = await transfer(deployment, payTo, payer.address);
  await expect(refund(key, back)).rejects.toThrow("The call is paid");
  edit("UPDATE calls SET state = 'owed', progress = json_set(progress, '$.reason', 'overspend')");
  await expect(refund(key, back)).rejects.toThrow("less than 24 hours");
  edit("UPDATE calls SET created_at = created_at - ?", DAY_MS);
  await expect(refund(key, transaction)).rejects.toThrow("does not send 1000 micro-USDC");
  await expect(refund(key, tooLittle)).rejects.toThrow("does not send 1000 micro-USDC");
  expect(await audit()).toMatchObject({
    verdict: "open",
    counts: { owed: 1 },
    findings: [{ code: "call_owed", key }, {}],
  });

  expect(await run("refund", key, "--transaction", back)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("✓ Refunded"),
  });
  expect(await audit()).toMatchObject({ verdict: "clean", counts: { owed: 0, refunded: 1 } });
  await deployment.restart();
  expect(await pay(`${deployment.url}/attest`, sampleOf(deployment), payment)).toMatchObject({
    status: 410,
    json: { code: "payment_refunded" },
  });
});

test("prints one sentence when it cannot audit or adopt", async () => {
  await using operated = await operatedWorld({ networks: [] });
  const { deployment, run, adopt } = operated;
  const { txid } = sampleOf(deployment);
  await expect(adopt(txid, txid)).rejects.toThrow("another process has this journal open");
  await deployment.stopService();
  await expect(adopt("gold", txid)).rejects.toThrow("neither a payment key nor a transaction id");
  await expect(adopt(`0x${"1".repeat(64)}`, txid)).rejects.toThrow("no node is configured");

  const ended = await Promise.all([
    run("audit", "--json"),
    run("audit", "--since", "yesterday"),
    run("audit", "--adopt", "gold"),
    run("audit", "--adopt", txid, "--txid", txid),
  ]);
  expect(ended.map(({ code }) => code)).toEqual([0, 2, 2, 6]);
  expect(JSON.parse(ended[0]?.stdout ?? "")).toMatchObject({ verdict: "clean", counts: { calls: 0 } });
  expect(ended[3]?.stderr).toContain(`algorand shows no payment to us as ${txid}`);
});

test("a backup is whole or none: what is damaged, added or killed half-way is refused", async () => {
  await using operated = await operatedWorld({ networks: [] });
  const { run, path } = operated;
  expect(await run("backup", "--to", "whole")).toMatchObject({ code: 0, stderr: "" });
  expect(await run("backup", "--verify", "whole")).toMatchObject({ code: 0, stderr: "" });
  expect((await run("backup", "--to", "whole")).stderr).toContain("whole exists: name a new folder");
  const settings = await readFile(join(path, "whole", "settings.json"), "utf8");
  expect(settings).not.toContain("11".repeat(32));
  expect(JSON.parse(settings)).toMatchObject({
    "attestor.pq_seed": expect.stringMatching(/^file:/),
    "rails.algorand.pay_to": expect.any(String),
    "chains.algorand.algod": "(not saved)",
  });

  for (const name of ["journal.sqlite", "keys.json", "settings.json"]) {
    await cp(join(path, "whole"), join(path, name), { recursive: true });
    const file = join(path, name, name);
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 2) ^ 1, bytes.length - 2);
    await writeFile(file, bytes);
    const { code, stderr } = await run("backup", "--verify", name);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${name} has changed since it was saved`),
    });
  }
  await writeFile(join(path, "keys.json", "keys.json"), await readFile(join(path, "whole", "keys.json")));
  await writeFile(join(path, "keys.json", "more.json"), "{}");
  expect((await run("backup", "--verify", "keys.json")).stderr).toContain("files that were not saved: more.json");

  const killed = start(["backup", "--to", "killed", "--sandbox"], { cwd: path });
  for await (const { filename } of watch(path)) if (filename === "killed.unfinished") break;
  killed.kill("SIGKILL");
  await killed.ended;
  const left = await readdir(path);
  if (left.includes("killed")) expect(await run("backup", "--verify", "killed")).toMatchObject({ code: 0 });
  else {
    expect((await run("backup", "--verify", "killed.unfinished")).stderr).toContain("is not a backup");
    expect(await run("backup", "--to", "killed")).toMatchObject({ code: 0 });
  }
});
