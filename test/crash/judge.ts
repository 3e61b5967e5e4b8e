import { parseNote, type SignedBundle } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import type { Sandbox } from "@attestd/sandbox";
import { auditJournal } from "@attestd/service/operator";
import { address, createSolanaRpc } from "@solana/kit";
import algosdk from "algosdk";
import { createPublicClient, type Hex, http, parseAbi } from "viem";
import { type Accounts, usdcAccountOf } from "./accounts.ts";
import type { Purchase } from "./buyer.ts";
import type { Deployment } from "./deployment.ts";
import { RAILS, type RailName, type SignedPayment } from "./payers.ts";
import { retry } from "./process.ts";

const USDC = 31566704n;
const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const ERC20 = parseAbi(["function balanceOf(address account) view returns (uint256)"]);
/** micro-USDC a call, and an item of a batch. */
const PRICE = 1_000n;
const ITEM_PRICE = 100n;
const AUDIT_MS = 60_000;

/** The end of a purchase: its bundle, or the 402 of a payment that is provably unspent. */
export type End = "delivered" | "void";

/** Compares the buyer's last answer, and the answer to the same payment sent again, with the expected end. */
export function answerFaults(end: End, first: Purchase, again: Purchase): string[] {
  const expected = end === "delivered" ? 200 : 402;
  const wrong: string[] = [];
  if (first.status !== expected) wrong.push(`the buyer got ${first.answers.join(", ")} ${first.text.slice(0, 200)}`);
  if (again.status !== first.status) wrong.push(`the buyer then got ${again.answers.join(", ")}`);
  if (end === "delivered" && again.text !== first.text) wrong.push("the second bundle is not the first, byte for byte");
  return wrong;
}

/** Waits for rounds of the ledger, in which a surplus payment or attestation would appear. */
export async function rounds({ algodUrl }: Sandbox, count: number): Promise<void> {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const { lastRound } = await algod.status().do();
  for (let i = 0n; i < count; i++) await algod.statusAfterBlock(lastRound + i).do();
}

/** A purchase that has ended, with its bundle or without one. */
export type EndedPurchase = { payment: SignedPayment; bundle?: string };

export function endedPurchase(
  payment: SignedPayment,
  { status, text }: Pick<Purchase, "status" | "text">,
): EndedPurchase {
  return { payment, ...(status === 200 && { bundle: text }) };
}

/**
 * Compares the chains and the journal of a deployment with its purchases, by public data and by the operator's audit:
 * each delivered purchase was paid once and attested once, the others not at all, and there is nothing else.
 *
 * @param deployment whose processes have ended: an SQLite journal is locked by the one that has it open
 * @returns the faults found, a sentence each
 */
export async function judge(
  sandbox: Sandbox,
  deployment: Deployment,
  ended: readonly EndedPurchase[],
): Promise<string[]> {
  return [...(await chainFaults(sandbox, deployment.accounts, ended)), ...(await auditFaults(deployment, ended))];
}

async function auditFaults({ settings }: Deployment, ended: readonly EndedPurchase[]): Promise<string[]> {
  // An audit fails when a busy machine delays a node; an operator runs it again.
  const run = () => auditJournal(settings, { sandbox: true, signal: AbortSignal.timeout(AUDIT_MS) });
  const { verdict, findings, counts } = await retry(run);
  const wrong = findings.filter(({ severity }) => severity !== "information").map(({ message }) => message);
  const delivered = ended.filter(({ bundle }) => bundle !== undefined).length;
  if (counts.delivered !== delivered) wrong.push(`${counts.delivered} of ${delivered} bundles can be fetched`);
  return verdict === "clean" ? wrong : [`the audit is ${verdict}`, ...wrong];
}

async function chainFaults(sandbox: Sandbox, accounts: Accounts, ended: readonly EndedPurchase[]): Promise<string[]> {
  const wrong: string[] = [];
  const delivered = ended.filter(({ bundle }) => bundle !== undefined);

  const received = await Promise.all(RAILS.map((rail) => receivedOn[rail](sandbox, accounts)));
  for (const [i, rail] of RAILS.entries()) {
    const bought = delivered.filter(({ payment }) => payment.rail === rail);
    const due = bought.reduce((sum, { bundle }) => sum + priceOf(bundle as string), 0n);
    if (received[i] !== due) wrong.push(`${rail}: the payee has ${received[i]} micro-USDC instead of ${due}`);
  }

  const notes = await attestationsOf(sandbox, accounts);
  const unclaimed = new Map(notes.map(({ txid, note }) => [txid, note]));
  for (const { payment, bundle } of delivered) {
    const { attest } = signedIn(bundle as string);
    const note = unclaimed.get(attest.txnId);
    if (note === undefined) wrong.push(`${payment.key}: its attestation ${attest.txnId} is not on the ledger`);
    else if (note !== attest.note) wrong.push(`${payment.key}: the ledger has the note ${note}`);
    else if (commitmentOf(note) !== paymentCommitment(payment.key))
      wrong.push(`${payment.key}: the note does not commit to its payment`);
    unclaimed.delete(attest.txnId);
  }
  for (const [txid, note] of unclaimed) wrong.push(`a surplus attestation: ${txid}, ${note}`);
  return wrong;
}

/** What was signed of what a purchase has delivered. */
export function signedIn(delivered: string): SignedBundle {
  const { batch, ...bundle } = JSON.parse(delivered) as SignedBundle & { batch?: SignedBundle };
  return batch ?? bundle;
}

/** What a purchase has cost, in micro-USDC, by what it has delivered. */
function priceOf(delivered: string): bigint {
  const { items } = JSON.parse(delivered) as { items?: unknown[] };
  return PRICE + ITEM_PRICE * BigInt(items?.length ?? 0);
}

/** The commitment to its payment that a note has. */
export function commitmentOf(note: string): string | undefined {
  const read = parseNote(note);
  return "p" in read ? read.p : undefined;
}

/** The balance of a deployment's payee in micro-USDC. The payee never pays, so this is everything it was paid. */
const receivedOn: Record<RailName, (sandbox: Sandbox, accounts: Accounts) => Promise<bigint>> = {
  async algorand({ algodUrl }, { payTo }) {
    const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
    const { assetHolding } = await algod.accountAssetInformation(payTo.algorand, USDC).do();
    return assetHolding?.amount ?? 0n;
  },
  async base({ baseRpcUrl }, { payTo }) {
    if (!payTo.base) return 0n;
    const client = createPublicClient({ transport: http(baseRpcUrl) });
    const args = [payTo.base as Hex] as const;
    return client.readContract({ address: BASE_USDC, abi: ERC20, functionName: "balanceOf", args });
  },
  async solana({ solanaRpcUrl }, { payTo }) {
    if (!payTo.solana) return 0n;
    const account = await usdcAccountOf(address(payTo.solana));
    const { value } = await createSolanaRpc(solanaRpcUrl as string)
      .getTokenAccountBalance(account)
      .send();
    return BigInt(value.amount);
  },
};

/** All transactions of the attestor, with their notes. */
export async function attestationsOf({ indexerUrl }: Sandbox, { attestor }: Accounts) {
  const indexer = new algosdk.Indexer("", indexerUrl, new URL(indexerUrl).port);
  const transactions: algosdk.indexerModels.Transaction[] = [];
  for (let next: string | undefined = ""; next !== undefined; ) {
    const search = indexer.searchForTransactions().address(attestor.address).addressRole("sender");
    const page = await (next === "" ? search : search.nextToken(next)).do();
    transactions.push(...page.transactions);
    next = page.nextToken;
  }
  return transactions.map(({ id, note }) => ({
    txid: id as string,
    note: Buffer.from(note ?? []).toString("utf8"),
  }));
}
