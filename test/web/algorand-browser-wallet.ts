import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import type { BrowserContext } from "playwright-core";
import { expose, type InjectedWallet, newWallet, type PageEvents, signing } from "./injected-wallet.ts";

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
      case "sign_transactions": {
        const { txns } = params as Asked;
        const group = txns.map(({ txn }) => algosdk.decodeUnsignedTransaction(Buffer.from(txn, "base64")));
        await signing(wallet, group);
        const sign = (txn: algosdk.Transaction, signers: readonly string[] | undefined) =>
          signers?.length === 0 ? null : Buffer.from(txn.signTxn(sk)).toString("base64");
        return { providerId: PROVIDER_ID, stxns: group.map((txn, i) => sign(txn, txns[i]?.signers)) };
      }
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
