import { createPublicKey, verify } from "node:crypto";
import { utf8 } from "@attestd/proof/encoding";
import type { Logger } from "pino";
import { OK, type Status, unavailableIf } from "../health/health.ts";
import { type Clock, endOf, within } from "../lib/clock.ts";
import { hasCode, ServiceError, type SignerFailure } from "../lib/errors.ts";
import { createPlaces } from "../lib/waiters.ts";
import { count, during, shift, timed } from "../observe/metrics/meter.ts";
import { Breaker } from "../providers/breaker.ts";
import { newProbe } from "./probe.ts";
import { ALGORITHMS, type Algorithm, KEY_FORMS, type Key, type KeyUse, type SignedContext } from "./signer.ts";

export type GuardOptions = {
  use: KeyUse;
  /** The kind of signer, as the setting names it: a label of metrics. */
  kind: string;
  /** See `KeyPlace.words`. */
  words: string;
  log: Logger;
  clock: Pick<Clock, "after">;
  /** Monotonic, in ms. */
  now?: () => number;
  /** After how many ms an answer is late. */
  deadlineMs?: number;
  /** See `KeyPlace.freshMs`. */
  freshMs?: number | undefined;
  /** The limit of concurrent requests; further ones wait. */
  maxActive?: number;
};

const DEADLINE_MS = 10_000;
const MAX_ACTIVE = 16;
/**
 * How long a key may fail before sales with it stop, in ms; after a wrong signature or an open breaker they stop at
 * once.
 */
const PATIENCE_MS = 5_000;
const FRESH_MS = 60_000;

export type GuardedKey = Key & {
  /** Unavailable while nothing that needs the key may be sold. */
  status(): Status;
  /** Signs a probe: a message that states nothing. @throws signer_failed when it cannot */
  probe(signal: AbortSignal): Promise<void>;
  /** Signs a probe, unless a recent signature shows the same. Never rejects. */
  refresh(signal: AbortSignal): Promise<void>;
};

/**
 * Guards a key that may be elsewhere. It verifies every signature before it is used, limits requests and their time,
 * stops asking a signer that fails repeatedly, and counts. It tries once: whoever needs the signature tries again.
 * @throws signer_failed when its public key has a wrong length
 */
export function guardKey(key: Key, options: GuardOptions): GuardedKey {
  const { use, kind, words, log, clock, deadlineMs = DEADLINE_MS, maxActive = MAX_ACTIVE } = options;
  const now = options.now ?? (() => performance.now());
  const { publicKey, algorithm } = key;
  if (!ALGORITHMS[use].some((one) => one === algorithm)) throw failed("wrong", `a key of ${algorithm}`);
  const form = KEY_FORMS[algorithm];
  if (publicKey.length !== form.publicKey)
    throw failed("wrong", `a public key of ${publicKey.length} bytes instead of ${form.publicKey}`);
  const isSignature = verifierOf(algorithm, publicKey);
  const breaker = new Breaker({ firstRestMs: 500, maxRestMs: 5_000, now });
  const places = createPlaces(maxActive);
  const labels = { key: use, signer: kind };
  shift("signaturesWaiting", labels, 0);
  let signedAt = Number.NEGATIVE_INFINITY;
  let failing: { since: number; error: ServiceError<"signer_failed"> } | undefined;

  function failed(failure: SignerFailure, message: string, cause?: unknown): ServiceError<"signer_failed"> {
    return new ServiceError("signer_failed", `${words}: ${message}`, { details: { failure }, cause });
  }

  function status(): Status {
    if (!failing) return OK;
    const { error, since } = failing;
    const { failure } = error.details;
    if (failure !== "wrong" && !breaker.isOpen && now() - since < PATIENCE_MS) return OK;
    const reason = `The attestor's signer (${kind}) does not sign with the ${form.words} key: ${WORDS[failure]}.`;
    return unavailableIf("signer_unavailable", reason, { signer: words, key: use, err: error });
  }

  function note(error: ServiceError<"signer_failed"> | undefined, begun: number): void {
    if (!error) signedAt = now();
    failing = error && { since: failing?.since ?? begun, error };
  }

  async function ask(message: Uint8Array, signal: AbortSignal, context?: SignedContext): Promise<Uint8Array> {
    const signature = await within(clock, deadlineMs, signal, (ends) => {
      const asked = async () => key.sign(message, ends, context);
      return Promise.race([asked(), endOf(ends)]).catch((error: unknown) => {
        signal.throwIfAborted();
        if (ends.aborted) throw failed("late", `no answer within ${deadlineMs / 1000} s`);
        if (hasCode(error, "signer_failed")) throw failed(error.details.failure, error.message, error);
        throw failed("unreachable", (error as Error).message, error);
      });
    });
    const fits = signature.length <= form.signature && (await isSignature(message, signature));
    if (!fits) throw failed("wrong", `what it returned is not a signature under the ${form.words} key`);
    return signature;
  }

  const sign = (...asked: Parameters<Key["sign"]>) => during("signaturesWaiting", labels, () => signInTurn(...asked));

  async function signInTurn(message: Uint8Array, signal: AbortSignal, context?: SignedContext): Promise<Uint8Array> {
    const leave = await places.enter(signal);
    const begun = now();
    try {
      return await breaker.run(async (vote) => {
        try {
          const signature = await timed("signatureSeconds", labels, () => ask(message, signal, context));
          vote("answered");
          note(undefined, begun);
          count("signatures", { ...labels, outcome: "signed" });
          return signature;
        } catch (error) {
          if (!hasCode(error, "signer_failed")) throw error;
          const { failure } = error.details;
          count("signatures", { ...labels, outcome: failure });
          // It answers, and refuses this request: that shows nothing about other requests.
          if (failure === "refused") log.error({ signer: words, key: use, err: error }, "the signer refuses to sign");
          else {
            vote("failed");
            note(error, begun);
          }
          throw error;
        }
      });
    } catch (error) {
      if (!hasCode(error, "breaker_open")) throw error;
      count("signatures", { ...labels, outcome: "not_sent" });
      throw failed(
        failing?.error.details.failure ?? "unreachable",
        "is not asked for a while, after repeated failures",
        error,
      );
    } finally {
      leave();
    }
  }

  async function probe(signal: AbortSignal): Promise<void> {
    await sign(utf8(newProbe()), signal);
  }

  return {
    algorithm,
    publicKey,
    sign,
    status,
    probe,
    async refresh(signal) {
      if (!failing && now() - signedAt < (options.freshMs ?? FRESH_MS)) return;
      await probe(signal).catch((err: unknown) => {
        if (!failing) log.warn({ err, signer: words, key: use }, "the signer was not probed");
      });
    },
  };
}

function verifierOf(algorithm: Algorithm, publicKey: Uint8Array) {
  if (algorithm === "falcon-1024")
    return async (message: Uint8Array, signature: Uint8Array) => {
      // Few deployments have such an account, and noble's tables take 15 ms to build.
      const { verifyFalcon } = await import("@attestd/proof/falcon");
      return verifyFalcon(publicKey, message, signature);
    };
  const key = Buffer.from(publicKey);
  const imported = createPublicKey({ key, format: "raw-public", asymmetricKeyType: algorithm });
  // On this thread: on another one a verification takes nearly twice the CPU time, and some 170 µs delay nobody.
  return (message: Uint8Array, signature: Uint8Array) => verify(null, message, imported, signature);
}

const WORDS: Record<SignerFailure, string> = {
  unreachable: "it cannot be reached",
  late: "it does not answer in time",
  throttled: "it is asked too often",
  denied: "it refuses us",
  refused: "it refuses what it is asked to sign",
  wrong: "its signatures are wrong",
};
