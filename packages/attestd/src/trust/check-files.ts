import { existsSync } from "node:fs";
import { aborted } from "node:util";
import { isVerified } from "@attestd/web/verdict";
import { EXIT, type ExitCode, Failure, worst } from "../failure.ts";
import { nothingIn, type Source, sourcesOf } from "../files/sources.ts";
import type { TrustOptions } from "../options.ts";
import type { Environment } from "../terminal/environment.ts";
import { chainCheck } from "./chain-check.ts";
import { checkSource, isReceiptOf, type Result, trustedKeys } from "./check-file.ts";
import { SANDBOX_KEYS } from "./sandbox-folder.ts";

/**
 * Starts to check the bundles and receipts that the arguments of a command name.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @throws Failure `usage`, or `unreadable` for keys and folders that cannot be read
 */
export async function openChecking(names: string[], options: TrustOptions, environment: Environment) {
  const trusted = await trustedKeys(options);
  if (trusted === undefined && existsSync(SANDBOX_KEYS))
    environment.err.line(
      `attestd: ${SANDBOX_KEYS} is not used: no sandbox of yours runs here. To trust it, name it: --keys ${SANDBOX_KEYS}`,
    );
  const chains = await chainCheck(options, trusted);
  const sources = withoutReceiptsOfBundles(await sourcesOf(names));
  return { sources, trusted, results: results() };

  /**
   * Gives the results for one source after another; for a batch's answer one result for each item.
   * @throws Failure `interrupted`; `unreadable` at the end when no file is of a kind that is checked
   */
  async function* results(): AsyncGenerator<readonly Result[]> {
    const stop = environment.stop();
    const interrupted = aborted(stop, stop);
    using working = environment.working(chains && "asking the chains");
    let others = 0;
    for (const [done, source] of sources.entries()) {
      if (sources.length > 1) working.show(`${done + 1} of ${sources.length}`);
      const found = await Promise.race([checkSource(source, { trusted, chains, environment }), interrupted]);
      if (!found || stop.aborted)
        throw new Failure(EXIT.interrupted, "interrupted", [`${done} of ${sources.length} files were checked.`]);
      if (found[0].kind === "other") others++;
      yield found;
    }
    working.show(undefined);
    if (others === sources.length) throw nothingIn(names, others);
  }
}

/** Leaves out each receipt whose bundle is among the sources: it is checked with the bundle. */
function withoutReceiptsOfBundles(sources: Source[]): Source[] {
  const files = sources.filter(({ kind }) => kind === "file");
  return sources.filter(({ name }) => !files.some((bundle) => isReceiptOf(name, bundle.name)));
}

/** The exit code of a command that checked files: not verified before unreadable before unreachable. */
export function exitCodeOf(results: readonly Result[]): ExitCode {
  return worst(results.map(codeOf));
}

function codeOf(result: Result): number {
  if (result.kind === "unreadable") return result.exitCode;
  if (!isGood(result)) return EXIT.notVerified;
  return result.kind === "checked" && result.ledgerTrouble !== undefined ? EXIT.unreachable : EXIT.good;
}

/** Whether the file was verified, and the receipt beside it. Files of other kinds are good. */
function isGood(result: Result): boolean {
  if (result.kind === "receipt") return result.findings.conclusion === "verified";
  return result.kind !== "checked" || (isVerified(result) && (!result.payment || isGood(result.payment)));
}
