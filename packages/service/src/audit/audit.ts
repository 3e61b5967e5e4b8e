import type { Call } from "../calls/call.ts";
import { isFinal } from "../calls/machine.ts";
import { type UnreadRow, unreadRow } from "../journal/reader.ts";
import { ChainIndex } from "./chain-index.ts";
import type { Facts, Premises } from "./facts.ts";
import { type AuditReport, Findings, NO_COUNTS } from "./report.ts";
import type { Joined } from "./row.ts";
import { checkRow, claimsOf } from "./row-checks.ts";

/**
 * The time after which an unfinished call is reported: longer than any authorization is valid, with time to recover.
 */
const UNFINISHED_AFTER_MS = 15 * 60_000;

/**
 * Compares the journal with the chains, joined by payment key. It trusts only chains and rows: not the facilitator, not
 * a transfer only because it pays us, not a note only because it looks like ours.
 *
 * The chains MUST have been read before the rows. Then everything on them has its row by now, even if a service
 * continues to sell. Claims of rows about heights outside the spans are counted, not judged.
 * @param rows every call of the journal, in any order
 */
export async function audit(
  facts: Facts,
  rows: AsyncIterable<Call | UnreadRow> | Iterable<Call | UnreadRow>,
  premises: Premises,
): Promise<AuditReport> {
  const findings = new Findings();
  for (const rail of facts.unread ?? [])
    findings.add("open", "rail_not_read", `We have payees on ${rail}, and no node of it is configured.`);
  const chain = await ChainIndex.read(facts, premises.attestors, findings);
  const { ledger, rails } = facts;
  const counts: AuditReport["counts"] = { ...NO_COUNTS, open: {} };
  const prices = new Set(premises.prices);
  const names = new Set<string>();

  const unreadable = ({ key, fault }: UnreadRow) =>
    findings.add("violation", "row_unreadable", `${sentence(fault)} Take it from a backup.`, { key });

  for await (const call of rows) {
    counts.calls += 1;
    if ("fault" in call) {
      // What the chains show of it is this row's, and no row less.
      chain.takePayment(call.key);
      chain.takeAttestations(call.key);
      unreadable(call);
      continue;
    }
    prices.add(BigInt(call.requirement.amount));
    for (const name of [call.key, ...call.aliases, ...(call.refund === undefined ? [] : [call.refund])]) {
      const code = name === call.refund ? "two_refunds_one_transfer" : "two_rows_one_key";
      if (names.has(name)) findings.add("violation", code, `Two calls share ${name}.`, { key: call.key });
      names.add(name);
    }
    const joined = await join(call, chain, facts, findings);
    const context = { spans: { ledger, rails }, premises, findings };
    const { settled, delivered, notRead } = await checkRow(joined, context).catch((error: unknown) => {
      unreadable(unreadRow(call, error));
      return { settled: false, delivered: false, notRead: false };
    });
    if (settled) counts.settled += 1;
    else if (joined.payment && !call.proof) chain.addStranger(joined.payment, findings);
    if (delivered) counts.delivered += 1;
    if (notRead) counts.notRead += 1;
    countState(call, premises.now, counts, findings);
  }
  counts.unaccounted = await judgePaymentsLeft(chain, prices, premises, findings);
  judgeAttestationsLeft(chain, findings);
  counts.attested = chain.attested;
  counts.strangers = chain.strangers;
  return { ...findings.conclude(), spans: { ledger, payments: rails }, counts };
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

/** Joins a row with its data on the chains. What the row claims and the lists lack is looked up again. */
async function join(call: Call, chain: ChainIndex, facts: Facts, findings: Findings): Promise<Joined> {
  const { key, rail, requirement } = call;
  const { lookAgain } = facts;
  const claims = claimsOf(call, facts);
  let payment = chain.takePayment(key);
  if (!payment && claims.payment && lookAgain) {
    const found = await lookAgain.payments(rail, claims.payment, requirement.payTo);
    payment = found.find((one) => one.key === key);
  }
  let attestations = chain.takeAttestations(key);
  if (claims.attestation && lookAgain && !attestations.some(({ txid }) => txid === claims.attestation)) {
    const note = await lookAgain.note(claims.attestation);
    if (note) chain.addNote(note, findings);
    attestations = [...attestations, ...chain.takeAttestations(key)];
  }
  return { call, payment, attestations };
}

function countState(call: Call, now: number, counts: AuditReport["counts"], findings: Findings): void {
  const { key, state, createdAt, reason = "no reason given" } = call;
  switch (state) {
    case "done":
      return;
    case "void":
    case "refunded":
      counts[state] += 1;
      return;
    case "loss":
      counts.loss += 1;
      findings.add("information", "payment_lost", `It was delivered, and its payment has vanished: ${reason}.`, {
        key,
      });
      return;
    case "owed":
      counts.owed += 1;
      findings.add("open", "call_owed", `It was paid, and not attested: ${reason}.`, { key });
      return;
    default:
      counts.open[state] = (counts.open[state] ?? 0) + 1;
      if (!isFinal(state) && now - createdAt > UNFINISHED_AFTER_MS) {
        const minutes = Math.floor((now - createdAt) / 60_000);
        findings.add("open", "call_unfinished", `The call is ${state} after ${minutes} minutes.`, { key });
      }
  }
}

/**
 * Judges the payments that no row has. If the attestor attested for a payment, it was ours. A payment that only has the
 * form we sell for may also come from a stranger, who risks the price: it is reported as open. A payment that a
 * facilitator refused is owed: its payer sends it again, or gets it back.
 * @returns how many are unaccounted for
 */
async function judgePaymentsLeft(
  chain: ChainIndex,
  prices: ReadonlySet<bigint>,
  { refused }: Premises,
  findings: Findings,
): Promise<number> {
  let unaccounted = 0;
  for (const [key, payment] of chain.paymentsLeft()) {
    const attestations = chain.takeAttestations(key);
    const txid = payment.transaction;
    if (attestations.length > 1) {
      const txids = attestations.map((attestation) => attestation.txid).join(", ");
      findings.add("violation", "two_attestations_for_one_payment", `The ledger has ${txids}.`, { key, txid });
    }
    const [attestation] = attestations;
    if (attestation) {
      const message = `It was paid and attested in ${attestation.txid}, and the journal has no call for it: bind it with --adopt.`;
      findings.add("violation", "payment_without_row", message, { key, txid });
    } else if (await refused(key)) {
      const message = `${payment.payer} paid ${payment.amount} micro-USDC after a facilitator had refused the payment: owed to whoever sends it again.`;
      findings.add("open", "payment_without_row", message, { key, txid });
    } else if (payment.relayed && payment.amount !== undefined && prices.has(payment.amount)) {
      const message = `${payment.payer} paid ${payment.amount} micro-USDC, and the journal has no call for it: bind it with --adopt.`;
      findings.add("open", "payment_without_row", message, { key, txid });
    } else {
      chain.addStranger(payment, findings);
      continue;
    }
    unaccounted += 1;
  }
  return unaccounted;
}

function judgeAttestationsLeft(chain: ChainIndex, findings: Findings): void {
  for (const { txid, note } of chain.attestationsLeft()) {
    const message = `The attestor attested for a payment (${note.p}) that neither a chain nor the journal knows.`;
    findings.add("violation", "note_commitment_unknown", message, { txid });
  }
}
