import type { SettleResponse } from "@x402/core/types";
import { type ApiKey, cdpEd25519Key, cdpP256Key } from "./credentials.ts";
import { type Asked, type Dialect, type Fault, STATUS, settles, stockDialect } from "./dialect.ts";
import { expectAlive, expectMember, expectNames, readToken, TokenRefused } from "./jwt.ts";

/** The path prefix of an operation's URL, as in `https://api.cdp.coinbase.com/platform/v2/x402/settle`. */
const CDP_PATH = "/platform/v2/x402";
/** x402-foundation/x402#2832: a longer one is refused, though x402 has no limit. */
const MAX_DESCRIPTION = 500;
/** `ErrorType` of @coinbase/cdp-sdk 1.57.0. */
const ERROR_TYPES: Record<Fault, string> = {
  malformed: "invalid_request",
  unauthorized: "unauthorized",
  exhausted: "forbidden",
  limited: "rate_limit_exceeded",
  failing: "internal_server_error",
};
const NONCE = /^[0-9a-f]{32}$/;

/**
 * Coinbase's facilitator, as the schemas and the signer of @coinbase/cdp-sdk 1.57.0 describe it: every operation needs
 * a JWT that is bound to its method, host and path and valid for two minutes; errors are `{errorType, errorMessage}`;
 * there is no Algorand. It accepts a nonce only once, which is stricter than what is known about the real one.
 * @param host of its URL, with the port
 * @param now Unix ms
 * @param keys default: new ones
 */
export function cdpDialect(
  host: () => string,
  now: () => number,
  keys: readonly ApiKey[] = [cdpEd25519Key(), cdpP256Key()],
): Dialect {
  const tokenKeys = keys.map(({ tokenKey }) => tokenKey);
  const nonces = rememberNonces();
  return {
    ...stockDialect,
    path: CDP_PATH,
    credentials: keys.map(({ credentials }) => credentials),
    authenticate({ method, path, authorization }: Asked) {
      if (authorization === undefined) throw new TokenRefused("the Authorization header is missing");
      const { header, claims, key } = readToken(authorization, tokenKeys);
      expectNames(header, "header", ["alg", "kid", "typ", "nonce"]);
      expectNames(claims, "claims", ["sub", "iss", "uris", "iat", "nbf", "exp"]);
      expectMember(claims, "claims", "sub", key.keyId);
      expectMember(claims, "claims", "iss", "cdp");
      const uri = `${method} ${host()}${path}`;
      const { uris, exp } = claims;
      if (!Array.isArray(uris) || uris.length !== 1 || uris[0] !== uri)
        throw new TokenRefused(`claims.uris is not ["${uri}"]`);
      const seconds = Math.floor(now() / 1000);
      expectAlive(claims, seconds);
      const { nonce } = header;
      if (typeof nonce !== "string" || !NONCE.test(nonce)) throw new TokenRefused("header.nonce is not 32 hex digits");
      if (!nonces.takes(nonce, Number(exp), seconds)) throw new TokenRefused("header.nonce was used before");
    },
    objection({ payload, requirements }) {
      const { description } = payload.resource ?? {};
      if (typeof description === "string" && description.length > MAX_DESCRIPTION)
        return `'paymentPayload.resource.description' must not be longer than ${MAX_DESCRIPTION} characters.`;
      return settles("cdp", requirements.network) ? undefined : `'${requirements.network}' is not a supported network.`;
    },
    fault: (_, fault, message) =>
      Response.json({ errorType: ERROR_TYPES[fault], errorMessage: message }, { status: STATUS[fault] }),
    settled: (outcome) => (outcome.success ? Response.json(outcome) : rejected(outcome)),
  };
}

/** Makes an `X402SettlePaymentRejection`, an error's answer: its `transaction`, if there is one, is never empty. */
function rejected({ transaction, ...outcome }: SettleResponse): Response {
  return Response.json({ ...outcome, ...(transaction && { transaction }) }, { status: 400 });
}

/** Remembers nonces of tokens that are still valid. */
function rememberNonces() {
  const expiries = new Map<string, number>();
  return {
    /** @param exp of its token. @returns false when the nonce was taken before */
    takes(nonce: string, exp: number, now: number): boolean {
      for (const [known, expiry] of expiries) if (expiry <= now) expiries.delete(known);
      if (expiries.has(nonce)) return false;
      expiries.set(nonce, exp);
      return true;
    },
  };
}
