import { createCRC32 } from "hash-wasm";
import { z } from "zod";
import { configInvalid } from "../config/config.ts";
import { messageRepresentative } from "../lib/crypto/mu.ts";
import type { SignerFailure } from "../lib/errors.ts";
import { HttpProvider, type HttpRequest } from "../providers/http.ts";
import { isProviderError } from "../providers/provider.ts";
import { loadClient } from "./client-package.ts";
import { KMS_ALGORITHMS, KMS_SETTINGS, MAX_ANSWER_BYTES, rawPublicKey, signerFailed } from "./kms-key.ts";
import type { Key, KeyPlace, KeyUse } from "./signer.ts";

/**
 * Cloud KMS's names for our two kinds of keys. A key of `PQ_SIGN_ML_DSA_65` signs whole messages of at most 64 KiB, so
 * we use one that signs µ.
 */
const ALGORITHMS = {
  pq: { name: "PQ_SIGN_ML_DSA_65_EXTERNAL_MU", option: "pq-sign-ml-dsa-65-external-mu" },
  account: { name: "EC_SIGN_ED25519", option: "ec-sign-ed25519" },
} as const satisfies Record<KeyUse, object>;

const ORIGIN = "https://cloudkms.googleapis.com";
const SCOPE = "https://www.googleapis.com/auth/cloudkms";

/** The used parts of answers from Cloud KMS's REST API v1: bytes are base64, and int64 a decimal string. */
const VERSION = z.object({ name: z.string(), algorithm: z.string(), state: z.string() });
const PUBLIC_KEY = z.object({
  name: z.string(),
  pem: z.string().default(""),
  pemCrc32c: z.string().optional(),
  publicKey: z.object({ data: z.base64().default(""), crc32cChecksum: z.string().optional() }).default({ data: "" }),
});
const SIGNATURE = z.object({
  name: z.string(),
  signature: z.base64(),
  signatureCrc32c: z.string().optional(),
  verifiedDigestCrc32c: z.boolean().default(false),
  verifiedDataCrc32c: z.boolean().default(false),
});
const FAULT = z.object({ error: z.object({ message: z.string() }) });

/**
 * Makes the place of a key in Google Cloud KMS. Google's library finds the credentials by itself.
 * @param name of the key's version, as a resource
 * @param endpoint origin of a regional or private one
 */
export function googleKmsPlace(name: string, endpoint = ORIGIN): KeyPlace {
  let connected: Promise<Connection> | undefined;
  return {
    words: "Google Cloud KMS",
    async open(use, signal) {
      connected ??= connect(endpoint);
      return openKey(await connected, use, name, signal);
    },
    close: async () => undefined,
  };
}

type Connection = {
  /**
   * Asks once, because a request costs money: whoever needs a signature asks again (guard.ts). @throws signer_failed
   */
  ask<S extends z.ZodType>(request: HttpRequest, schema: S, signal: AbortSignal): Promise<z.infer<S>>;
  /** CRC32C, with which Cloud KMS protects what is sent and received. */
  crc32c(bytes: Uint8Array): number;
};

async function connect(endpoint: string): Promise<Connection> {
  const { GoogleAuth, JWT } = await loadClient("google-auth-library", () => import("google-auth-library"));
  const auth = new GoogleAuth({ scopes: SCOPE });
  const kms = new HttpProvider({ url: endpoint, breaker: undefined });
  const crc = await createCRC32(0x82f63b78);

  async function authorization(): Promise<Record<string, string>> {
    try {
      const client = await auth.getClient();
      // A service account signs its own tokens, so no other server is asked for one.
      if (client instanceof JWT) client.useJWTAccessWithScope = true;
      return Object.fromEntries(await client.getRequestHeaders(endpoint));
    } catch (error) {
      const { message, response, code } = error as Error & { response?: { status: number }; code?: unknown };
      const isUnreachable = response === undefined && typeof code === "string";
      throw signerFailed(
        isUnreachable ? "unreachable" : failureOf(response?.status ?? 401),
        `no credentials: ${message}`,
      );
    }
  }

  return {
    async ask(request, schema, signal) {
      const headers = { ...(await authorization()), "content-type": "application/json" };
      try {
        const asked = { ...request, headers, maxBytes: MAX_ANSWER_BYTES, anyStatus: true };
        const answer = await kms.request(asked, signal);
        if (answer.status === 200) return kms.read(answer, schema);
        throw signerFailed(failureOf(answer.status), kms.read(answer, FAULT).error.message);
      } catch (error) {
        throw isProviderError(error) ? signerFailed("unreachable", error.message) : error;
      }
    },
    crc32c: (bytes) => Number.parseInt(crc.init().update(bytes).digest(), 16),
  };
}

async function openKey({ ask, crc32c }: Connection, use: KeyUse, name: string, signal: AbortSignal): Promise<Key> {
  const path = `/v1/${name}`;
  const requireWhole = (bytes: Uint8Array, checksum: string | undefined) => {
    if (checksum !== `${crc32c(bytes)}`) throw signerFailed("unreachable", "an answer was damaged on its way (CRC32C)");
  };
  requireUsable(use, name, await ask({ path }, VERSION, signal));

  async function readPublicKey(): Promise<Uint8Array> {
    const format = use === "pq" ? "?publicKeyFormat=NIST_PQC" : "";
    const answer = await ask({ path: `${path}/publicKey${format}` }, PUBLIC_KEY, signal);
    if (answer.name !== name) throw signerFailed("wrong", `gave the public key of ${answer.name} instead of ${name}`);
    if (use === "account") {
      requireWhole(Buffer.from(answer.pem), answer.pemCrc32c);
      return rawPublicKey(use, answer.pem);
    }
    const raw = bytesOf(answer.publicKey.data);
    requireWhole(raw, answer.publicKey.crc32cChecksum);
    return raw;
  }

  const publicKey = await readPublicKey();
  return {
    algorithm: KMS_ALGORITHMS[use],
    publicKey,
    async sign(message, ends) {
      const mu = use === "pq" ? messageRepresentative(publicKey, message) : undefined;
      const sent = mu
        ? { digest: { externalMu: base64(mu) }, digestCrc32c: `${crc32c(mu)}` }
        : { data: base64(message), dataCrc32c: `${crc32c(message)}` };
      const request = { method: "POST", path: `${path}:asymmetricSign`, body: JSON.stringify(sent) } as const;
      const answer = await ask(request, SIGNATURE, ends);
      if (answer.name !== name) throw signerFailed("wrong", `signed with ${answer.name} instead of ${name}`);
      if (!(mu ? answer.verifiedDigestCrc32c : answer.verifiedDataCrc32c))
        throw signerFailed("unreachable", "the request was damaged on its way (CRC32C)");
      const signature = bytesOf(answer.signature);
      requireWhole(signature, answer.signatureCrc32c);
      return signature;
    },
  };
}

/** @throws config_invalid for a key of another kind; signer_failed for one that cannot sign now */
function requireUsable(use: KeyUse, name: string, version: z.infer<typeof VERSION>): void {
  const { algorithm, state } = version;
  const wanted = ALGORITHMS[use];
  if (version.name !== name) throw signerFailed("wrong", `described ${version.name} instead of ${name}`);
  if (algorithm !== wanted.name) {
    const remedy = `Name one that "gcloud kms keys create … --default-algorithm=${wanted.option}" made`;
    throw configInvalid(`${KMS_SETTINGS[use]}: the key version ${name} is ${algorithm}. ${remedy}.`);
  }
  if (state !== "ENABLED") throw signerFailed("denied", `the key version ${name} ${stateOf(state)}`);
}

function stateOf(state: string): string {
  if (state === "DISABLED") return "is disabled: enable it, or name another";
  if (state === "DESTROY_SCHEDULED") return "will be destroyed: restore it with gcloud kms keys versions restore";
  return `is in the state ${state}`;
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Classifies an HTTP status; 409 is ABORTED, which may be retried. */
function failureOf(status: number): SignerFailure {
  if (status === 429) return "throttled";
  if (status === 504) return "late";
  return status >= 500 || status === 409 ? "unreachable" : "denied";
}
