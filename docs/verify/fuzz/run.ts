import type { Corpus } from "./corpus.ts";
import { type Kind, makeTasks, ROUND, type Task } from "./tasks.ts";
import type { Verifier } from "./verifiers.ts";

/** A task of which not all verifiers say the same. */
export type Disagreement = { index: number; task: Task; outputs: Record<string, string> };

export type Run = {
  seed: string;
  from: number;
  runs: number;
  corpus: Corpus;
  verifiers: Record<string, Verifier>;
  /** The one kind of file that is altered; all of them, unless given. */
  only?: Kind | undefined;
};

/** What came of a round: its tasks, what the first verifier said of each, and where another said something else. */
export type Progress = { done: number; tasks: Task[]; outputs: string[]; disagreements: Disagreement[] };

/** Has the verifiers judge the tasks of a seed, round by round. A round is made while the one before it is judged. */
export async function* fuzz({ seed, from, runs, corpus, verifiers, only }: Run): AsyncGenerator<Progress> {
  let pending: Promise<Progress> | undefined;
  try {
    for (let start = from; start < from + runs; ) {
      const end = Math.min(from + runs, start - (start % ROUND) + ROUND);
      const tasks = makeTasks(seed, start, end, corpus, only);
      const before = pending;
      pending = judge(tasks, start, end - from, verifiers);
      if (before) yield await before;
      start = end;
    }
    if (pending) yield await pending;
  } finally {
    // Whoever stops early has no program running on.
    await pending;
  }
}

async function judge(tasks: Task[], start: number, done: number, verifiers: Run["verifiers"]): Promise<Progress> {
  const said = await Promise.all(
    Object.entries(verifiers).map(async ([name, verifier]) => [name, await verifier.judge(tasks)] as const),
  );
  const isWith = (name: string) => verifiers[name]?.hasFalcon === true;
  const disagreements = tasks.flatMap((task, at): Disagreement[] => {
    const outputs = Object.fromEntries(said.map(([name, all]) => [name, all[at] ?? ""]));
    const [whole, bare] = [true, false].map((hasFalcon) =>
      Object.keys(outputs).flatMap((name) => (isWith(name) === hasFalcon ? [outputs[name] as string] : [])),
    ) as [string[], string[]];
    const isShared = new Set(whole).size <= 1 && bare.every((other) => agreeWithoutFalcon(bare[0] as string, other));
    return isShared ? [] : [{ index: start + at, task, outputs }];
  });
  return { done, tasks, outputs: said[0]?.[1] ?? [], disagreements };
}

/** Whether two say the same, where the second may leave open whether an account signed by Falcon. */
function agreeWithoutFalcon(one: string, other: string): boolean {
  if (one === other || !other.includes("not_checked evidence.authorisation")) return one === other;
  const isOther = (line: string) =>
    !/ evidence\.authorisation$|^authorised |^warning |^verified, |^not verified/.test(line);
  const same = (text: string) => text.split("\n").filter(isOther).join("\n");
  return same(one) === same(other);
}

/** The checks in which verifiers differ, and who says what of them: the same for disagreements of one kind. */
export function kindOf({ task, outputs }: Disagreement): string {
  const lines = Object.entries(outputs).map(
    ([name, output]) => [name, output.split("\n").map(withoutNumbers)] as const,
  );
  const isShared = (line: string) => lines.every(([, own]) => own.includes(line));
  const differing = (own: string[]) => own.filter((line) => !isShared(line)).join(", ");
  const groups = Map.groupBy(lines, ([, own]) => differing(own));
  return `${task.kind}: ${[...groups].map(([line, who]) => `${who.map(([name]) => name).join(", ")}: ${line}`).join(" | ")}`;
}

/** A line of an output; what differs from key to key and from round to round says nothing of a disagreement. */
function withoutNumbers(line: string): string {
  return line.replace(/^(key|paid|states|recorded|source|authorised) .*/, "$1").replace(/ in round \d+$/, "");
}
