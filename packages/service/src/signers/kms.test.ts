import { createPublicKey, verify } from "node:crypto";
import { utf8 } from "@attestd/proof/encoding";
import { ed25519 } from "@noble/curves/ed25519.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { AWS } from "../../test/fakes/kms/aws.ts";
import { type FakeKey, type Fault, type KeyKind, publicKeyOf } from "../../test/fakes/kms/keys.ts";
import { type FakeKms, startKms } from "../../test/fakes/kms/server.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import { awsKmsPlace } from "./aws-kms.ts";
import { googleKmsPlace } from "./google-kms.ts";
import type { KeyPlace, KeyUse } from "./signer.ts";

const RING = "projects/attestd-test/locations/europe-west3/keyRings/attestd/cryptoKeys";
/** Each provider with the ids of its two keys, its place, and its names for the three operations. */
const PROVIDERS = {
  "AWS KMS": {
    ids: { pq: "1234abcd-12ab-34cd-56ef-1234567890ab", account: "0987dcba-09fe-87dc-65ba-ab0987654321" },
    place: (_kms: FakeKms, id: string) => awsKmsPlace(id),
    operations: ["DescribeKey", "GetPublicKey", "Sign"],
    checksums: [] as Fault[],
    wrong: { "p-256": /^attestor.kms_key: .* is ECC_NIST_P256 for SIGN_VERIFY\. .*--key-spec ML_DSA_65/ },
  },
  "Google Cloud KMS": {
    ids: { pq: `${RING}/bundles/cryptoKeyVersions/1`, account: `${RING}/account/cryptoKeyVersions/3` },
    place: (kms: FakeKms, id: string) => googleKmsPlace(id, kms.url),
    operations: ["GetCryptoKeyVersion", "GetPublicKey", "AsymmetricSign"],
    checksums: ["damaged", "unchecked"] as Fault[],
    wrong: {
      "p-256": /^attestor.kms_key: .* is EC_SIGN_P256_SHA256\. .*pq-sign-ml-dsa-65-external-mu/,
      "ml-dsa-65-whole-messages": /is PQ_SIGN_ML_DSA_65\. .*pq-sign-ml-dsa-65-external-mu/,
    },
  },
};
const KINDS = { pq: "ml-dsa-65", account: "ed25519" } as const satisfies Record<KeyUse, KeyKind>;
const never = new AbortController().signal;

describe.each(Object.entries(PROVIDERS))("%s", (_name, { ids, place, operations, checksums, wrong }) => {
  let kms: FakeKms;
  let places: Record<KeyUse, KeyPlace>;

  const keyOf = (use: KeyUse) => kms.keys.get(ids[use]) as FakeKey;
  const open = (use: KeyUse) => places[use].open(use, never);
  /** All requests except those for a token. */
  const requests = () => kms.requests.filter((one) => one !== "metadata");

  // All tests share one client per key, because making Google's takes most of a second.
  beforeAll(async () => {
    kms = await startKms([]);
    useFake(kms.url);
    places = { pq: place(kms, ids.pq), account: place(kms, ids.account) };
  });

  beforeEach(() => {
    kms.requests.length = 0;
    for (const [index, use] of (["pq", "account"] as const).entries()) {
      const seed = new Uint8Array(32).fill(index + 1);
      kms.keys.set(ids[use], { id: ids[use], kind: KINDS[use], seed, state: "enabled" });
    }
  });

  afterAll(async () => {
    await Promise.all(Object.values(places).map((one) => one.close()));
    await kms.close();
    vi.unstubAllEnvs();
  });

  test("signs bundles of any length, and transactions, with one request each", async () => {
    const pq = await open("pq");
    const account = await open("account");
    expect(pq.publicKey).toEqual(publicKeyOf(keyOf("pq")));
    expect(account.publicKey).toEqual(publicKeyOf(keyOf("account")));
    expect(requests()).toEqual([...operations.slice(0, 2), ...operations.slice(0, 2)]);
    kms.requests.length = 0;

    for (const length of [1, 4_097, 200_000]) {
      const message = new Uint8Array(length).fill(5);
      const signature = await pq.sign(message, never);
      expect(nativeCrypto.mldsa65.verify(pq.publicKey, message, signature)).toBe(true);
    }
    const transaction = utf8("TX and its msgpack");
    const signature = await account.sign(transaction, never);
    const key = createPublicKey({ key: account.publicKey, format: "raw-public", asymmetricKeyType: "ed25519" });
    expect(verify(null, transaction, key, signature)).toBe(true);
    expect(requests()).toEqual(new Array(4).fill(operations[2]));
  });

  test.each<[Fault, string]>([
    ["throttled", "throttled"],
    ["internal", "unreachable"],
    ["unavailable", "unreachable"],
    ["reset", "unreachable"],
    ["endless", "unreachable"],
    ["not-json", "unreachable"],
    ["denied", "denied"],
    ["renamed", "wrong"],
  ])("asks once where it is %s, and says %s", async (fault, failure) => {
    const key = await open("pq");
    kms.requests.length = 0;
    kms.faults.push(fault);
    const error = await errorOf(key.sign(utf8("message"), never));
    expect(error).toMatchObject({ code: "signer_failed", details: { failure } });
    expect(requests()).toEqual([operations[2]]);
    // The next request may succeed: a failure is not remembered.
    expect(await key.sign(utf8("message"), never)).toHaveLength(3309);
  });

  test("leaves a request that gets no answer", async () => {
    const key = await open("account");
    kms.faults.push("silent");
    const leaving = new AbortController();
    const answer = errorOf(key.sign(utf8("message"), leaving.signal));
    await vi.waitFor(() => expect(requests().at(-1)).toBe(operations[2]));
    leaving.abort(new Error("left"));
    expect(await answer).toBeInstanceOf(Error);
  });

  test.each(["disabled", "pending-deletion"] as const)("does not open a key that is %s", async (state) => {
    keyOf("account").state = state;
    const error = await errorOf(open("account"));
    expect(error).toMatchObject({ code: "signer_failed", details: { failure: "denied" } });
    expect(error.message).toMatch(state === "disabled" ? /is disabled: enable it/ : /will be (deleted|destroyed)/);
  });

  test("says denied of a key that is disabled while it signs", async () => {
    const key = await open("pq");
    keyOf("pq").state = "disabled";
    const error = await errorOf(key.sign(utf8("message"), never));
    expect(error).toMatchObject({ code: "signer_failed", details: { failure: "denied" } });
    expect(error.message).toMatch(/disabled/i);
  });

  test.each(Object.entries(wrong))(
    "names a key that is %s by its setting, with the command",
    async (kind, sentence) => {
      keyOf("pq").kind = kind as KeyKind;
      const error = await errorOf(open("pq"));
      expect(error).toMatchObject({ code: "config_invalid" });
      expect(error.message).toMatch(sentence);
    },
  );

  test("names the account's key by its own setting", async () => {
    keyOf("account").kind = "ml-dsa-65";
    expect((await errorOf(open("account"))).message).toMatch(/^attestor.kms_account_key: /);
  });

  test.each(checksums)("throws an answer away whose checksum is %s (CRC32C)", async (fault) => {
    const key = await open("account");
    kms.faults.push(fault);
    const error = await errorOf(key.sign(utf8("message"), never));
    expect(error).toMatchObject({ code: "signer_failed", details: { failure: "unreachable" } });
    expect(error.message).toContain("CRC32C");
  });

  test("does not open a key that is not there", async () => {
    kms.keys.delete(ids.pq);
    const error = await errorOf(open("pq"));
    expect(error).toMatchObject({ code: "signer_failed", details: { failure: "denied" } });
    expect(error.message).toMatch(/does not exist|not found/);
  });
});

test("AWS KMS signs with the key that an alias meant when it was opened", async () => {
  const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
  const [first, second] = seeds.map(
    (seed, index): FakeKey => ({
      id: `0000000${index}-0000-0000-0000-000000000000`,
      kind: "ed25519",
      seed,
      state: "enabled",
    }),
  ) as [FakeKey, FakeKey];
  first.alias = "alias/attestd-account";
  const kms = await startKms([first, second]);
  useFake(kms.url);
  const place = awsKmsPlace("alias/attestd-account");
  const key = await place.open("account", never);
  delete first.alias;
  second.alias = "alias/attestd-account";
  const message = utf8("TX and its msgpack");
  expect(ed25519.verify(await key.sign(message, never), message, publicKeyOf(first))).toBe(true);
  await place.close();
  await kms.close();
  vi.unstubAllEnvs();
});

function errorOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => Promise.reject(new Error("it resolved")),
    (error: Error) => error,
  );
}

/** Sets what an operator sets for the clients themselves. */
function useFake(url: string): void {
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", url);
  vi.stubEnv("AWS_REGION", AWS.region);
  vi.stubEnv("AWS_ACCESS_KEY_ID", AWS.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", AWS.secretAccessKey);
  vi.stubEnv("GCE_METADATA_HOST", new URL(url).host);
  vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
}
