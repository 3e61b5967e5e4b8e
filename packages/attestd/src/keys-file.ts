import { type KeyHistory, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { MAX_JSON_BYTES } from "@attestd/proof/json";
import { readRegularFile } from "@attestd/service/regular-file";
import { historyAge, statedBasis, type TrustBasis, writtenAt } from "@attestd/web/trust-basis";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { readNamed } from "./files.ts";

/** The keys that the user trusts, and where they come from. */
export type TrustedKeys = { trust: Trust; basis: TrustBasis };

/** A trusted key history. */
export type TrustedHistory = TrustedKeys & { trust: KeyHistory };

/** The libraries' options for trusted keys. */
export function trustOptions(trusted: TrustedKeys | undefined): { trust?: Trust; historyAge?: number } {
  return trusted ? { trust: trusted.trust, historyAge: historyAge(trusted.basis) } : {};
}

/** The keys that a verdict rests on, for `--json`. */
export function trustForPrograms(trusted: TrustedKeys | undefined): ReturnType<typeof statedBasis> | null {
  return trusted ? statedBasis(trusted.basis) : null;
}

/**
 * Reads a key history in the format of `/.well-known/attestor-keys.json`.
 *
 * @returns with the date of the file: the list was fetched then, or earlier
 * @throws Failure `unreadable`
 */
export async function readKeys(path: string, basis: "file" | "sandbox" = "file"): Promise<TrustedHistory> {
  const reading =
    basis === "sandbox"
      ? Promise.try(() => readRegularFile(path, { maxBytes: MAX_JSON_BYTES, isFound: true }))
      : readNamed(path, MAX_JSON_BYTES);
  const { bytes, writtenMs } = await reading.catch(failsFor(EXIT.unreadable, `read ${path}`));
  try {
    const trust = parseKeyHistory(parseJson(bytes));
    const since = writtenAt(writtenMs);
    return { trust, basis: { basis, name: path, ...(since !== undefined && { since }) } };
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a key history`, [fault(error)], error);
  }
}

/** A sentence about an error in a key history. @param error of the parser, or of a comparison */
export function fault(error: unknown): string {
  const { pointer, message } = error as { pointer?: string; message: string };
  return `${pointer ? `${pointer}: ` : ""}${message}.`;
}
