import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";

/** What the page's program is made of, as anybody would write it. */
const SHOP = `
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

/** A page of another origin than the service's, that buys with the stock client of x402 and nothing of ours. */
export interface Shop extends AsyncDisposable {
  url: string;
}

/** Its page has `buy(url, body, privateKey, headers)` and `ask(url, headers)`, both of which POST. */
export async function startShop(): Promise<Shop> {
  const { outputFiles } = await build({
    stdin: { contents: SHOP, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
  });
  const server = createServer((request, response) => {
    const isProgram = request.url === "/shop.js";
    response.setHeader("content-type", isProgram ? "text/javascript" : "text/html");
    response.end(isProgram ? outputFiles[0]?.contents : '<!doctype html><script src="/shop.js"></script>');
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
