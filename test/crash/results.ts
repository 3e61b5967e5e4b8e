import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { CellRun, Outcome } from "./cell.ts";
import type { EvidenceOutcome } from "./evidence.ts";
import type { FailoverOutcome } from "./failover.ts";
import type { FaultOutcome } from "./faults.ts";
import type { FloodOutcome } from "./flood.ts";
import type { KmsOutcome } from "./kms.ts";
import { runTitle } from "./matrix.ts";
import type { ReplicasOutcome } from "./replicas.ts";
import type { SignerOutcome } from "./signer.ts";

/** A line of a results file: the outcome, its time (ISO 8601) and the revision (short commit hash). */
export type Result = { at: string; revision: string } & (
  | { matrix: Outcome; seed: number }
  | { failover: FailoverOutcome; seed: number }
  | { kms: KmsOutcome }
  | { signer: SignerOutcome; seed: number }
  | { fault: FaultOutcome }
  | { evidence: EvidenceOutcome }
  | { replicas: ReplicasOutcome }
  | { flood: FloodOutcome }
);

/** A file of results, one JSON text per line, appended at once, so that an interrupted run can be resumed. */
export class Results {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  add(result: Result): void {
    appendFileSync(this.#file, `${JSON.stringify(result)}\n`);
  }

  all(): Result[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Result);
  }

  /** The runs that the file lacks. */
  missing(runs: readonly CellRun[]): CellRun[] {
    const found = new Map<string, number>();
    for (const result of this.all()) {
      if (!("matrix" in result)) continue;
      const title = runTitle(result.matrix.cell);
      found.set(title, (found.get(title) ?? 0) + 1);
    }
    return runs.filter((run) => {
      const title = runTitle(run);
      const count = found.get(title) ?? 0;
      found.set(title, count - 1);
      return count <= 0;
    });
  }
}
