import { NAME } from "../../catalogue/about.ts";
import type { Catalogue, Endpoint } from "../../catalogue/catalogue.ts";
import type { PaymentOption } from "../../payment/payment-option.ts";
import { introduction, links, type Site, uriTemplate } from "./site.ts";

/**
 * `/llms.txt`: the index for language models, and the only document that lists every way to pay. The convention's parser
 * requires prose before the first H2, and only links in sections (llmstxt.org).
 */
export function llms(catalogue: Catalogue, site: Site): string {
  const endpoints = Object.values(catalogue);
  const tools = endpoints.flatMap(({ tool }) => tool?.name ?? []).join(", ");
  const list = (wanted: (endpoint: Endpoint) => boolean) => endpoints.filter(wanted).map((one) => entry(one, site));
  return [
    `# ${NAME}`,
    "",
    `> ${introduction(site)}`,
    "",
    "A bundle proves that this attestor signed exactly these bytes, that they have this transaction id or block hash, and that their hash was recorded on the ledger in this round. It does not prove that a payment was wanted, lawful or irreversible. A bundle's own key proves nothing: compare it with the key history.",
    "",
    "To pay: by x402, version 2, scheme exact, in USDC, per call. No account, no API key.",
    "",
    "1. Send the request without a payment. The answer is 402; its header PAYMENT-REQUIRED (base64 of JSON) lists the offers under `accepts`.",
    "2. Sign exactly one of them, with any x402 v2 client.",
    "3. Send the same request again with the header PAYMENT-SIGNATURE (base64 of JSON).",
    "4. The answer is 200 with the bundle; PAYMENT-RESPONSE is the receipt of the settlement.",
    "",
    "The same payment sent again returns the same bytes and costs nothing. Only a 402 means that it is safe to sign a new payment; if its `error` says that yours may still be taken, send yours again until it has expired. After 503 with `retry.sameHeader`, wait for Retry-After and send the same PAYMENT-SIGNATURE again. A 400, 404, 409 or 503 before payment is not charged.",
    "",
    `A payment may stay valid for up to ${site.paymentLifeSeconds} s. It is refused, with the reason, if it stays valid for longer, costs its fee payer more, or is not in the form of scheme exact.`,
    "",
    "Ways to pay:",
    "",
    ...site.options.map(way),
    "",
    ...site.sources.map(
      ({ chain, options }) =>
        `- A source on ${chain} can be paid on ${options.map(({ network }) => network).join(" or ")}.`,
    ),
    "",
    `POST /attest-batch attests up to ${site.batch.maxItems} transactions for one payment: the price of a call, and ${site.batch.itemUsdc} USDC for each. A rail is offered that can pay for every source in it.`,
    "",
    "## Paid",
    "",
    ...list(({ access }) => access === "paid"),
    "",
    "## Free",
    "",
    ...list(({ access, tag }) => access === "free" && tag !== "documents"),
    "",
    "## Agents",
    "",
    `- [MCP](${site.mcpUrl}): streamable HTTP; tools ${tools}. Unpaid, a paid tool answers with the offers; the payment goes into \`_meta["x402/payment"]\`.`,
    `- [A2A](${links(site).a2a}): JSON-RPC, version 0.3.0; a paid skill becomes a task in \`input-required\`, which a message with the payment continues.`,
    "",
    "## Documents",
    "",
    ...list(({ tag }) => tag === "documents"),
    "",
  ].join("\n");
}

function entry({ method, path, summary }: Endpoint, { origin }: Site): string {
  const template = uriTemplate(path);
  return `- [${method} ${template}](${origin}${template}): ${summary}.`;
}

function way({ network, asset, payTo, maxAmountRequired, priceUsdc, facilitatorUrl }: PaymentOption): string {
  return `- ${network}: asset ${asset}, payTo ${payTo}, amount ${maxAmountRequired} micro-USDC (${priceUsdc} USDC), facilitator ${facilitatorUrl}`;
}
