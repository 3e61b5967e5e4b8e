import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";

/** Source of the page's script. */
const SCRIPT = `
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

globalThis.buy = async (url, body, privateKey, headers) => {
  const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)));
  const answer = await wrapFetchWithPayment(fetch, wallet)(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, receipt: answer.headers.get("payment-response"), text: await answer.text() };
};
globalThis.ask = async (url, headers) => {
  const answer = await fetch(url, { method: "POST", headers });
  return { status: answer.status, code: (await answer.json()).code };
};
`;

/** A page of another origin than the service's, which buys with only x402's stock client. */
export interface ForeignPage extends AsyncDisposable {
  url: string;
}

/** Serves the page. It defines `buy(url, body, privateKey, headers)` and `ask(url, headers)`, which both POST. */
export async function startForeignPage(): Promise<ForeignPage> {
  const { outputFiles } = await build({
    stdin: { contents: SCRIPT, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
  });
  const server = createServer((request, response) => {
    const isScript = request.url === "/buy.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? outputFiles[0]?.contents : '<!doctype html><script src="/buy.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
