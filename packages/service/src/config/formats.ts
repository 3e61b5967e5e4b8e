import { encodeAddress, isAlgorandAddress } from "@attestd/proof/algorand";
import { isAddress as isEvmAddress } from "viem/utils";
import { z } from "zod";
import { orReference, Reference, secret } from "./references.ts";
import { isOnCurve, solanaAddressBytes } from "./solana-address.ts";
import { areDistinct } from "./url-spelling.ts";

// The formats of single settings. No message quotes a value: it may be a secret.

const url = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
  error: "must be an http or https URL, in quotation marks",
  abort: true,
});

/** One upstream node. */
export type UpstreamNode = { url: string; token?: string | undefined };

/** The value of a header that holds a secret. */
export const headerValue = z.string().regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, "must be one line of ASCII");

const node = z.preprocess(
  (value) => (typeof value === "string" || value instanceof Reference ? { url: value } : value),
  z.strictObject({
    url: orReference(url),
    token: secret.pipe(headerValue).optional(),
  }),
);

/** The nodes of a chain: URLs, or tables with URL and token. One that is there twice would count as two witnesses. */
export const nodes = z
  .array(node)
  .min(1, "must name a node")
  .refine((list) => areDistinct(list.map((one) => one.url)), "names a node twice");

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
}

/** A URL of scheme, host and port alone; it is published. */
export const origin = url
  .refine((text) => new URL(text).pathname === "/" && !/[?#]/.test(text), "must be an origin, without a path")
  .refine((text) => !hasCredentials(text), "is published, and must hold no credentials")
  .transform((text) => new URL(text).origin);

/** A URL that is published as it is, or shown more easily than a header. @param secret what holds a secret instead */
export function plainUrl(secret: string, because = "") {
  return url.refine(
    (text) => !hasCredentials(text) && !/[?#]/.test(text),
    `${because}must hold no credentials, query or fragment: ${secret} holds what is secret`,
  );
}

/** `name=value` pairs, comma-separated, values percent-encoded (OpenTelemetry, as W3C Baggage has them). */
export const pairs = z
  .string()
  .regex(
    /^\s*[\w.-]+\s*=[\x21-\x2b\x2d-\x7e ]*(,\s*[\w.-]+\s*=[\x21-\x2b\x2d-\x7e ]*)*$/,
    "must be name=value pairs, comma-separated, with %20 for a space and %2C for a comma",
  )
  .transform((text, { addIssue }) => {
    const entries = text.split(",").map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
    });
    try {
      const decoded = entries.map(([name, value]) => [name, decodeURIComponent(value)] as const);
      if (decoded.every(([, value]) => !/\p{Cc}/u.test(value))) return Object.fromEntries(decoded);
      addIssue("has a control character");
    } catch {
      addIssue("has a percent sign that encodes nothing: write %25");
    }
    return z.NEVER;
  });

/** A whole number between two others. */
export const whole = (from: number, to: number) =>
  z.int().min(from, `must be at least ${from}`).max(to, `must be at most ${to}`);

/** micro-USDC. */
export const price = whole(1, 1_000_000_000).transform(BigInt);

const NO_OWNER = "is the zero address, which has no owner";

/** 58 characters of base32, of which the last 4 bytes are a checksum. */
export const algorandAddress = z
  .string()
  .regex(/^[A-Z2-7]{58}$/, "must be an Algorand address of 58 characters")
  .refine(isAlgorandAddress, "has a wrong checksum: copy the address again")
  .refine((text) => text !== encodeAddress(new Uint8Array(32)), NO_OWNER);

/** 0x and 40 hex characters, whose capitals are a checksum (EIP-55) unless all are lower case. */
export const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex characters")
  .refine((text) => isEvmAddress(text), "has a wrong checksum in its capitals (EIP-55): copy the address again")
  .refine((text) => !/^0x0*$/.test(text), NO_OWNER);

/** Base58 of 32 bytes that may be the key of a wallet. */
export const solanaWallet = z
  .string()
  .refine((text) => solanaAddressBytes(text) !== undefined, "must be a Solana address: base58 of 32 bytes")
  .refine((text) => solanaAddressBytes(text)?.some((byte) => byte !== 0) ?? true, NO_OWNER)
  .refine((text) => {
    const bytes = solanaAddressBytes(text);
    return bytes === undefined || isOnCurve(bytes);
  }, "is not a wallet's: it belongs to a token account or a program (off the curve). Set the wallet that owns the token account");
