import type { IncomingMessage, ServerResponse } from "node:http";
import { startService } from "@attestd/service";
import type { PaymentPayload } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secret, settingsOf, withOver } from "../../packages/service/test/settings.ts";
import { startOtlpReceiver } from "../helpers/otlp-receiver.ts";
import { startReverseProxy } from "../helpers/reverse-proxy.ts";
import { leaksIn, type Secrets, secretsOf, secretsOfPayment } from "../helpers/secrets.ts";
import { type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { type RailName, railsOf } from "./rails.ts";

/* A busy run, after which no secret is in the log, an answer, a metric or a span: the upstreams repeat what they are told. */

const UPSTREAMS = ["algod", "indexer", "base", "solana", "facilitator"] as const;
type Upstream = (typeof UPSTREAMS)[number];
type Proxy = Awaited<ReturnType<typeof startReverseProxy>>;

const SECRETS = {
  algodToken: "algod-token-5f1e0c7a9b",
  indexerToken: "indexer-token-77c2d1e4",
  facilitator: "Bearer facilitator-secret-1a2b3c4d5e",
  headers: "authorization=Bearer%20receiver-secret-3e4f5a6b",
};
const AWAY = "postgres://us:db-password-e1f2a3b4@127.0.0.1:1/attestd";

let deployment: Deployment;
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
const proxies = {} as Record<Upstream, Proxy>;
let secrets: Secrets;
const payments = new Map<string, PaymentPayload>();
const log: string[] = [];
const answers: string[] = [];
/** What upstreams were told, headers and all. */
const told: string[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const targets = () => {
    const { algodUrl, indexerUrl, baseRpcUrl, solanaRpcUrl, facilitatorUrl } = deployment.sandbox;
    return {
      algod: algodUrl,
      indexer: indexerUrl,
      base: baseRpcUrl,
      solana: solanaRpcUrl,
      facilitator: facilitatorUrl,
    };
  };
  for (const name of UPSTREAMS) proxies[name] = await startReverseProxy(() => targets()[name] as string);
  deployment = await startDeployment(
    {},
    {},
    {
      log: { write: (line) => void log.push(line) },
      observe: (_, { headers, body }) => {
        const text = body instanceof Uint8Array ? Buffer.from(body).toString("latin1") : "";
        answers.push(`${JSON.stringify(headers)}\n${text}\n`);
      },
    },
  );
  const withUser = (url: string) => url.replace("//", "//base-user:base-password-0d9c8b@");
  const token = { algod: secret(SECRETS.algodToken), indexer: secret(SECRETS.indexerToken) };
  const kind = { kind: "header", secret: secret(SECRETS.facilitator) };
  await deployment.restart(
    {
      log_level: "trace",
      access_log: true,
      admin: { port: 0 },
      chains: {
        algorand: {
          algod: [{ url: proxies.algod.url, token: token.algod }],
          indexer: [{ url: proxies.indexer.url, token: token.indexer }],
        },
        base: { rpc: [secret(withUser(proxies.base.url))] },
        solana: { rpc: [`${proxies.solana.url}/?api-key=solana-query-key-4b5a6c7d`] },
      },
      facilitators: [{ url: proxies.facilitator.url, rails: ["algorand", "base", "solana"], ...kind }],
    },
    { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: SECRETS.headers },
  );
  secrets = secretsOf(deployment.settings);
});
afterAll(async () => {
  await deployment.close();
  await receiver[Symbol.asyncDispose]();
  for (const name of UPSTREAMS) await proxies[name][Symbol.asyncDispose]();
});

/** Everything that an upstream knows of us, in one text. */
const known = ({ headers, url }: IncomingMessage, body: Buffer) => `${url} ${Object.values(headers).join(" ")} ${body}`;

/** How an upstream may repeat what it was told. */
const ECHOES: Record<string, (told: string, incoming: IncomingMessage, outgoing: ServerResponse) => void> = {
  "as a text": (told, _, outgoing) => void outgoing.writeHead(200).end(told),
  "as a message": (message, _, outgoing) => void outgoing.writeHead(401).end(JSON.stringify({ message })),
  "as an error of JSON-RPC": (message, _, outgoing) =>
    void outgoing.writeHead(200).end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } })),
  "as a reason": (told, _, outgoing) => {
    const reasons = { invalidReason: told, invalidMessage: told, errorReason: told, errorMessage: told };
    outgoing.writeHead(200).end(JSON.stringify({ isValid: false, success: false, transaction: told, ...reasons }));
  },
  "as a page": (told, _, outgoing) => void outgoing.writeHead(502).end(`<html>${told.replaceAll("/", "\\/")}</html>`),
  "as a redirect": (told, _, outgoing) =>
    void outgoing.writeHead(307, { location: `https://other.example/?${encodeURIComponent(told)}` }).end(),
  "as a number": (told, _, outgoing) => void outgoing.writeHead(200).end(`{"last-round": ${told}}`),
  "as names of members": (told, _, outgoing) => void outgoing.writeHead(200).end(JSON.stringify({ [told]: told })),
  "as no HTTP": (told, incoming) => void incoming.socket.end(`HTTP/1.1 200 OK\r\n${told}\r\n\r\n`),
};

async function payment(rail: RailName): Promise<{ body: object; payment: PaymentPayload }> {
  const { base, algorand } = deployment.sandbox.sampleTransactions;
  const body = { txid: rail === "algorand" ? algorand : base };
  const signed = await sign(`${deployment.url}/attest`, body, (await railsOf(deployment.sandbox))[rail].client);
  payments.set(`the payment ${payments.size} on ${rail}`, signed);
  return { body, payment: signed };
}

describe("a busy run", () => {
  const RAILS = ["algorand", "base", "solana"] as const;

  test("of purchases on every rail", async () => {
    for (const rail of RAILS) {
      const { body, payment: signed } = await payment(rail);
      const bought = await pay(`${deployment.url}/attest`, body, signed);
      expect(bought.status, bought.text).toBe(200);
      expect((await post(`${deployment.url}/verify?chain=1`, bought.text)).status).toBe(200);
    }
  });

  test.each(UPSTREAMS)("and of a hostile %s, which repeats what it is told", async (upstream) => {
    const { url, sandbox } = deployment;
    const rail = upstream === "base" || upstream === "solana" ? upstream : "algorand";
    const forms = Object.values(ECHOES);
    const bought = await Promise.all(Array.from({ length: 3 }, () => payment(rail)));
    const before = told.length;
    const toldEnough = Promise.withResolvers<void>();
    proxies[upstream].meddling = {
      answer(incoming, outgoing, body) {
        const text = known(incoming, body);
        told.push(text);
        if (told.length === before + forms.length) toldEnough.resolve();
        forms[told.length % forms.length]?.(text, incoming, outgoing);
        return true;
      },
    };
    const answered = Promise.all([
      ...bought.map(({ body, payment: signed }) => pay(`${url}/attest`, body, signed)),
      ...["/ready", "/status", "/networks/algorand", "/networks/solana"].map((path) => fetch(url + path)),
      fetch(`${url}/networks/solana/balances/${sandbox.payers.solana?.address}`),
      fetch(`${url}/networks/algorand/balances/${sandbox.payers.algorand.address}`),
    ]);
    // Until it has repeated what it was told in every form. A paid call that waits for it is answered when it is itself again.
    await Promise.race([answered, toldEnough.promise]);
    expect(told.length).toBeGreaterThan(before);
    proxies[upstream].meddling = {};
    await answered;
  });

  test("and of a database that is away", async () => {
    const settings = withOver(deployment.settings, { journal: { url: secret(AWAY) } });
    const failure = await startService(settings, { sandbox: true, log: { write: (line) => void log.push(line) } }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).toContain("journal.url");
    log.push(`${failure?.stack}\n${JSON.stringify(failure)}`);
  });
});

test("leaves no secret in the log, the answers, the metrics and the spans", async () => {
  const metrics = await (await fetch(`${deployment.adminUrl}/metrics`)).text();
  await deployment.restart();
  const ours = new Map([...secrets, ...secretsOf(settingsOf({ journal: { url: secret(AWAY) } }))]);
  const theirs = new Map([...payments].flatMap(([name, signed]) => [...secretsOfPayment(name, signed)]));
  const spans = `${JSON.stringify(receiver.spans, (_, value) => (typeof value === "bigint" ? `${value}` : value))}${receiver.requests.map(({ body }) => body.toString("latin1")).join("")}`;
  const [logged, answered] = [log.join("\n"), answers.join("\n")];
  for (const text of [logged, answered, metrics, spans]) expect(text.length).toBeGreaterThan(1_000);
  expect(ours.size).toBeGreaterThan(9);
  // Each form was used, and what was repeated had secrets in it.
  expect(told.length).toBeGreaterThan(Object.keys(ECHOES).length);
  expect(leaksIn(told.join("\n"), ours).length).toBeGreaterThan(4);
  expect({
    log: leaksIn(logged, new Map([...ours, ...theirs])),
    answers: leaksIn(answered, ours),
    metrics: leaksIn(metrics, new Map([...ours, ...theirs])),
    spans: leaksIn(spans, new Map([...ours, ...theirs])),
  }).toEqual({ log: [], answers: [], metrics: [], spans: [] });
});
