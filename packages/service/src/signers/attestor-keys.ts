import { fromBase64 } from "@attestd/proof/encoding";
import type { Logger } from "pino";
import { type Config, configInvalid } from "../config/config.ts";
import { OK } from "../health/health.ts";
import { deadline, systemClock } from "../lib/clock.ts";
import type { SignerFailure } from "../lib/errors.ts";
import { count, gauge } from "../observe/metrics/meter.ts";
import { awsKmsPlace } from "./aws-kms.ts";
import { googleKmsPlace } from "./google-kms.ts";
import { type GuardedKey, guardKey } from "./guard.ts";
import { identityOf, seedPlace } from "./seed.ts";
import type { AccountSigner, KeyPlace, KeyUse, Signer } from "./signer.ts";
import { socketPlace } from "./socket/client.ts";

/** The settings that say where the keys are. */
export type KeyConfig = Pick<Config, "attestor" | "algorand">;

/** The options for opening any kind of signer. */
export type OpenOptions = {
  log: Logger;
  /** Aborts the opening. */
  signal: AbortSignal;
};

/** An open key, and whether it can sign. */
type Opened = Pick<KeyPlace, "words" | "close"> & Pick<GuardedKey, "status" | "probe" | "refresh">;
export type OpenSigner = Signer & Opened;
export type OpenAccount = AccountSigner & Opened;

/** Outcomes at which an operator must look. */
const ALARMS: readonly SignerFailure[] = ["wrong", "refused"];
/** How long a signer may take to give a public key, in ms. */
const OPEN_MS = 10_000;

/**
 * Opens the attestor's ML-DSA-65 key at the place that the settings name.
 * @throws signer_failed when its signer gives no public key; config_invalid when it has no such key, or contradicts the
 *   settings
 */
export async function openSigner(config: KeyConfig, options: OpenOptions): Promise<OpenSigner> {
  const { sign, publicKey, ...opened } = await openKey("pq", config, options);
  return { ...opened, ...identityOf(publicKey), sign };
}

/** Opens the key of the attestor's account at the place that the settings name. @throws as `openSigner` */
export async function openAccount(config: KeyConfig, options: OpenOptions): Promise<OpenAccount> {
  const { algorithm, ...opened } = await openKey("account", config, options);
  if (algorithm === "ml-dsa-65") throw new TypeError("the guard lets no such key be an account's");
  return { ...opened, algorithm };
}

/** Watches whether each of these keys can sign, because sales depend on it. */
export function watchSigners(...keys: readonly Opened[]) {
  const status = () => keys.map((key) => key.status()).find(({ state }) => state !== "ok") ?? OK;
  return {
    status,
    /** Checks whether all keys can sign. Never rejects. */
    async refresh(signal: AbortSignal): Promise<void> {
      await Promise.all(keys.map((key) => key.refresh(signal)));
    },
    /** @throws Error with the reason when a key cannot sign */
    confirm(): void {
      const found = status();
      if (found.state !== "ok") throw new Error(found.reason);
    },
  };
}

async function openKey(use: KeyUse, config: KeyConfig, { log, signal }: OpenOptions) {
  await using opened = new AsyncDisposableStack();
  const place = placeOf(use, config);
  opened.defer(() => place.close());
  const { kind } = config.attestor[use];
  const key = guardKey(await place.open(use, deadline(systemClock, OPEN_MS, signal)), {
    ...{ use, kind, words: place.words, freshMs: place.freshMs, log, clock: systemClock },
  });
  for (const outcome of ALARMS) count("signatures", { key: use, signer: kind, outcome }, 0);
  opened.defer(
    gauge("signerUsable", () => [{ labels: { key: use, signer: kind }, value: key.status().state === "ok" ? 1 : 0 }]),
  );
  const closing = opened.move();
  return { ...key, words: place.words, close: () => closing.disposeAsync() };
}

function placeOf(use: KeyUse, { attestor, algorand }: KeyConfig): KeyPlace {
  const settings = attestor[use];
  switch (settings.kind) {
    case "seed":
      return seedPlace({ bytes: settings.seed, algorithm: settings.algorithm });
    case "socket":
      return socketPlace(settings.path, fromBase64(algorand.genesisHash), attestor.address);
    case "aws-kms":
      return awsKmsPlace(settings.id);
    case "google-kms":
      return googleKmsPlace(settings.id, settings.endpoint);
    case "none": {
      const [first = "The settings name no key of the attestor.", ...others] = settings.faults;
      throw configInvalid(first, ...others);
    }
  }
}
