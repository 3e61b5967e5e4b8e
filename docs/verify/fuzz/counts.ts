import type { Kind } from "./tasks.ts";

/** What the library said, in files of each kind. */
export class Counts {
  readonly #kinds = new Map<Kind, Map<string, number>>();

  add(kind: Kind, output: string): void {
    const said = this.#kinds.get(kind) ?? new Map<string, number>();
    this.#kinds.set(kind, said);
    for (const verdict of new Set(["files", ...verdictsOf(output)])) said.set(verdict, (said.get(verdict) ?? 0) + 1);
  }

  print(): void {
    for (const [kind, said] of this.#kinds) {
      const { files, ...others } = Object.fromEntries(said);
      console.log(`\n${kind}: ${files} files, of which the library said`);
      for (const [verdict, times] of Object.entries(others).sort())
        console.log(`  ${String(times).padStart(7)} ${verdict}`);
    }
  }
}

/** Of a file: whether it is verified, each check that fails, and each check of evidence that passes. */
function verdictsOf(output: string): string[] {
  const lines = output.split("\n");
  const all = lines.filter((line) => /^(FAIL|warning) |^pass evidence/.test(line));
  return [...all, lines.at(-1)?.replace(/,.*/, "") ?? ""];
}
