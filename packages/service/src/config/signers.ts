import { z } from "zod";
import type { SettingFaults, Values } from "./faults.ts";
import { seedOfMnemonic } from "./mnemonic.ts";

const KINDS = ["seed", "socket"] as const;
const kind = z.enum(KINDS, `must be one of ${KINDS.join(", ")}`);

/** The settings of the attestor's keys: who signs, and what each kind of signer needs. */
export const SignerVariables = z.object({
  ATTESTOR_SIGNER: kind.default("seed"),
  ATTESTOR_ACCOUNT_SIGNER: kind.optional(),
  ATTESTOR_PQ_SEED: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 32 bytes in hex")
    .transform((hex) => Uint8Array.fromHex(hex))
    .optional(),
  ATTESTOR_MNEMONIC: z
    .string()
    .transform((text, { addIssue }) => {
      try {
        return seedOfMnemonic(text);
      } catch (error) {
        addIssue((error as RangeError).message);
        return z.NEVER;
      }
    })
    .optional(),
  ATTESTOR_SIGNER_SOCKET: z
    .string()
    // The kernel's limit for the address of a Unix socket, on Linux and macOS.
    .regex(/^\/.{1,102}$/, "must be the absolute path of a socket, of at most 103 bytes")
    .optional(),
});

type Variables = z.output<typeof SignerVariables>;
type SignerKind = Variables["ATTESTOR_SIGNER"];

/** Who signs with a key. */
export type KeySettings =
  /** This process. */
  | { kind: "seed"; seed: Uint8Array }
  /** `attestd signer`, on the Unix socket of this path. */
  | { kind: "socket"; path: string };

/** What each kind needs for a key. */
const NEEDS: Record<"pq" | "account", Record<SignerKind, readonly (keyof Variables)[]>> = {
  pq: { seed: ["ATTESTOR_PQ_SEED"], socket: ["ATTESTOR_SIGNER_SOCKET"] },
  account: { seed: ["ATTESTOR_MNEMONIC"], socket: ["ATTESTOR_SIGNER_SOCKET"] },
};

/** Kinds that take both keys or none: what they sign for one names the other. */
const BOTH_OR_NONE: readonly SignerKind[] = ["socket"];

/** Whether a setting is required where no kind of signer is set. */
export function isRequiredByDefault(name: string): boolean {
  return Object.values(NEEDS).some(({ seed }) => seed.some((needed) => needed === name));
}

/**
 * Reads who signs: what the chosen kinds need is set, and what other kinds need is not.
 *
 * @param right the settings that are not at fault
 * @returns undefined when there is a fault
 */
export function readSigners(
  right: { [V in keyof Variables]?: Variables[V] | undefined },
  values: Values,
  faults: SettingFaults,
): { pq: KeySettings; account: KeySettings } | undefined {
  const isAtFault = (name: keyof Variables) => values[name] !== undefined && right[name] === undefined;
  if (isAtFault("ATTESTOR_SIGNER") || isAtFault("ATTESTOR_ACCOUNT_SIGNER")) return undefined;
  const { ATTESTOR_SIGNER: pq = "seed", ATTESTOR_ACCOUNT_SIGNER: account = pq } = right;
  const needed = [...NEEDS.pq[pq], ...NEEDS.account[account]];
  const others = Object.values(NEEDS).flatMap((kinds) => Object.values(kinds).flat());
  const chosen = `ATTESTOR_SIGNER=${pq}${account === pq ? "" : ` and ATTESTOR_ACCOUNT_SIGNER=${account}`}`;
  for (const name of needed) if (values[name] === undefined) faults.add(name, `${name} is not set.`);
  for (const name of new Set(others))
    if (values[name] !== undefined && !needed.includes(name))
      faults.add(name, `${name} is set, and ${chosen} does not use it: remove it, or choose another signer.`);
  const [alone] = account === pq ? [] : [pq, account].filter((one) => BOTH_OR_NONE.includes(one));
  if (alone !== undefined)
    faults.add(
      "ATTESTOR_ACCOUNT_SIGNER",
      `${chosen} contradict each other: ${alone} signs with both keys or with none.`,
    );
  const settings = {
    pq: settingsOf(pq, right.ATTESTOR_PQ_SEED),
    account: settingsOf(account, right.ATTESTOR_MNEMONIC),
  };
  return settings.pq && settings.account && { pq: settings.pq, account: settings.account };

  function settingsOf(kind: SignerKind, seed: Uint8Array | undefined): KeySettings | undefined {
    switch (kind) {
      case "seed":
        return seed && { kind, seed };
      case "socket":
        return right.ATTESTOR_SIGNER_SOCKET === undefined ? undefined : { kind, path: right.ATTESTOR_SIGNER_SOCKET };
    }
  }
}
