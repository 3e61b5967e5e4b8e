import type { KeyEntry } from "@attestd/proof";
import type { KeyJournal } from "../../src/attestor/key-journal.ts";
import { type Call, evidenceOf } from "../../src/calls/call.ts";
import type { Journal } from "../../src/calls/journal.ts";
import { type CallEvent, reduce } from "../../src/calls/machine.ts";
import type { PruningJournal } from "../../src/calls/pruning.ts";
import type { Evidence } from "../../src/subjects/product.ts";
import { aCall, anAttempt } from "../fakes/calls.ts";

/** What a journal holds beside its calls. */
export const IDENTITY = { genesisHash: "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", algorandAddress: "ATTESTOR" };
export const PAYEES = [
  { rail: "algorand", address: "PAYEE" },
  { rail: "base", address: "0x01" },
] as const;
export const KEYS = ["first", "second"].map(
  (kid, i) => ({ type: "attestor-key", version: 1, kid, fromRound: 1 + i }) as KeyEntry,
);
export const REVOCATION = { kid: "first", revokedRound: 7 };
export const ANNOUNCEMENT = {
  record: { kind: "key", entry: { type: "attestor-key", version: 1, kid: "third", fromRound: 9 } as KeyEntry },
  attempt: anAttempt("KEY NOTE"),
} as const;

const begun: CallEvent = { type: "settlement_begun", facilitator: "https://facilitator.example" };
const proved = (final: boolean, name: string): CallEvent => ({
  type: "payment_proved",
  proof: { transaction: `PAYMENT ${name}`, height: 9, final },
  receipt: "eyJzdWNjZXNzIjp0cnVlfQ==",
});
const signed = (name: string): CallEvent => ({ type: "attestation_signed", attempt: anAttempt(`ATTEST ${name}`) });
const confirmed = (name: string): CallEvent => ({
  type: "attestation_confirmed",
  txid: `ATTEST ${name}`,
  round: 12,
});
const sealed = (name: string): CallEvent => ({
  type: "bundle_sealed",
  bundle: {
    id: `S ${name}`,
    body: `{"of":"${name} é \\u0000"}`,
    sources: [{ id: `S ${name}`, round: 9, blockHash: "BLOCK", txnId: "SOURCE" }],
  },
  receipt: "eyJzaWduZWQiOnRydWV9",
});
const delivered = (name: string, final: boolean): CallEvent[] => [
  begun,
  proved(final, name),
  signed(name),
  confirmed(name),
  sealed(name),
];

/** When the first call began, Unix ms. */
const BEGINNING = 1_780_000_000_000;

/** How a call gets into each state that a journal may have to carry on from. */
const COURSES: Readonly<Record<string, readonly CallEvent[]>> = {
  pruned: delivered("pruned", true),
  prepared: [],
  settling: [begun, begun],
  paid: [begun, proved(false, "paid")],
  signed: [
    begun,
    proved(true, "signed"),
    signed("signed, dead"),
    { type: "attestation_dead", txid: "ATTEST signed, dead" },
    signed("signed"),
  ],
  confirmed: [begun, proved(true, "confirmed"), signed("confirmed"), confirmed("confirmed")],
  watched: delivered("watched", false),
  done: delivered("done", true),
  owed: [begun, proved(true, "owed"), signed("owed"), { type: "attestation_blocked", reason: "unfunded" }],
  void: [begun, { type: "payment_void", reason: "expired", receipt: "eyJzdWNjZXNzIjpmYWxzZX0=" }],
  refunded: [
    begun,
    proved(true, "refunded"),
    { type: "attestation_blocked", reason: "unfunded" },
    { type: "payment_refunded", transaction: "BACK", refund: "refund:BACK" },
  ],
  loss: [...delivered("loss", false), { type: "payment_lost", reason: "reorganised" }],
};

/**
 * Fills an empty journal: calls in every state, two of one source, the first of them pruned, aliases and a refund's name,
 * keys, a revocation, an announcement, payees.
 *
 * @returns the calls as they were committed, oldest first
 */
export async function fill(journal: Journal & PruningJournal & KeyJournal): Promise<Call[]> {
  await journal.claim(IDENTITY);
  await journal.rememberPayees(PAYEES);
  for (const entry of KEYS) await journal.appendKey(entry);
  await journal.appendRevocation(REVOCATION);
  await journal.announce(ANNOUNCEMENT);
  const calls: Call[] = [];
  for (const [i, [name, events]] of Object.entries(COURSES).entries()) {
    // Two calls are of one source.
    const evidence = { ...evidenceOf(aCall()), level: i < 2 ? "finalized" : name } as Evidence;
    const own = { evidence, payer: `PAYER ${i % 3}`, createdAt: BEGINNING + i };
    let call = await journal.insert(aCall({ key: `key of ${name}`, aliases: [`group of ${name}`], ...own }));
    for (const event of events) {
      call = reduce(call, event);
      await journal.update(call);
    }
    calls.push(call);
  }
  await journal.prune(BEGINNING + 1, 1);
  return Promise.all(calls.map(async (call) => (await journal.find(call.key)) ?? call));
}
