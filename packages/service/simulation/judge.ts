import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import { type Call, payloadOf } from "../src/calls/call.ts";
import { isAtRest } from "../src/calls/machine.ts";
import type { Database } from "./database.ts";
import { type Course, isForgotten, type Witness } from "./witness.ts";

/** How long a paid call may take once everything works, in ms (invariant 6). */
export const PROMPT_MS = 60_000;

type Times = { healedAt: number; graceMs: number };

/**
 * Judges what is left when everything has come to rest: the chains against the journal.
 *
 * @param times when the last fault ended (Unix ms), and how much longer a call may take than it must, in ms
 */
export function judge(witness: Witness, database: Database, times: Times): void {
  const { calls } = database;
  judgeNames(calls, witness);
  for (const { authorization, spentAt, another } of witness.courses)
    if (spentAt !== undefined && another && witness.course(another.key).spentAt !== undefined)
      witness.object("paidOnce", `${authorization.key} is made, and ${another.key}`);
  for (const call of calls) {
    const { key, state, reason } = call;
    if (!isAtRest(call)) witness.object("rest", `${key} is ${state}`);
    if (state === "refunded" || (state === "loss" && witness.course(key).undoneAt === undefined))
      witness.object("delivered", `${key} is ${state}: ${reason}`);
  }
  let settled = 0;
  let lost = 0;
  let orphans = 0;
  for (const course of witness.courses) {
    // A failover lost its row: the audit lists it, and its payer is told that it is unaccounted for (schedule.ts). One that a
    // reorganisation undid as well may have been made, and attested for, anew.
    if (course.lost && (!course.call || isForgotten(course))) {
      orphans += course.attestations.length;
      continue;
    }
    if (course.call?.state === "loss") lost += 1;
    // What a payer spent without us is no call of ours.
    if (course.spentAt === undefined || (course.askedAt === undefined && !course.call)) continue;
    settled += 1;
    judgePaid(course, course.spentAt, witness, database, times);
  }
  if (settled + lost + orphans !== witness.attestations)
    witness.object("delivered", `${settled + orphans} settled, ${lost} lost, ${witness.attestations} attested`);
}

/** No key, alias or charged name of a purchase may be in two calls. */
function judgeNames(calls: readonly Call[], witness: Witness): void {
  const names = new Set<string>();
  const charged = new Set<string>();
  for (const call of calls) {
    const { key, aliases, rail, payer, state } = call;
    for (const name of [key, ...aliases]) {
      if (names.has(name)) witness.object("oneCall", name);
      names.add(name);
    }
    const identifier = extractPaymentIdentifier(payloadOf(call));
    // What we never asked anyone to settle was made without us, after a 402.
    if (identifier === null || state === "void" || witness.course(key).askedAt === undefined) continue;
    const purchase = `${rail} ${payer} ${identifier}`;
    if (charged.has(purchase)) witness.object("namedOnce", purchase);
    charged.add(purchase);
  }
}

function judgePaid(
  course: Course,
  spentAt: number,
  witness: Witness,
  database: Database,
  { healedAt, graceMs }: Times,
): void {
  const { authorization, attestations, doneAt } = course;
  const { key } = authorization;
  const call = database.find(key);
  const bundle = call?.bundle;
  if (call?.state !== "done" || attestations.length !== 1)
    witness.object("delivered", `${key} is paid and ${call?.state}, with ${attestations.length} attestations`);
  else if (!bundle?.body?.includes(`"${attestations[0]}"`) || database.bundle(bundle.id)?.body !== bundle.body)
    witness.object("delivered", `${key} has no bundle of its own`);
  // A call that begins after its payment was made is that of a payment which was refused before.
  const late = (doneAt ?? Number.POSITIVE_INFINITY) - Math.max(spentAt, healedAt, call?.createdAt ?? 0);
  if (late > PROMPT_MS + graceMs) witness.object("prompt", `${key} took ${Math.round(late / 1000)} s`);
}
