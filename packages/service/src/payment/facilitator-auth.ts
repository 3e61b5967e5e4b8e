import { randomBytes, randomUUID } from "node:crypto";
import { toBase64Url, utf8 } from "@attestd/proof/encoding";
import { signToken, type TokenKey } from "../config/facilitator-keys.ts";
import type { FacilitatorSettings } from "../config/facilitators.ts";

/** The lifetime of a token in seconds: the most that CDP and PayAI allow. */
const TOKEN_LIFE = 120;
/**
 * Seconds by which a token is dated back. It is then also valid if the facilitator's clock is up to 30 s behind ours,
 * or up to 90 s ahead.
 */
const DATED_BACK = 30;

/**
 * Returns a function that makes a request's Authorization header; undefined if the facilitator needs none.
 * @param now Unix ms
 * @returns a function of the method and the path below the facilitator's URL
 */
export function facilitatorAuth({ url, auth }: FacilitatorSettings, now: () => number) {
  const { host, pathname } = new URL(url);
  const basePath = pathname.replace(/\/$/, "");

  return (method: "GET" | "POST", path: string): string | undefined => {
    if (auth.kind === "none") return undefined;
    if (auth.kind === "header") return auth.value;
    const { keyId: kid, key } = auth;
    const iat = Math.floor(now() / 1000) - DATED_BACK;
    const exp = iat + TOKEN_LIFE;
    if (auth.kind === "payai")
      return bearer(key, { kid }, { sub: kid, iss: "payai-merchant", iat, exp, jti: randomUUID() });
    const uris = [`${method} ${host}${basePath}${path}`];
    const header = { kid, nonce: randomBytes(16).toString("hex") };
    return bearer(key, header, { sub: kid, iss: "cdp", uris, iat, nbf: iat, exp });
  };
}

/** Makes a compact JSON Web Token (RFC 7515, 7519) as a Bearer credential. */
function bearer(key: TokenKey, header: object, claims: object): string {
  const parts = [{ alg: key.algorithm, typ: "JWT", ...header }, claims];
  const input = parts.map((part) => toBase64Url(utf8(JSON.stringify(part)))).join(".");
  return `Bearer ${input}.${toBase64Url(signToken(key, utf8(input)))}`;
}

/** The length below which a part of a credential is too common to be searched for, in characters. */
const MIN_SECRET = 6;

/** Removes a sent credential, or a part of it, from the other side's text. */
export function withoutCredential(text: string, credential: string | undefined): string {
  const parts = (credential === undefined ? [] : [credential, ...credential.split(/[\s:,]+/)])
    .filter((part) => part.length >= MIN_SECRET)
    .toSorted((a, b) => b.length - a.length);
  return parts.reduce((rest, part) => rest.replaceAll(part, "[credential]"), text);
}
