import type { Logger } from "pino";
import { away, type Finding, fail, ok, warning } from "../../health/finding.ts";
import { deadline, systemClock } from "../../lib/clock.ts";
import { hasCode, type SignerFailure } from "../../lib/errors.ts";
import {
  type KeyConfig,
  type OpenAccount,
  type OpenSigner,
  openAccount,
  openSigner,
} from "../../signers/attestor-keys.ts";

type Examined = { findings: Finding[]; keys?: { kid: string; account: OpenAccount } };

/** How long a signer may take, in ms. */
const SIGNER_MS = 15_000;

/**
 * Opens the attestor's keys, and has each sign a probe, which states nothing and is discarded.
 * @param opened closes them
 * @returns no keys when a signer gives no public key, because then the account is unknown
 */
export async function examineSigner(
  config: KeyConfig,
  { log, signal }: { log: Logger; signal: AbortSignal },
  opened: AsyncDisposableStack,
): Promise<Examined> {
  const ends = deadline(systemClock, SIGNER_MS, signal);
  const options = { log, signal: ends };
  try {
    const signer = opened.adopt(await openSigner(config, options), (one) => one.close());
    const account = opened.adopt(await openAccount(config, options), (one) => one.close());
    return { findings: await probe({ signer, account }, ends), keys: { kid: signer.kid, account } };
  } catch (error) {
    return { findings: [troubleOf(error), warning("Nothing else was examined: the attestor's keys are not known.")] };
  }
}

async function probe({ signer, account }: { signer: OpenSigner; account: OpenAccount }, signal: AbortSignal) {
  try {
    await signer.probe(signal);
    await account.probe(signal);
    const both = signer.words === account.words ? signer.words : `${signer.words} and ${account.words}`;
    return [ok(`attestor.signer: ${both} signed a probe with each key.`)];
  } catch (error) {
    return [troubleOf(error)];
  }
}

const REMEDIES: Record<SignerFailure, string> = {
  unreachable: "Check that it runs, and that this user may reach it.",
  late: "Look at its load, and at the way to it.",
  throttled: "Raise its limit.",
  denied: "Give this user the right to sign with the key.",
  refused: "Look at its log: it says which rule the request broke.",
  wrong: "It has another key than it says: stop it, and find out why.",
};

/** @throws every other error */
function troubleOf(error: unknown): Finding {
  if (hasCode(error, "config_invalid")) return fail(error.message);
  if (!hasCode(error, "signer_failed")) throw error;
  const { failure } = error.details;
  const isAway = failure === "unreachable" || failure === "late" || failure === "throttled";
  const mark = isAway ? away : fail;
  return mark(`attestor.signer: ${error.message}. ${REMEDIES[failure]}`);
}
