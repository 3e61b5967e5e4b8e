import { hash } from "node:crypto";
import { RAILS } from "@attestd/proof/rails";
import type { SettleResponse } from "@x402/core/types";
import { jsonRpcClient } from "../jsonrpc.ts";
import type { Operation } from "./behaviour.ts";
import { payaiKey } from "./credentials.ts";
import {
  type Dialect,
  type FacilitatorRequest,
  type Fault,
  IN_FLIGHT,
  STATUS,
  settles,
  stockDialect,
} from "./dialect.ts";
import { expectAlive, expectMember, expectNames, readToken, TokenRefused } from "./jwt.ts";

const REASONS: Record<Fault, string> = {
  malformed: "invalid_payload",
  unauthorized: "unauthorized",
  exhausted: "free_tier_exhausted",
  limited: "rate_limited",
  failing: "unexpected_error",
};
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The answer of its edge, before the facilitator sees a request. */
const EDGE = "<html><head><title>429 Too Many Requests</title></head><body><center>nginx</center></body></html>";

/**
 * PayAI's facilitator, as PayAINetwork/docs (`authentication.mdx`, `capacity-and-limits.mdx`) and its OpenAPI document
 * of 2026-09-10 describe it. A JWT is optional, but must be valid if sent. Errors of verify and settle have the members
 * of their answers. A settlement is idempotent for a payment, and answered 409 while it is in flight. On Solana
 * `/supported` adds a recent blockhash. Keys are only Ed25519, and a token may be used again while it is valid.
 * @param solanaRpcUrl of the node that gives the blockhashes
 */
export function payaiDialect(solanaRpcUrl: string | undefined): Dialect {
  const { credentials, tokenKey } = payaiKey();
  return {
    ...stockDialect,
    credentials: [credentials],
    readsBodyFirst: (operation) => operation === "verify",
    authenticate({ authorization }) {
      if (authorization === undefined) return;
      const { header, claims, key } = readToken(authorization, [tokenKey]);
      expectNames(header, "header", ["alg", "typ", "kid"]);
      expectNames(claims, "claims", ["sub", "iss", "iat", "exp", "jti"]);
      expectMember(claims, "claims", "sub", key.keyId);
      expectMember(claims, "claims", "iss", "payai-merchant");
      expectAlive(claims, Math.floor(Date.now() / 1000));
      if (typeof claims.jti !== "string" || !UUID_V4.test(claims.jti))
        throw new TokenRefused("claims.jti is not a UUID of version 4");
    },
    objection({ requirements }) {
      return settles("payai", requirements.network) ? undefined : `unsupported network ${requirements.network}`;
    },
    fault,
    settle: idempotent(),
    // A Base transaction is known from its broadcast; Solana's may be unknown when the time to answer is over.
    namesPending: (network) => network !== RAILS.solana.network,
    async supported(facilitator) {
      const supported = facilitator.getSupported();
      const hint = solanaRpcUrl === undefined ? {} : await latestBlockhash(solanaRpcUrl);
      const kinds = supported.kinds.map((kind) =>
        kind.network === RAILS.solana.network ? { ...kind, extra: { ...kind.extra, ...hint } } : kind,
      );
      return { ...supported, kinds };
    },
  };
}

function fault(operation: Operation, kind: Fault, message: string): Response {
  const status = STATUS[kind];
  if (kind === "limited") return new Response(EDGE, { status, headers: { "content-type": "text/html" } });
  const reason = REASONS[kind];
  const bodies: Record<Operation, object> = {
    verify: { isValid: false, invalidReason: reason, invalidMessage: message },
    settle: { success: false, errorReason: reason, errorMessage: message, transaction: "", network: "", payer: "" },
    // RFC 9457, as its OpenAPI document states for everything else.
    supported: { type: "about:blank", title: reason, status, detail: message },
  };
  return Response.json(bodies[operation], { status });
}

/** Settles each payment once: a repeated request gets the recorded outcome. */
function idempotent(): Dialect["settle"] {
  const outcomes = new Map<string, SettleResponse | typeof IN_FLIGHT>();
  return async (request, run) => {
    const key = keyOf(request);
    const known = outcomes.get(key);
    if (known !== undefined) return known;
    outcomes.set(key, IN_FLIGHT);
    try {
      const outcome = await run();
      outcomes.set(key, outcome);
      return outcome;
    } catch (error) {
      outcomes.delete(key);
      throw error;
    }
  };
}

function keyOf({ payload, requirements }: FacilitatorRequest): string {
  return hash("sha256", JSON.stringify([payload.payload, requirements]));
}

/** Reads a blockhash. The height is a decimal string, as in the recorded answer of 2026-09-10. */
async function latestBlockhash(rpcUrl: string): Promise<{ recentBlockhash: string; lastValidBlockHeight: string }> {
  const { value } = (await jsonRpcClient(rpcUrl)("getLatestBlockhash", [])) as {
    value: { blockhash: string; lastValidBlockHeight: number };
  };
  return { recentBlockhash: value.blockhash, lastValidBlockHeight: String(value.lastValidBlockHeight) };
}
