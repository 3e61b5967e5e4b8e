import type { Wallet } from "@attestd/client";
import { type KeyEntry, type KeyHistory, parseJson, parseKeyHistory, type Trust } from "@attestd/proof";
import { MAX_JSON_BYTES } from "@attestd/proof/json";
import { withoutTrailing } from "@attestd/proof/text";
import { readRegularFile } from "@attestd/service/regular-file";
import { breakBetween, historyAge, statedBasis, type TrustBasis, writtenAt } from "@attestd/web/trust-basis";
import { EXIT, Failure, failsFor } from "../failure.ts";
import { collect, readNamed } from "../files/files.ts";

/** The keys that the user trusts, and where they come from. */
export type TrustedKeys = { trust: Trust; basis: TrustBasis };

/** A key history that the user trusts. */
export type TrustedHistory = TrustedKeys & { trust: KeyHistory };

const TIMEOUT_MS = 30_000;
const MAX_SERVED_BYTES = 2 ** 20;

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
 * @returns the history, with the date of the file: the list was fetched then, or earlier
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

/** A sentence about an error in a key history. @param error thrown by the parser, or by a comparison */
export function fault(error: unknown): string {
  const { pointer, message } = error as { pointer?: string; message: string };
  return `${pointer ? `${pointer}: ` : ""}${message}.`;
}

/** The rounds in which a key is valid, in words. */
export function spanOf({ fromRound, untilRound, revokedRound }: KeyEntry): string {
  const span = untilRound === undefined ? `from round ${fromRound} on` : `rounds ${fromRound} to ${untilRound - 1}`;
  return revokedRound === undefined ? span : `${span}, withdrawn from round ${revokedRound} on`;
}

/** The bytes of the key history that a service publishes. @throws Failure `unreachable` */
export async function servedKeys(service: string): Promise<Uint8Array> {
  const url = `${withoutTrailing(service, "/")}/.well-known/attestor-keys.json`;
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error) => {
    throw new Failure(EXIT.unreachable, `no answer from ${service}`, ["Try again later."], error);
  });
  if (!response.ok) throw new Failure(EXIT.unreachable, `${url} answered ${response.status}`);
  const body = response.body ?? new Blob().stream();
  return collect(body, MAX_SERVED_BYTES).catch(failsFor(EXIT.unreachable, `read ${url}`));
}

/**
 * Makes a wallet that signs only while the service publishes the trusted keys: what it sells would not verify otherwise.
 *
 * @returns a wallet whose `sign` rejects with a Failure when the service's history does not continue the trusted one, or
 * when its newest key is not in the trusted one
 */
export function withKeysOf(service: string, { trust, basis }: TrustedHistory, wallet: Wallet): Wallet {
  return {
    payer: (network) => wallet.payer(network),
    async sign(required, offer, dateMs) {
      const difference = differenceOf(trust, await servedKeys(service));
      if (difference === undefined) return wallet.sign(required, offer, dateMs);
      throw new Failure(EXIT.notPaid, `not paid: the service's keys are not those of ${basis.name}`, difference);
    },
  };
}

/** Why a service's bundles would not verify by the trusted history, and what to do; undefined when they would. */
function differenceOf(trust: KeyHistory, bytes: Uint8Array): string[] | undefined {
  const again = "To trust its history of today: attestd keys history --service URL --save FILE";
  try {
    const served = parseKeyHistory(parseJson(bytes));
    const why = breakBetween(trust, served);
    if (why) return ["Its key history does not continue the one that you trust.", fault(why), "Ask its operator."];
    const newest = served.keys.at(-1)?.kid;
    const isKnown = trust.keys.some(({ kid }) => kid === newest);
    return isKnown ? undefined : [`Its newest key, ${newest}, was added since.`, again];
  } catch (error) {
    return ["What it publishes is not a key history.", fault(error)];
  }
}
