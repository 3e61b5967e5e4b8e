import { MONTHS } from "../text.ts";
import type { Deed, Description, Words } from "./description.ts";
import type { Circumstances, Outcome, Subject } from "./subject.ts";

export type SentenceOptions = {
  /** Shortens or respells an id or an account; by default it stays unchanged. */
  id?: (id: string) => string;
};

/**
 * Formats a time for people, such as `21 November 2026 at 14:03:07 UTC`; undefined for one beyond the calendar.
 * @param time Unix seconds
 */
export function dateline(time: number): string | undefined {
  const date = new Date(time * 1000);
  if (Number.isNaN(date.getTime())) return undefined;
  const clock = date.toISOString().slice(-13, -5);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} at ${clock} UTC`;
}

/**
 * Describes what was attested in one line: `USDC transfer on Base, 25.00 USDC`. It does not tell the outcome;
 * `headline` does.
 */
export function subjectTitle({ chain, transaction, block }: Subject): string {
  if (transaction === undefined) return `Block ${block?.height} of ${chain.label}`;
  const { title, amount } = transaction;
  return `${title} on ${chain.label}${amount === undefined ? "" : `, ${amount.text}`}`;
}

/**
 * Returns the first thing to show, for a title. A failure comes first: `Failed on Base: nothing moved`, then what was
 * tried. An unknown outcome is named next to the title.
 * @returns `beside` is to be shown next to `title`, not hidden
 */
export function headline(subject: Subject, outcome: Outcome): { title: string; detail?: string } {
  const title = subjectTitle(subject);
  if (subject.transaction === undefined) return { title };
  if (outcome === "failed")
    return { title: `Failed on ${subject.chain.label}: ${subject.transaction.undone}`, detail: `Tried: ${title}` };
  return outcome === "unknown" ? { title, detail: "Whether it succeeded is not known" } : { title };
}

/** The headline in one line, for a table: `Failed on Base: nothing moved. Tried: USDC transfer on Base, 25.00 USDC`. */
export function subjectLine(subject: Subject, outcome: Outcome): string {
  const { title, detail: beside } = headline(subject, outcome);
  return beside === undefined ? title : `${title}. ${beside}`;
}

/** Names the outcome in words, for a row of its own. */
export function outcomeWords({ transaction, chain }: Subject, outcome: Outcome): string {
  switch (outcome) {
    case "succeeded":
      return "Succeeded";
    case "failed":
      return `Failed: ${failure(transaction, same)}`;
    case "not_applicable":
      return `Took effect: a block of ${chain.label} holds no failed transaction`;
    case "unknown":
      return "Not known: the bundle does not state it";
  }
}

/**
 * Describes what was attested in sentences: `On 21 November 2026 at 14:03:07 UTC, account X sent 25.00 USDC to account
 * Y in transaction Z on Base. It succeeded.` It states as done only what is known to have happened.
 */
export function sentenceOf(
  subject: Subject,
  { block, outcome }: Circumstances,
  { id = same }: SentenceOptions = {},
): string {
  const day = block?.time === undefined ? undefined : dateline(block.time);
  const what = subject.transaction
    ? transactionSentence(subject, subject.transaction, outcome, id)
    : `block ${block?.height} of ${subject.place} was made. Its hash is ${id(block?.hash ?? "")}.`;
  return day === undefined ? what.charAt(0).toUpperCase() + what.slice(1) : `On ${day}, ${what}`;
}

/** Returns a sentence that begins in lower case. */
function transactionSentence(
  { place, block }: Subject,
  transaction: NonNullable<Subject["transaction"]>,
  outcome: Outcome,
  id: (id: string) => string,
): string {
  const { deed, remarks } = transaction;
  const where = `transaction ${id(transaction.id)}${block ? ` in block ${block.height} of` : " on"} ${place}`;
  const ending = {
    succeeded: ["It succeeded."],
    failed: [`It failed: ${failure(transaction, id)}`],
    not_applicable: [],
    unknown: ["Whether it succeeded is not known."],
  }[outcome];
  const done = deed
    ? `${phrase(deed, outcome, id)} in ${where}${write(deed.after ?? [], id)}.`
    : `${where} was recorded.`;
  return [done, ...ending, ...(outcome === "failed" ? [] : remarks)].join(" ");
}

function phrase({ actor, clauses }: Deed, outcome: Outcome, id: (id: string) => string): string {
  const came = outcome === "succeeded" || outcome === "not_applicable";
  const clausesInWords = clauses.map(({ past, bare, what }) => `${came ? past : `to ${bare}`} ${write(what, id)}`);
  const verb = came ? "" : outcome === "failed" ? "tried " : "asked ";
  return `${write(actor, id)} ${verb}${clausesInWords.join(", and ")}${clauses.length > 1 ? "," : ""}`;
}

/** Says what a failure undid and what it did not. */
function failure(transaction: Description | undefined, id: (id: string) => string): string {
  const { undone = "it had no effect", lasting = [] } = transaction ?? {};
  return lasting.length > 0 ? `${undone}. ${write(lasting, id)}` : `${undone}.`;
}

function write(words: Words, id: (id: string) => string): string {
  return words.map((word) => (typeof word === "string" ? word : id(word.id))).join("");
}

function same(id: string): string {
  return id;
}
