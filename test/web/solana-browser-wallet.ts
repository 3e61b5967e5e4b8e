import type { Sandbox } from "@attestd/sandbox";
import {
  compileTransaction,
  createKeyPairSignerFromBytes,
  decompileTransactionMessage,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  signBytes,
} from "@solana/kit";
import type { BrowserContext } from "playwright-core";
import { expose, type InjectedWallet, newWallet, type PageEvents, signing } from "./injected-wallet.ts";

export type SolanaBrowserWallet = InjectedWallet & {
  /** Changes the instructions before it signs, as Phantom does. */
  alter: (instructions: readonly Instruction[]) => readonly Instruction[];
};

/** Puts a wallet that registers by Wallet Standard into every page of a context. It signs with the sandbox payer's key. */
export async function injectSolanaWallet(context: BrowserContext, sandbox: Sandbox): Promise<SolanaBrowserWallet> {
  const secret = Buffer.from(sandbox.payers.solana?.secretKeyBase64 as string, "base64");
  const signer = await createKeyPairSignerFromBytes(secret);
  const wallet: SolanaBrowserWallet = { ...newWallet(), alter: (instructions) => instructions };
  let isConnected = false;
  await expose(context, "askSolana", wallet, async (method, params) => {
    if (method === "connect") {
      isConnected ||= !(params as { silent?: boolean } | undefined)?.silent;
      return isConnected ? [signer.address] : [];
    }
    const given = getTransactionDecoder().decode(getBase64Encoder().encode(params as string));
    const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(given.messageBytes));
    await signing(wallet, message);
    const instructions = wallet.alter(message.instructions);
    const altered = compileTransaction({ ...message, instructions } as typeof message);
    const { messageBytes } = instructions === message.instructions ? given : altered;
    const signature = await signBytes(signer.keyPair.privateKey, messageBytes);
    const signatures = { ...altered.signatures, [signer.address]: signature };
    return getBase64Decoder().decode(getTransactionEncoder().encode({ messageBytes, signatures } as never));
  });
  await context.addInitScript(() => {
    type Ask = (method: string, params?: unknown) => Promise<{ result?: never; error?: { message: string } }>;
    const page = globalThis as unknown as PageEvents & { askSolana: Ask };
    const ask = async (method: string, params?: unknown) => {
      const { result, error } = await page.askSolana(method, params);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    };
    const chains = ["solana:mainnet"];
    const wallet = {
      version: "1.0.0",
      name: "Phantom",
      icon: "data:image/svg+xml;base64,PHN2Zy8+",
      chains,
      accounts: [] as object[],
      features: {
        "standard:connect": {
          version: "1.0.0",
          async connect(input?: object) {
            const addresses = (await ask("connect", input)) as unknown as string[];
            const features = ["solana:signTransaction"];
            wallet.accounts = addresses.map((address) => ({
              address,
              publicKey: new Uint8Array(32),
              chains,
              features,
            }));
            return { accounts: wallet.accounts };
          },
        },
        "solana:signTransaction": {
          version: "1.0.0",
          supportedTransactionVersions: ["legacy", 0],
          async signTransaction({ transaction }: { transaction: Uint8Array & { toBase64(): string } }) {
            const signed = (await ask("signTransaction", transaction.toBase64())) as unknown as string;
            const bytes = Uint8Array as unknown as { fromBase64(text: string): Uint8Array };
            return [{ signedTransaction: bytes.fromBase64(signed) }];
          },
        },
      },
    };
    type Api = { register(wallet: object): void };
    const register = (api: Api) => api.register(wallet);
    page.addEventListener("wallet-standard:app-ready", ({ detail }) => register(detail));
    page.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  });
  return wallet;
}
