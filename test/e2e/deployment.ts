import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AlgorandClient } from "@algorandfoundation/algokit-utils/algorand-client";
import { type Sandbox, type SandboxOptions, startSandbox } from "@attestd/sandbox";
import { type Observe, type PageFile, type RunningService, type Seams, startService } from "@attestd/service";
import { toClientAvmSigner } from "@x402/avm";
import { ExactAvmScheme } from "@x402/avm/exact/client";
import { x402Client } from "@x402/core/client";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import algosdk from "algosdk";
import { sandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { oneAMillisecond } from "../../packages/client/src/clock.ts";
import { type Settings, type Table, withOver } from "../../packages/service/test/settings.ts";
import { sandboxSettings } from "../helpers/sandbox-settings.ts";
import { createContractCheck } from "./contract.ts";

/** A sandbox and a service on it, in this process, with the settings that an operator would use. */
export type Deployment = {
  sandbox: Sandbox;
  /** Of the running service. */
  settings: Settings;
  /** Origin of the running service. */
  url: string;
  /** Origin of the listener for its operator, where `admin.port` is set. */
  adminUrl: string | undefined;
  /** Stops the service and starts it again on the same journal, with other settings and variables. */
  restart(over?: Table, variables?: Settings["variables"]): Promise<void>;
  /** Stops only the service. */
  stopService(): Promise<void>;
  /** @throws Error when any answer of the service did not follow its OpenAPI document */
  close(): Promise<void>;
};

/**
 * Starts a sandbox and a service. Every answer of the service is checked against its OpenAPI document.
 *
 * @param over settings that replace the sandbox's own
 * @param more.page the page for people, which most tests do not need
 * @param more.observe sees every answer
 * @param more.log takes the lines of the service's log; standard output, unless given
 */
export async function startDeployment(
  options: Partial<SandboxOptions> = {},
  over: Table = {},
  more: Seams & { page?: readonly PageFile[]; observe?: Observe; log?: { write(line: string): void } } = {},
): Promise<Deployment> {
  const dir = await mkdtemp(join(tmpdir(), "attestd-deployment-"));
  const sandbox = await startSandbox({ roundMs: 200, ...options });
  let settings = await sandboxSettings(sandbox, sandboxFolder(dir), { log_level: "fatal", ...over });
  const faults = new Set<string>();
  async function start(): Promise<RunningService> {
    const check = createContractCheck((fault) => faults.add(fault));
    const observe: Observe = (...answered) => {
      more.observe?.(...answered);
      return check.observe(...answered);
    };
    const started = await startService(settings, { sandbox: true, ...more, observe });
    await check.readDocument(started.url);
    return started;
  }
  let service: RunningService = await start();
  return {
    sandbox,
    get settings() {
      return settings;
    },
    get url() {
      return service.url;
    },
    get adminUrl() {
      return service.adminUrl;
    },
    async restart(changes = {}, variables = {}) {
      await service.close();
      settings = withOver(settings, changes, variables);
      service = await start();
    },
    stopService: () => service.close(),
    async close() {
      await service.close();
      await sandbox.close();
      await rm(dir, { recursive: true });
      if (faults.size > 0)
        throw new Error(
          `The OpenAPI document of the service does not describe its answers:\n${[...faults].join("\n")}`,
        );
    },
  };
}

/** Rounds for which a payment is valid: the stock ten pass in two seconds, too short for a busy machine. */
const VALIDITY_WINDOW = 60;

/** The sandbox's Algorand payer as a stock x402 client. */
export function algorandClient({ algorand, payers }: Sandbox): x402Client {
  const account = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  const signer = toClientAvmSigner(Buffer.from(account.sk).toString("base64"));
  return algorandClientOf(new ExactAvmScheme(signer, patient(algorand.networkUrl)));
}

/** A stock client that signs at most one payment in a millisecond, so that no two are the same. */
export function algorandClientOf(scheme: ExactAvmScheme): x402Client {
  const sign = scheme.createPaymentPayload.bind(scheme);
  scheme.createPaymentPayload = (...given) => oneAMillisecond(() => sign(...given));
  return new x402Client().register("algorand:*", scheme);
}

/** Options of the stock scheme with which payments are valid for longer. */
export function patient(algodUrl: string): { algorandClient: AlgorandClient } {
  const { port } = new URL(algodUrl);
  const client = AlgorandClient.fromConfig({ algodConfig: { server: algodUrl, port, token: "" } });
  return { algorandClient: client.setDefaultValidityWindow(VALIDITY_WINDOW) };
}

export type Answer = { status: number; headers: Headers; text: string; json: Record<string, unknown> };

/** Posts JSON; a string is sent unchanged. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith("{") ? JSON.parse(text) : {},
  };
}

/** Requests the offers and signs one, as a stock client does. */
export async function sign(url: string, body: unknown, client: x402Client): Promise<PaymentPayload> {
  const { headers } = await post(url, body);
  const required: PaymentRequired = decodePaymentRequiredHeader(headers.get("payment-required") as string);
  return client.createPaymentPayload(required);
}

/** Sends a request with its signed payment. */
export function pay(url: string, body: unknown, payment: PaymentPayload): Promise<Answer> {
  return post(url, body, { "payment-signature": encodePaymentSignatureHeader(payment) });
}

/** `pay`, repeated while the answer is 503: on a slow machine an upstream may answer too late. */
export async function payUntilAnswered(url: string, body: unknown, payment: PaymentPayload): Promise<Answer> {
  for (;;) {
    const answer = await pay(url, body, payment);
    if (answer.status !== 503) return answer;
  }
}
