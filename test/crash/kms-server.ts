import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { on, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { toHex } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { AWS } from "../../packages/service/test/fakes/kms/aws.ts";
import type { FakeKey } from "../../packages/service/test/fakes/kms/keys.ts";
import type { Table } from "../../packages/service/test/settings.ts";

export const PROVIDERS = ["aws", "google"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** What `kms-process.ts` is started with. */
export type KmsProcessOptions = {
  /** 0 picks a free one. */
  port: number;
  /** With seeds in hex. */
  keys: (Omit<FakeKey, "seed"> & { seed: string })[];
};

/** A fake KMS that can be killed. */
export type KmsProcess = {
  url: string;
  /** Makes it leave the nth request to sign from now on, counted from 1, without an answer. */
  arm(nth: number): Promise<{ /** Resolves when it has that request. */ silent: Promise<void> }>;
  /** Sends SIGKILL, and waits for its end. */
  kill(): Promise<void>;
};

export async function startKmsProcess(keys: readonly FakeKey[], port = 0): Promise<KmsProcess> {
  const options: KmsProcessOptions = { port, keys: keys.map((key) => ({ ...key, seed: toHex(key.seed) })) };
  const file = join(import.meta.dirname, "kms-process.ts");
  const child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = on(createInterface(child.stdout), "line");
  const line = async () => String((await lines.next()).value);
  const url = await Promise.race([line(), ended.then(() => Promise.reject(new Error("the fake KMS ended")))]);
  return {
    url,
    async arm(nth) {
      child.stdin.write(`${nth}\n`);
      await line();
      return { silent: line().then(() => undefined) };
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const RING = "projects/attestd-test/locations/europe-west3/keyRings/attestd/cryptoKeys";
const IDS = {
  aws: { pq: "1234abcd-12ab-34cd-56ef-1234567890ab", account: "0987dcba-09fe-87dc-65ba-ab0987654321" },
  google: { pq: `${RING}/bundles/cryptoKeyVersions/1`, account: `${RING}/account/cryptoKeyVersions/1` },
} as const;

/** The keys of an attestor in a fake KMS: a fresh one of ML-DSA-65, and its account's. @param mnemonic of the account */
export function keysOf(provider: Provider, mnemonic: string): { pq: FakeKey; account: FakeKey } {
  const account = algosdk.mnemonicToSecretKey(mnemonic).sk.slice(0, 32);
  const ids = IDS[provider];
  return {
    pq: { id: ids.pq, kind: "ml-dsa-65", seed: randomBytes(32), state: "enabled" },
    account: { id: ids.account, kind: "ed25519", seed: account, state: "enabled" },
  };
}

/** The table `[attestor]` of a service whose keys are in the KMS at `url`; undefined ones are removed. */
export function kmsSettings(provider: Provider, url: string): Table {
  return {
    mnemonic: undefined,
    pq_seed: undefined,
    signer: `${provider}-kms`,
    kms_key: IDS[provider].pq,
    kms_account_key: IDS[provider].account,
    google_kms_endpoint: provider === "google" ? url : undefined,
  };
}

/** What the providers' clients read from the environment. */
export function kmsEnvironment(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_KMS: url,
    AWS_REGION: AWS.region,
    AWS_ACCESS_KEY_ID: AWS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey,
    GCE_METADATA_HOST: new URL(url).host,
    METADATA_SERVER_DETECTION: "assume-present",
  };
}
