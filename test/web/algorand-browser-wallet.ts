import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import type { BrowserContext } from "playwright-core";
import { expose, type InjectedWallet, newWallet, type PageEvents, signing } from "./injected-wallet.ts";

/**
 * Serves lute.app to a context: a wallet that is a site, in a window that talks with the page which opened it (lute-connect,
 * README). It signs with the sandbox payer's key, by algosdk.
 */
export async function serveLute(context: BrowserContext, sandbox: Sandbox): Promise<InjectedWallet> {
  const { sk, addr } = algosdk.mnemonicToSecretKey(sandbox.payers.algorand.mnemonic);
  const wallet = newWallet();
  await expose(context, "askLute", wallet, async (method, params) => {
    if (method === "connect") {
      if (params !== sandbox.genesisId) throw { message: "Unknown network" };
      return [String(addr)];
    }
    return signGroup(wallet, sk, params as Asked["txns"]).catch(() => {
      throw { code: 4100, message: "User Rejected Request" };
    });
  });
  const script = `addEventListener("message", async ({ data: { action, genesisID, txns } }) => {
    const isConnecting = action === "network";
    const { result, error } = await askLute(isConnecting ? "connect" : "sign", isConnecting ? genesisID : txns);
    if (error) opener.postMessage({ action: "error", ...error }, "*");
    else if (isConnecting) opener.postMessage({ action: "connect", addrs: result }, "*");
    else opener.postMessage({ action: "signed", txns: result.map((one) => one && Uint8Array.fromBase64(one)) }, "*");
    close();
  });
  opener.postMessage({ action: "ready" }, "*");`;
  await context.route("https://lute.app/**", (route) =>
    route.fulfill({ contentType: "text/html", body: `<!doctype html><title>Lute</title><script>${script}</script>` }),
  );
  return wallet;
}

/** Signs what the page wants signed. @returns base64, null for each transaction of somebody else's */
async function signGroup(wallet: InjectedWallet, key: Uint8Array, txns: Asked["txns"]): Promise<(string | null)[]> {
  const group = txns.map(({ txn }) => algosdk.decodeUnsignedTransaction(Buffer.from(txn, "base64")));
  await signing(wallet, group);
  return group.map((txn, i) =>
    txns[i]?.signers?.length === 0 ? null : Buffer.from(txn.signTxn(key)).toString("base64"),
  );
}

/** What a page asks to be signed (ARC-1). */
type Asked = { txns: readonly { txn: string; signers?: readonly string[] }[] };

/** Kibisis, as use-wallet names it. */
const PROVIDER_ID = "f6d1c86b-4493-42fb-b88d-a62407b4cdf6";

export type AlgorandBrowserWallet = InjectedWallet & {
  /** Genesis hashes of the ledgers that it knows. */
  ledgers: string[];
};

/** Puts an extension that speaks ARC-27 into every page of a context. It signs with the sandbox payer's key, by algosdk. */
export async function injectAlgorandWallet(context: BrowserContext, sandbox: Sandbox): Promise<AlgorandBrowserWallet> {
  const { sk, addr } = algosdk.mnemonicToSecretKey(sandbox.payers.algorand.mnemonic);
  const { genesisHash, genesisId } = sandbox;
  const wallet: AlgorandBrowserWallet = { ...newWallet(), ledgers: [genesisHash] };
  await expose(context, "askArc27", wallet, async (method, params) => {
    switch (method) {
      case "discover":
        return {
          name: "Kibisis",
          providerId: PROVIDER_ID,
          networks: wallet.ledgers.map((ledger) => ({ genesisHash: ledger, genesisId, methods: ["enable"] })),
        };
      case "enable":
        if ((params as { genesisHash: string }).genesisHash !== genesisHash)
          throw { code: 4004, message: "the network is not supported" };
        return { accounts: [{ address: String(addr) }], genesisHash, genesisId, providerId: PROVIDER_ID };
      case "sign_transactions":
        return { providerId: PROVIDER_ID, stxns: await signGroup(wallet, sk, (params as Asked).txns) };
      default:
        throw { code: 4003, message: `${method} is not supported` };
    }
  });
  await context.addInitScript((providerId) => {
    type Ask = (method: string, params: unknown) => Promise<object>;
    type Request = { id: string; params?: { providerId?: string } };
    const page = globalThis as unknown as PageEvents & { askArc27: Ask };
    for (const method of ["discover", "enable", "sign_transactions"])
      page.addEventListener(`arc0027:${method}:request`, async ({ detail }) => {
        const { id, params }: Request = detail;
        if (params?.providerId !== undefined && params.providerId !== providerId) return;
        const reference = `arc0027:${method}:response`;
        const answered = await page.askArc27(method, params ?? {});
        const answer = { id: crypto.randomUUID(), reference, requestId: id, ...answered };
        page.dispatchEvent(new CustomEvent(reference, { detail: JSON.stringify(answer) }));
      });
  }, PROVIDER_ID);
  return wallet;
}
