import { setTimeout } from "node:timers/promises";
import { type Sandbox, startSandbox } from "@attestd/sandbox";
import { startService } from "@attestd/service";
import { type Meddling, startReverseProxy } from "../../../test/helpers/reverse-proxy.ts";
import { sandboxSettings } from "../../../test/helpers/sandbox-settings.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { settingsFileOf, type Table, withOver } from "../../service/test/settings.ts";
import { sandboxFolder } from "../src/trust/sandbox-folder.ts";

const JSON_HEADERS = { "content-type": "application/json" };

/** A sandbox and a service on it, with a proxy before the service, before each kind of node and before a facilitator. */
export type ExaminedDeployment = Awaited<ReturnType<typeof startExaminedDeployment>>;

export async function startExaminedDeployment() {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder());
  const requests: string[] = [];
  const sandbox = await startSandbox({
    roundMs: 200,
    facilitators: ["cdp"],
    onRequest: ({ server, method, url }) => requests.push(`${server} ${method} ${url}`),
  });
  starting.defer(() => sandbox.close());
  const { algodUrl, baseRpcUrl = "", solanaRpcUrl = "", facilitatorUrl } = sandbox;
  let serviceUrl = "";
  const proxied = async (target: () => string) => starting.use(await startReverseProxy(target));
  const proxies = {
    service: await proxied(() => serviceUrl),
    algod: await proxied(() => algodUrl),
    base: await proxied(() => baseRpcUrl),
    solana: await proxied(() => solanaRpcUrl),
    facilitator: await proxied(() => facilitatorUrl),
  };
  const paths = sandboxFolder(folder.path);
  const usually = { public_url: proxies.service.url, log_level: "silent" };
  // It does without the proxies: what they do to the command must not close its sales.
  const direct = await sandboxSettings(sandbox, paths, usually);
  const service = await startService(direct, { sandbox: true });
  starting.defer(() => service.close());
  serviceUrl = service.url;
  const facilitators = direct.tables.facilitators as Table[];
  const { tables: settings } = withOver(direct, {
    port: Number(new URL(serviceUrl).port),
    chains: {
      algorand: { algod: [proxies.algod.url] },
      base: { rpc: [proxies.base.url] },
      solana: { rpc: [proxies.solana.url] },
    },
    facilitators: facilitators.map((own) =>
      own.url === facilitatorUrl ? { ...own, url: proxies.facilitator.url } : own,
    ),
  });
  settingsFileOf(settings, paths.settings);

  const { behaviour } = sandbox.algorand;
  const usual = { ...behaviour };
  const running = starting.move();
  return {
    path: folder.path,
    sandbox,
    /** Those of the file that `attestd sandbox` would write, but for the proxies. */
    settings,
    /** To the sandbox's servers, as `algod GET /v2/status`. */
    requests,
    meddle(name: keyof typeof proxies, meddling: Meddling): undefined {
      proxies[name].meddling = meddling;
    },
    behave(changes: Partial<Sandbox["algorand"]["behaviour"]>): undefined {
      Object.assign(behaviour, changes);
    },
    /** Ends all meddling. Resolves once the service sells: it has seen what nodes did, too. */
    async reset(): Promise<void> {
      for (const proxy of Object.values(proxies)) proxy.meddling = {};
      Object.assign(behaviour, usual);
      const body = JSON.stringify({ txid: sandbox.sampleTransactions.algorand });
      const ask = () => fetch(`${serviceUrl}/attest`, { method: "POST", headers: JSON_HEADERS, body });
      while ((await ask()).status !== 402) await setTimeout(50);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export function jsonAnswer(status: number, value: object): Meddling {
  return {
    answer(_, outgoing) {
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
      return true;
    },
  };
}

/** A node that answers one method of JSON-RPC by itself. */
export function rpcAnswer(method: string, answer: object): Meddling {
  return {
    answer(_, outgoing, body) {
      const { id, method: asked } = JSON.parse(body.toString());
      if (asked !== method) return false;
      const value = { jsonrpc: "2.0", id, ...answer };
      outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      return true;
    },
  };
}
