import type { KeyManagementServiceClient, protos } from "@google-cloud/kms";
import { createCRC32 } from "hash-wasm";
import { configInvalid } from "../config/config.ts";
import { messageRepresentative } from "../crypto/mu.ts";
import type { SignerFailure } from "../errors.ts";
import { loadClient } from "./client-package.ts";
import { KMS_ALGORITHMS, KMS_SETTINGS, MAX_ANSWER_BYTES, rawPublicKey, signerFailed } from "./kms-key.ts";
import type { Key, KeyPlace, KeyUse } from "./signer.ts";

type Checksum = protos.google.protobuf.IInt64Value | null | undefined;

/**
 * How Cloud KMS names our two kinds of keys. A key of `PQ_SIGN_ML_DSA_65` signs whole messages, of at most 64 KiB: we use
 * one that signs µ.
 */
const ALGORITHMS = {
  pq: { name: "PQ_SIGN_ML_DSA_65_EXTERNAL_MU", option: "pq-sign-ml-dsa-65-external-mu" },
  account: { name: "EC_SIGN_ED25519", option: "ec-sign-ed25519" },
} as const satisfies Record<KeyUse, object>;

/** The client would ask again by itself, and a request costs money: who needs a signature asks again (guard.ts). */
const ONCE = { retry: { retryCodes: [] } };

/**
 * A key in Google Cloud KMS. Credentials are those that the client finds by itself.
 *
 * @param name of the key's version, as a resource
 * @param endpoint origin of a regional or private one; the client's own unless given
 */
export function googleKmsPlace(name: string, endpoint: string | undefined): KeyPlace {
  return {
    words: "Google Cloud KMS",
    open: async (use, signal) => openKey(await connectionTo(endpoint), use, name, signal),
    // The client stays for the next key.
    close: async () => undefined,
  };
}

/** Connections by endpoint: a client takes most of a second to be made, and it keeps nothing of a key. */
const connections = new Map<string | undefined, Promise<Connection>>();

function connectionTo(endpoint: string | undefined): Promise<Connection> {
  const connection = connections.get(endpoint) ?? connect(endpoint);
  connections.set(endpoint, connection);
  connection.catch(() => connections.delete(endpoint));
  return connection;
}

type Connection = {
  client: KeyManagementServiceClient;
  /** CRC32C, as Cloud KMS protects what is sent and received. */
  crc32c(bytes: Uint8Array): number;
};

async function connect(endpoint: string | undefined): Promise<Connection> {
  const { KeyManagementServiceClient } = await loadClient("@google-cloud/kms", () => import("@google-cloud/kms"));
  const url = endpoint === undefined ? undefined : new URL(endpoint);
  const client = new KeyManagementServiceClient({
    // REST over HTTP/1.1, which proxies pass, and whose answers can be bounded.
    fallback: true,
    clientOptions: { transporterOptions: { size: MAX_ANSWER_BYTES } },
    ...(url && {
      apiEndpoint: url.hostname,
      port: Number(url.port) || (url.protocol === "http:" ? 80 : 443),
      protocol: url.protocol.slice(0, -1),
    }),
  });
  const crc = await createCRC32(0x82f63b78);
  return { client, crc32c: (bytes) => Number.parseInt(crc.init().update(bytes).digest(), 16) };
}

async function openKey({ client, crc32c }: Connection, use: KeyUse, name: string, signal: AbortSignal): Promise<Key> {
  const asking = <T>(request: Promise<[T, ...unknown[]]>): Promise<T> =>
    request.then(
      ([answer]) => answer,
      (error: unknown) => Promise.reject(failureOf(error)),
    );
  const requireWhole = (bytes: Uint8Array, checksum: Checksum) => {
    if (Number(checksum?.value ?? Number.NaN) !== crc32c(bytes))
      throw signerFailed("unreachable", "an answer was damaged on its way (CRC32C)");
  };
  requireUsable(use, name, await asking(client.getCryptoKeyVersion({ name }, { ...ONCE, signal })));

  async function readPublicKey(): Promise<Uint8Array> {
    const format = use === "pq" ? ({ publicKeyFormat: "NIST_PQC" } as const) : {};
    const answer = await asking(client.getPublicKey({ name, ...format }, { ...ONCE, signal }));
    if (answer.name !== name) throw signerFailed("wrong", `gave the public key of ${answer.name} instead of ${name}`);
    if (use === "account") {
      const pem = answer.pem ?? "";
      requireWhole(Buffer.from(pem), answer.pemCrc32c);
      return rawPublicKey(use, pem);
    }
    const raw = bytesOf(answer.publicKey?.data);
    requireWhole(raw, answer.publicKey?.crc32cChecksum);
    return raw;
  }

  const publicKey = await readPublicKey();
  return {
    algorithm: KMS_ALGORITHMS[use],
    publicKey,
    async sign(message, ends) {
      const mu = use === "pq" ? messageRepresentative(publicKey, message) : undefined;
      const sent = mu
        ? { name, digest: { externalMu: mu }, digestCrc32c: { value: crc32c(mu) } }
        : { name, data: message, dataCrc32c: { value: crc32c(message) } };
      const answer = await asking(client.asymmetricSign(sent, { ...ONCE, signal: ends }));
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
function requireUsable(use: KeyUse, name: string, version: protos.google.cloud.kms.v1.ICryptoKeyVersion): void {
  const { algorithm, state } = version;
  const wanted = ALGORITHMS[use];
  if (version.name !== name) throw signerFailed("wrong", `described ${version.name} instead of ${name}`);
  if (algorithm !== wanted.name) {
    const remedy = `Name one that "gcloud kms keys create … --default-algorithm=${wanted.option}" made`;
    throw configInvalid(`${KMS_SETTINGS[use]}: the key version ${name} is ${algorithm}. ${remedy}.`);
  }
  if (state !== "ENABLED") throw signerFailed("denied", `the key version ${name} ${stateOf(`${state}`)}`);
}

function stateOf(state: string): string {
  if (state === "DISABLED") return "is disabled: enable it, or name another";
  if (state === "DESTROY_SCHEDULED") return "will be destroyed: restore it with gcloud kms keys versions restore";
  return `is in the state ${state}`;
}

function bytesOf(data: Uint8Array | string | null | undefined): Uint8Array {
  return new Uint8Array(typeof data === "string" ? Buffer.from(data, "base64") : (data ?? []));
}

/** Numbers of google.rpc.Code. */
const CODES: Readonly<Record<number, SignerFailure>> = {
  1: "unreachable",
  2: "unreachable",
  4: "late",
  8: "throttled",
  10: "unreachable",
  13: "unreachable",
  14: "unreachable",
  15: "unreachable",
};

function failureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, message } = error as Error & { code?: unknown };
  // It has an answer, or the client found no credentials to ask with.
  const failure = (typeof code === "number" ? CODES[code] : undefined) ?? "denied";
  return signerFailed(failure, message);
}
