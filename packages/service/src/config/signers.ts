import { isAlgorandAddress } from "@attestd/proof/algorand";
import { z } from "zod";
import { orReport, type SettingFaults, type Values } from "./faults.ts";
import { origin } from "./formats.ts";
import { seedOfMnemonic } from "./mnemonic.ts";

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

const mnemonic = z
  .string()
  .transform((text, { addIssue }) => orReport(() => seedOfMnemonic(text), addIssue) ?? z.NEVER);

/** The settings of the attestor's keys: who signs, and what each kind of signer needs. */
export const SignerVariables = z.object({
  ATTESTOR_SIGNER: kind.default("seed"),
  ATTESTOR_ACCOUNT_SIGNER: kind.optional(),
  ATTESTOR_PQ_SEED: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 32 bytes in hex")
    .transform((hex) => Uint8Array.fromHex(hex))
    .optional(),
  ATTESTOR_MNEMONIC: mnemonic.optional(),
  ATTESTOR_FALCON_MNEMONIC: mnemonic.optional(),
  ATTESTOR_ADDRESS: z.string().refine(isAlgorandAddress, "must be an Algorand address").optional(),
  ATTESTOR_SIGNER_SOCKET: z
    .string()
    // The kernel's limit for the address of a Unix socket, on Linux and macOS.
    .regex(/^\/.{1,102}$/, "must be the absolute path of a socket, of at most 103 bytes")
    .optional(),
  ATTESTOR_KMS_KEY: kmsKey.optional(),
  ATTESTOR_KMS_ACCOUNT_KEY: kmsKey.optional(),
  ATTESTOR_GOOGLE_KMS_ENDPOINT: origin.optional(),
});

type Variables = z.output<typeof SignerVariables>;
type SignerKind = Variables["ATTESTOR_SIGNER"];

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
  pq: needs("ATTESTOR_PQ_SEED", "ATTESTOR_KMS_KEY"),
  account: needs("ATTESTOR_MNEMONIC", "ATTESTOR_KMS_ACCOUNT_KEY"),
};
/** What a kind may also use. */
const MAY_USE: Partial<Record<SignerKind, keyof Variables>> = { "google-kms": "ATTESTOR_GOOGLE_KMS_ENDPOINT" };

function needs<V extends keyof Variables>(seed: keyof Variables, kmsKey: V) {
  return { seed, socket: "ATTESTOR_SIGNER_SOCKET", "aws-kms": kmsKey, "google-kms": kmsKey } as const;
}

/** Kinds that take both keys or none: what they sign for one names the other. */
const BOTH_OR_NONE: readonly SignerKind[] = ["socket"];

/** Whether a setting is required where no kind of signer is set. */
export function isRequiredByDefault(name: string): boolean {
  return Object.values(NEEDS).some(({ seed }) => seed === name);
}

/**
 * Reads who signs: what the chosen kinds need is set, and what other kinds need is not.
 *
 * @param right the settings that are not at fault
 * @param keyFaults gets what the chosen kinds lack, and may be `faults`
 * @returns undefined when there is a fault
 */
export function readSigners(
  right: { [V in keyof Variables]?: Variables[V] | undefined },
  values: Values,
  faults: SettingFaults,
  keyFaults: SettingFaults,
): { pq: KeySettings; account: KeySettings } | undefined {
  const isAtFault = (name: keyof Variables) => values[name] !== undefined && right[name] === undefined;
  if (isAtFault("ATTESTOR_SIGNER") || isAtFault("ATTESTOR_ACCOUNT_SIGNER")) return undefined;
  const { ATTESTOR_SIGNER: pq = "seed", ATTESTOR_ACCOUNT_SIGNER: account = pq } = right;
  // Which of the two mnemonics is set says what the account's key is.
  const isFalcon = values.ATTESTOR_FALCON_MNEMONIC !== undefined && account === "seed";
  if (isFalcon && values.ATTESTOR_MNEMONIC !== undefined)
    faults.add(
      "ATTESTOR_FALCON_MNEMONIC",
      "ATTESTOR_FALCON_MNEMONIC and ATTESTOR_MNEMONIC contradict each other: the account has one key. Remove one of the two.",
    );
  const mnemonics = isFalcon ? (["ATTESTOR_FALCON_MNEMONIC", "ATTESTOR_MNEMONIC"] as const) : [];
  const needed = [NEEDS.pq[pq], isFalcon ? "ATTESTOR_FALCON_MNEMONIC" : NEEDS.account[account]] as const;
  const used = [...needed, ...mnemonics, MAY_USE[pq], MAY_USE[account]];
  const all = [...Object.values(NEEDS), MAY_USE].flatMap((kinds) => Object.values(kinds));
  all.push("ATTESTOR_FALCON_MNEMONIC");
  const chosen = `ATTESTOR_SIGNER=${pq}${account === pq ? "" : ` and ATTESTOR_ACCOUNT_SIGNER=${account}`}`;
  for (const name of needed) if (values[name] === undefined) keyFaults.add(name, `${name} is not set.`);
  for (const name of new Set(all))
    if (values[name] !== undefined && !used.includes(name))
      faults.add(name, `${name} is set, and ${chosen} does not use it: remove it, or choose another signer.`);
  const [alone] = account === pq ? [] : [pq, account].filter((one) => BOTH_OR_NONE.includes(one));
  if (alone !== undefined)
    faults.add(
      "ATTESTOR_ACCOUNT_SIGNER",
      `${chosen} contradict each other: ${alone} signs with both keys or with none.`,
    );
  const none = { kind: "none", faults: keyFaults.sentences } as const;
  return { pq: settingsOf("pq", pq) ?? none, account: settingsOf("account", account) ?? none };

  function settingsOf(use: "pq" | "account", kind: SignerKind): KeySettings | undefined {
    const ofAccount = isFalcon ? right.ATTESTOR_FALCON_MNEMONIC : right.ATTESTOR_MNEMONIC;
    const seed = use === "pq" ? right.ATTESTOR_PQ_SEED : ofAccount;
    const algorithm = use === "pq" ? "ml-dsa-65" : isFalcon ? "falcon-1024" : "ed25519";
    const path = right.ATTESTOR_SIGNER_SOCKET;
    const name = NEEDS[use]["aws-kms"];
    const id = right[name];
    switch (kind) {
      case "seed":
        return seed && { kind, seed, algorithm };
      case "socket":
        return path === undefined ? undefined : { kind, path };
      case "aws-kms":
      case "google-kms":
        if (id === undefined) return undefined;
        if ((kind === "google-kms") !== GOOGLE_KEY.test(id)) {
          const other = kind === "aws-kms" ? "google-kms" : "aws-kms";
          faults.add(name, `${name} names a key as ${other} does, and the signer is ${kind}: correct one of the two.`);
          return undefined;
        }
        return kind === "aws-kms" ? { kind, id } : { kind, id, endpoint: right.ATTESTOR_GOOGLE_KMS_ENDPOINT };
    }
  }
}
