import { excerpt } from "@attestd/proof/text";
import { z } from "zod";
import { CATALOGUE } from "../../catalogue/catalogue.ts";
import { algorandChain } from "../../chains/algorand/chain-kind.ts";
import type { Config } from "../../config/config.ts";
import { away, type Finding, fail, ok, warning } from "../../health/finding.ts";
import { hasCode } from "../../lib/errors.ts";
import { exchangeWith } from "../../providers/exchange.ts";

const History = z.object({ keys: z.array(z.object({ kid: z.string() })).min(1) });
const Required = z.object({ resource: z.object({ url: z.string() }), accepts: z.array(z.unknown()) });

const LIMIT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/** As long as the header of the largest payments. */
const LONG_HEADER = "A".repeat(12_000);
const STALE_PROXY = [502, 503, 504];

/**
 * Checks that the public URL leads to this service, and that the proxy passes what a sale needs: the offer's header, a
 * long payment, `Host`. An unpaid request costs nothing.
 * @param kid of the configured key
 * @param isServed whether the service runs on this host now
 */
export async function checkPublicUrl(
  { publicUrl, mcpUrl }: Config,
  { kid, isServed, signal }: { kid: string; isServed: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  if (publicUrl === undefined) return [];
  const start = "Start the service, and examine it again";
  const ask = requestsTo(publicUrl, signal);
  const missing = (why: string) =>
    isServed
      ? [away(`public_url: ${publicUrl} ${why}. Check DNS, the firewall and the proxy.`)]
      : [warning(`public_url: ${publicUrl} ${why}, and no service runs here. ${start}.`)];

  const { answer: history, what } = await ask("GET", "/.well-known/attestor-keys.json");
  if (!history || STALE_PROXY.includes(history.status)) return missing(what);
  if (history.status >= 300 && history.status < 400)
    return [fail(`public_url: ${publicUrl} redirects. Name the URL that it leads to: payments follow no redirect.`)];
  const keys = History.safeParse(jsonOf(history.body)).data?.keys;
  if (!keys) return missing(`${what}, and is not attestd`);
  if (keys.at(-1)?.kid !== kid)
    return [
      fail(`public_url: ${publicUrl} leads to another attestor, with the key ${excerpt(keys.at(-1)?.kid ?? "")}.`),
    ];

  const findings: Finding[] = [];
  const body = JSON.stringify(algorandChain.examples.attest);
  const { path } = CATALOGUE.attest;
  const offered = await ask("POST", path, body);
  const offer = offered.answer?.status === 402 ? offered.answer : undefined;
  const named = offer && Required.safeParse(jsonOf(offer.body)).data;
  if (!named) {
    const lack = `${offered.what} instead of an offer (402)`;
    findings.push(fail(`public_url: ${publicUrl}${path} ${lack}. Check the proxy, and /ready.`));
  } else if (named.resource.url !== `${publicUrl}${path}`)
    findings.push(
      fail(`public_url: the running service offers ${excerpt(named.resource.url)}. Restart it with these settings.`),
    );
  if (offer && offer.offer === undefined)
    findings.push(fail(`public_url: the proxy removes the header PAYMENT-REQUIRED. Let it pass all headers.`));
  const long = await ask("POST", path, body, { "payment-signature": LONG_HEADER });
  if (!long.answer || ![400, 402].includes(long.answer.status)) {
    const remedy = "Let it pass headers of 16 KB (docs/proxies)";
    findings.push(fail(`public_url: with a payment of 12 KB the proxy ${long.what}. ${remedy}.`));
  }
  const { answer: mcp } = await ask("POST", "/mcp", PING, { accept: "application/json, text/event-stream" });
  if (!mcp || mcp.status === 403) {
    const remedy = `Let the proxy pass Host unchanged${mcpUrl === undefined ? "" : ", or correct mcp_url"}`;
    findings.push(fail(`public_url: ${publicUrl}/mcp refuses its own name. ${remedy}.`));
  }
  return findings.length > 0 ? findings : [ok(`public_url: ${publicUrl} leads here, with headers intact.`)];
}

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** @returns a function that requests, and a predicate of what the origin does */
function requestsTo(origin: string, signal: AbortSignal) {
  const send = exchangeWith(origin);
  return async (method: "GET" | "POST", path: string, body?: string, headers: Record<string, string> = {}) => {
    const all = { ...(body !== undefined && { "content-type": "application/json" }), ...headers };
    try {
      const answer = await send({ method, path, headers: all, body, maxBytes: MAX_BYTES, limitMs: LIMIT_MS }, signal);
      return { answer, what: `answers HTTP ${answer.status}` };
    } catch (error) {
      if (!hasCode(error, "upstream_unanswered")) throw error;
      return { what: error.message };
    }
  };
}

/** Parses a body's JSON; undefined if it is not JSON. */
export function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}
