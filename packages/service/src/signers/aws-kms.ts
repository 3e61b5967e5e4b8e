import { pipeline, type Readable, Transform } from "node:stream";
import type { KeyMetadata, KMSClient } from "@aws-sdk/client-kms";
import { configInvalid } from "../config/config.ts";
import { messageRepresentative } from "../lib/crypto/mu.ts";
import type { SignerFailure } from "../lib/errors.ts";
import { loadClient } from "./client-package.ts";
import { KMS_ALGORITHMS, KMS_SETTINGS, MAX_ANSWER_BYTES, rawPublicKey, signerFailed } from "./kms-key.ts";
import type { Key, KeyPlace, KeyUse } from "./signer.ts";

/**
 * AWS KMS's names for our two kinds of keys, and how it signs with them. ML-DSA always signs µ, because a message may
 * have only 4,096 bytes there; ed25519 signs the transaction itself, which is shorter.
 */
const FORMS = {
  pq: { spec: "ML_DSA_65", algorithm: "ML_DSA_SHAKE_256", messageType: "EXTERNAL_MU" },
  account: { spec: "ECC_NIST_EDWARDS25519", algorithm: "ED25519_SHA_512", messageType: "RAW" },
} as const satisfies Record<KeyUse, object>;

/**
 * Makes the place of a key in AWS KMS. The client finds region, endpoint and credentials by itself. @param id, ARN or
 * alias
 */
export function awsKmsPlace(id: string): KeyPlace {
  let connected: Promise<{ sdk: Sdk; client: KMSClient }> | undefined;
  return {
    words: "AWS KMS",
    async open(use, signal) {
      connected ??= connect();
      return openKey(await connected, use, id, signal);
    },
    async close() {
      const opened = await connected?.catch(() => undefined);
      opened?.client.destroy();
    },
  };
}

type Sdk = typeof import("@aws-sdk/client-kms");

async function connect() {
  const sdk = await loadClient("@aws-sdk/client-kms", () => import("@aws-sdk/client-kms"));
  // A request costs money: whoever needs a signature asks again (guard.ts).
  const client = new sdk.KMSClient({ maxAttempts: 1 });
  bound(client);
  return { sdk, client };
}

async function openKey(
  { sdk, client }: { sdk: Sdk; client: KMSClient },
  use: KeyUse,
  id: string,
  abortSignal: AbortSignal,
): Promise<Key> {
  const asking = <T>(request: Promise<T>) => request.catch((error: unknown) => Promise.reject(failureOf(error)));
  const described = await asking(client.send(new sdk.DescribeKeyCommand({ KeyId: id }), { abortSignal }));
  // An alias may later mean another key: from here on the current key's own id is used.
  const KeyId = requireUsable(use, id, described.KeyMetadata);
  const { PublicKey } = await asking(client.send(new sdk.GetPublicKeyCommand({ KeyId }), { abortSignal }));
  const publicKey = rawPublicKey(use, PublicKey ?? new Uint8Array());
  const { algorithm: SigningAlgorithm, messageType: MessageType } = FORMS[use];
  return {
    algorithm: KMS_ALGORITHMS[use],
    publicKey,
    async sign(message, signal) {
      const Message = use === "pq" ? messageRepresentative(publicKey, message) : message;
      const command = new sdk.SignCommand({ KeyId, Message, MessageType, SigningAlgorithm });
      const answer = await asking(client.send(command, { abortSignal: signal }));
      if (answer.KeyId !== KeyId) throw signerFailed("wrong", `signed with ${answer.KeyId} instead of ${KeyId}`);
      return answer.Signature ?? new Uint8Array();
    },
  };
}

/** @returns the ARN; @throws config_invalid for a key of another kind; signer_failed for one that cannot sign now */
function requireUsable(use: KeyUse, id: string, metadata: KeyMetadata | undefined): string {
  const { Arn, KeySpec, KeyUsage, KeyState } = metadata ?? {};
  const { spec } = FORMS[use];
  if (Arn === undefined) throw signerFailed("wrong", `did not describe the key ${id}`);
  if (KeySpec !== spec || KeyUsage !== "SIGN_VERIFY") {
    const remedy = `Name one that "aws kms create-key --key-spec ${spec} --key-usage SIGN_VERIFY" made`;
    throw configInvalid(`${KMS_SETTINGS[use]}: the key ${id} is ${KeySpec} for ${KeyUsage}. ${remedy}.`);
  }
  if (KeyState !== "Enabled") throw signerFailed("denied", `the key ${id} ${stateOf(KeyState)}`);
  return Arn;
}

function stateOf(state: string | undefined): string {
  if (state === "Disabled") return "is disabled: enable it, or name another";
  if (state === "PendingDeletion")
    return "will be deleted: cancel that with aws kms cancel-key-deletion, and enable it";
  return `is in the state ${state}`;
}

const THROTTLED = /Throttl|TooManyRequests|RequestLimitExceeded|LimitExceededException|SlowDown/;
/** Errors that AWS KMS calls retriable, and that are not a 5xx: DependencyTimeout, KeyUnavailable, KMSInternal. */
const PASSING = /^(DependencyTimeout|KeyUnavailable|KMSInternal)/;

function failureOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 0;
  const kind = (): SignerFailure => {
    if (status === 429 || THROTTLED.test(name)) return "throttled";
    if (status >= 500 || PASSING.test(name)) return "unreachable";
    // It has answered, or there are no credentials to ask with.
    return status >= 400 || name === "CredentialsProviderError" ? "denied" : "unreachable";
  };
  return signerFailed(kind(), `${name}: ${message}`);
}

/** Limits the bytes of every answer: the client reads a whole answer, however long it is. */
function bound(client: KMSClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { body?: Readable } | undefined;
      if (response?.body) response.body = bounded(response.body);
      return result;
    },
    { step: "deserialize", priority: "low", name: "boundedAnswer" },
  );
}

function bounded(body: Readable): Readable {
  let left = MAX_ANSWER_BYTES;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new RangeError(`an answer of more than ${MAX_ANSWER_BYTES} bytes`));
      else done(null, chunk);
    },
  });
  // The reader of `limit` gets the error.
  return pipeline(body, limit, () => undefined);
}
