import { isAlgorandAddress } from "@attestd/proof/algorand";
import { z } from "zod";
import { orReport, type SettingFaults } from "./faults.ts";
import { origin } from "./formats.ts";
import { seedOfMnemonic } from "./mnemonic.ts";
import type { Read } from "./read.ts";
import { secret } from "./references.ts";
import type { Table } from "./settings-file.ts";

const KINDS = ["seed", "socket", "aws-kms", "google-kms"] as const;
const kind = z.enum(KINDS, `must be one of ${KINDS.join(", ")}`);

/** What AWS KMS calls a key: id (a UUID; `mrk-` and 32 hex characters in several regions), alias, or the ARN of either. */
const AWS_KEY =
  /^(arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/)?([0-9a-f-]{36}|mrk-[0-9a-f]{32})$|^(arn:aws[\w-]*:kms:[\w-]+:\d{12}:)?alias\/[\w/-]{1,250}$/;
/** What Cloud KMS calls a version of a key. */
const GOOGLE_KEY =
  /^projects\/[^/\s]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+\/cryptoKeyVersions\/\d+$/;
const kmsKey = z
  .string()
  .refine(
    (text) => AWS_KEY.test(text) || GOOGLE_KEY.test(text),
    "must be an id, alias or ARN of AWS KMS, or projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/N of Google",
  );

const mnemonic = secret.transform((text, { addIssue }) => orReport(() => seedOfMnemonic(text), addIssue) ?? z.NEVER);

/** The settings of the attestor's keys: who signs, and what each kind of signer needs. */
export const Attestor = z.strictObject({
  signer: kind
    .default("seed")
    .describe(
      "Who signs with the attestor's keys: `seed`, this process; `socket`, [`attestd signer`](../signer.md); `aws-kms` or `google-kms`, a [key management service](kms.md).",
    ),
  account_signer: kind.optional().meta({
    description: "Who signs the account's transactions, where that is another.",
    otherwise: "`attestor.signer`",
    example: "seed",
  }),
  pq_seed: secret
    .pipe(z.string().regex(/^[0-9a-fA-F]{64}$/, "must be 32 bytes in hex"))
    .transform((hex) => Uint8Array.fromHex(hex))
    .optional()
    .meta({
      description: `The ML-DSA-65 seed, 32 bytes in hex, as \`attestd keygen\` writes it; required with \`signer = "seed"\`.`,
      example: "file:attestor.pq-seed",
      isRequired: true,
    }),
  mnemonic: mnemonic.optional().meta({
    description: `25 words of the account that records, likewise; required with \`signer = "seed"\`, or the next.`,
    example: "file:attestor.mnemonic",
    isRequired: true,
  }),
  falcon_mnemonic: mnemonic.optional().meta({
    description: "Instead: 25 words of a Falcon-1024 key ([signer.md](../signer.md)).",
    otherwise: "none",
    example: "file:attestor.falcon-mnemonic",
  }),
  address: z.string().refine(isAlgorandAddress, "must be an Algorand address").optional().meta({
    description: "The account, where it is rekeyed to the key.",
    otherwise: "the key's own account",
  }),
  socket: z
    .string()
    // The kernel's limit for the address of a Unix socket, on Linux and macOS.
    .regex(/^\/.{1,102}$/, "must be the absolute path of a socket, of at most 103 bytes")
    .optional()
    .meta({
      description: `Path of the socket of \`attestd signer\`, for \`signer = "socket"\`.`,
      otherwise: "none",
      example: "/run/attestd-signer/signer.sock",
    }),
  kms_key: kmsKey.optional().meta({
    description:
      "The ML-DSA-65 key in AWS KMS (id, alias or ARN) or Google Cloud KMS (resource name of a key's version), for `aws-kms` or `google-kms`.",
    otherwise: "none",
    example: "alias/attestd-bundles",
  }),
  kms_account_key: kmsKey.optional().meta({
    description: "The account's key, likewise.",
    otherwise: "none",
    example: "alias/attestd-account",
  }),
  google_kms_endpoint: origin.optional().meta({
    description: "Origin of a regional or private endpoint of Cloud KMS.",
    otherwise: "`https://cloudkms.googleapis.com`",
    example: "https://cloudkms.example",
  }),
});

type Values = z.output<typeof Attestor>;
type SignerKind = Values["signer"];

/** Who signs with a key. */
export type KeySettings =
  /** This process. */
  | { kind: "seed"; seed: Uint8Array; algorithm: "ml-dsa-65" | "ed25519" | "falcon-1024" }
  /** `attestd signer`, on the Unix socket of this path. */
  | { kind: "socket"; path: string }
  /** AWS KMS. `id`: a key's id, alias or ARN. */
  | { kind: "aws-kms"; id: string }
  /** Google Cloud KMS. `id`: the resource name of a key's version; `endpoint`: an origin, if not Google's usual one. */
  | { kind: "google-kms"; id: string; endpoint: string | undefined }
  /** Nobody: the settings lack what the kind needs. `faults`: a sentence for each. */
  | { kind: "none"; faults: readonly string[] };

/** What each kind needs for a key. */
const NEEDS = {
  pq: needs("pq_seed", "kms_key"),
  account: needs("mnemonic", "kms_account_key"),
};
/** What a kind may also use. */
const MAY_USE: Partial<Record<SignerKind, keyof Values>> = { "google-kms": "google_kms_endpoint" };

function needs<V extends keyof Values>(seed: keyof Values, kmsKey: V) {
  return { seed, socket: "socket", "aws-kms": kmsKey, "google-kms": kmsKey } as const;
}

/** Kinds that take both keys or none: what they sign for one names the other. */
const BOTH_OR_NONE: readonly SignerKind[] = ["socket"];

/**
 * Reads who signs: what the chosen kinds need is set, and what other kinds need is not.
 *
 * @param given the table as it is written, in which a setting may be at fault
 * @param keyFaults gets what the chosen kinds lack, and may be `faults`
 * @returns undefined when there is a fault
 */
export function readSigners(
  read: Read<typeof Attestor>,
  given: Table,
  faults: SettingFaults,
  keyFaults: SettingFaults,
): { pq: KeySettings; account: KeySettings } | undefined {
  const isAtFault = (name: keyof Values) => given[name] !== undefined && read[name] === undefined;
  if (isAtFault("signer") || isAtFault("account_signer")) return undefined;
  const { signer: pq = "seed", account_signer: account = pq } = read;
  // Which of the two mnemonics is set says what the account's key is.
  const isFalcon = given.falcon_mnemonic !== undefined && account === "seed";
  if (isFalcon && given.mnemonic !== undefined)
    faults.add(
      "attestor.falcon_mnemonic and attestor.mnemonic contradict each other: the account has one key. Remove one of the two.",
    );
  const mnemonics = isFalcon ? (["falcon_mnemonic", "mnemonic"] as const) : [];
  const needed = [NEEDS.pq[pq], isFalcon ? "falcon_mnemonic" : NEEDS.account[account]] as const;
  const used = [...needed, ...mnemonics, MAY_USE[pq], MAY_USE[account]];
  const all = [...Object.values(NEEDS), MAY_USE].flatMap((kinds) => Object.values(kinds));
  all.push("falcon_mnemonic");
  const chosen = `attestor.signer = "${pq}"${account === pq ? "" : ` and attestor.account_signer = "${account}"`}`;
  for (const name of needed) if (given[name] === undefined) keyFaults.add(`attestor.${name} is not set.`);
  for (const name of new Set(all))
    if (given[name] !== undefined && !used.includes(name))
      faults.add(`attestor.${name} is set, and ${chosen} does not use it: remove it, or choose another signer.`);
  const [alone] = account === pq ? [] : [pq, account].filter((one) => BOTH_OR_NONE.includes(one));
  if (alone !== undefined) faults.add(`${chosen} contradict each other: ${alone} signs with both keys or with none.`);
  const none = { kind: "none", faults: keyFaults.sentences } as const;
  return { pq: keyOf("pq", pq) ?? none, account: keyOf("account", account) ?? none };

  function keyOf(use: "pq" | "account", kind: SignerKind): KeySettings | undefined {
    const ofAccount = isFalcon ? read.falcon_mnemonic : read.mnemonic;
    const seed = use === "pq" ? read.pq_seed : ofAccount;
    const algorithm = use === "pq" ? "ml-dsa-65" : isFalcon ? "falcon-1024" : "ed25519";
    const name = NEEDS[use]["aws-kms"];
    const id = read[name];
    switch (kind) {
      case "seed":
        return seed && { kind, seed, algorithm };
      case "socket":
        return read.socket === undefined ? undefined : { kind, path: read.socket };
      case "aws-kms":
      case "google-kms":
        if (id === undefined) return undefined;
        if ((kind === "google-kms") !== GOOGLE_KEY.test(id)) {
          const other = kind === "aws-kms" ? "google-kms" : "aws-kms";
          faults.add(
            `attestor.${name} names a key as ${other} does, and the signer is ${kind}: correct one of the two.`,
          );
          return undefined;
        }
        return kind === "aws-kms" ? { kind, id } : { kind, id, endpoint: read.google_kms_endpoint };
    }
  }
}
