import type { Sandbox } from "@attestd/sandbox";
import {
  type Address,
  createSolanaRpc,
  type decompileTransactionMessage,
  generateKeyPairSigner,
  type Instruction,
} from "@solana/kit";
import algosdk from "algosdk";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Rail, type RailName, railsOf, usdcAccountOf } from "../e2e/rails.ts";
import { injectAlgorandWallet, serveLute } from "./algorand-browser-wallet.ts";
import { openPage, shown, stored } from "./browser.ts";
import type { InjectedWallet } from "./injected-wallet.ts";
import type { Site } from "./site.ts";
import { injectSolanaWallet } from "./solana-browser-wallet.ts";
import { onPayment, walletOf } from "./states.ts";

type Message = ReturnType<typeof decompileTransactionMessage>;

const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";

/** Purchases on Algorand and Solana. */
export function testOtherRails(site: () => Site): void {
  let rails: Record<RailName, Rail>;
  beforeAll(async () => {
    rails = await railsOf(site().deployment.sandbox);
  });

  const sample = (chain: "algorand" | "base") => site().deployment.sandbox.sampleTransactions[chain] as string;
  const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
  const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();

  async function ask(context: BrowserContext, txid: string): Promise<Page> {
    const page = await openPage(context, `${site().deployment.url}/#buy`);
    await page.getByLabel("Transaction").fill(txid);
    await press(page, "See the price");
    return page;
  }

  /** Connects, and signs. @returns what the page showed while the wallet was open */
  async function pay(page: Page, wallet: InjectedWallet, name: string): Promise<{ shown: string; seen: unknown }> {
    expect(wallet.asked).not.toContain("enable");
    await press(page, `Connect ${name}`);
    await page.getByRole("button", { name: "Sign and pay 0.001 USDC" }).waitFor();
    const found = { shown: "", seen: undefined as unknown };
    wallet.onSign = async (seen) => {
      found.shown = await shown(page.locator("main"));
      found.seen = seen;
      // Nothing was stored or sent before the wallet has signed.
      expect(await stored(page, "payments")).toEqual([]);
    };
    await press(page, "Sign and pay 0.001 USDC");
    return found;
  }

  test("an Algorand source is paid by an extension that speaks ARC-27, and by no other rail's wallet", async () => {
    const { sandbox } = site().deployment;
    const { context } = await walletOf(site());
    await injectSolanaWallet(context, sandbox);
    const wallet = await injectAlgorandWallet(context, sandbox);
    const before = await rails.algorand.received();
    const page = await ask(context, sample("algorand"));
    await press(page, "Kibisis on Algorand");
    const balance = await usdcOf(sandbox.payers.algorand.address);
    const signed = await pay(page, wallet, "Kibisis");
    await heading(page, "Bought and saved");
    expect(signed.shown).toContain("0.001 USDC on Algorand. No network fee.");
    expect(signed.shown).toMatch(/moves exactly 0\.001 USDC to that address, and is void from about \d/);
    expect(signed.shown.replace(/\s/g, "")).toContain(sandbox.payTo.algorand);
    expect(signed.shown).toContain(`${balance} USDC`);

    const [fee, payment] = signed.seen as algosdk.Transaction[];
    expect(payment?.assetTransfer).toMatchObject({ amount: 1000n, assetIndex: 31_566_704n });
    expect(String(payment?.assetTransfer?.receiver)).toBe(sandbox.payTo.algorand);
    expect([payment?.rekeyTo, payment?.assetTransfer?.closeRemainderTo, payment?.fee]).toEqual([
      undefined,
      undefined,
      0n,
    ]);
    expect(String(fee?.sender)).not.toBe(sandbox.payers.algorand.address);
    expect(wallet.signatures).toBe(1);
    expect(await rails.algorand.received()).toBe(before + 1000n);
  });

  test("a Base source is paid on Solana by a wallet that registers by Wallet Standard", async () => {
    const { sandbox } = site().deployment;
    const context = await site().newContext();
    const wallet = await injectSolanaWallet(context, sandbox);
    const before = await rails.solana.received();
    const page = await ask(context, sample("base"));
    await heading(page, "Review");
    // The wallet sets its own price of compute units.
    wallet.alter = (instructions) => instructions.map(dearer);
    const signed = await pay(page, wallet, "Phantom");
    await heading(page, "Bought and saved");
    expect(signed.shown).toContain("0.001 USDC on Solana. No network fee.");
    expect(signed.shown.replace(/\s/g, "")).toContain(sandbox.payTo.solana);
    expect(signed.shown).toContain(`${await usdcOnSolana(sandbox)} USDC`);
    const { instructions, feePayer } = signed.seen as Message;
    expect(instructions).toHaveLength(4);
    expect(feePayer.address).not.toBe(sandbox.payers.solana?.address);
    expect(await rails.solana.received()).toBe(before + 1000n);
  });

  test("the page says that a wallet changed its payment when that is why it was refused", async () => {
    const context = await site().newContext();
    const wallet = await injectSolanaWallet(context, site().deployment.sandbox);
    const before = await rails.solana.received();
    const page = await ask(context, sample("base"));
    wallet.alter = (instructions) => [...instructions, instructions.at(-1) as Instruction];
    await pay(page, wallet, "Phantom");
    await page.getByText("Your wallet changed the payment before it signed it, and so it was refused:").waitFor();
    expect(await shown(page.locator(".verdict"))).toContain(
      "several memos. The payment that you signed can be taken until",
    );
    expect(await stored(page, "payments")).toHaveLength(1);
    expect(await rails.solana.received()).toBe(before);
  });

  test.each([
    ["algorand", "Kibisis", injectAlgorandWallet],
    ["algorand", "Lute", serveLute],
    ["solana", "Phantom", injectSolanaWallet],
  ] as const)("declined on %s with %s, then signed, and continued after a reload: one payment", async (...given) => {
    const [rail, name, inject] = given;
    const { sandbox } = site().deployment;
    const context = await site().newContext();
    const isAlgorand = rail === "algorand";
    const wallet: InjectedWallet = await inject(context, sandbox);
    const before = await rails[rail].received();
    const page = await ask(context, sample(isAlgorand ? "algorand" : "base"));
    if (isAlgorand) await press(page, `${name} on Algorand`);
    wallet.declines = true;
    await pay(page, wallet, name);
    await page.getByText("You declined. Nothing was paid.").waitFor();
    expect(await stored(page, "payments")).toEqual([]);

    const sent = new Set<string>();
    let isDown = true;
    await onPayment(context, async (route) => {
      sent.add(route.request().headers()["payment-signature"] as string);
      await (isDown ? route.abort("internetdisconnected") : route.continue());
    });
    await press(page, "Sign and pay 0.001 USDC");
    await page.getByText("Still working. Don't pay again.").first().waitFor();
    isDown = false;
    await page.reload();
    await heading(page, "Bought and saved");
    expect({ signed: wallet.signatures, sent: sent.size }).toEqual({ signed: 1, sent: 1 });
    expect(await rails[rail].received()).toBe(before + 1000n);
  });

  test("a wallet of another ledger, one without USDC, and one with too little cannot sign", async () => {
    const context = await site().newContext();
    const wallet = await injectAlgorandWallet(context, site().deployment.sandbox);
    wallet.ledgers = ["wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8="];
    const page = await ask(context, sample("algorand"));
    await press(page, "Kibisis on Algorand");
    await page.getByText("This wallet doesn't know the ledger on which this site is paid.").waitFor();
    expect(await page.getByRole("button").allInnerTexts()).toEqual(["Another wallet", "Cancel"]);
    expect(await shown(page.locator("pre"))).toContain(`npx attestd attest ${sample("algorand")}`);

    wallet.ledgers = [site().deployment.sandbox.genesisHash];
    let usdc: string | null = null;
    await context.route("**/networks/*/balances/*", async (route) => {
      await route.fulfill({ json: { ...(await (await route.fetch()).json()), usdc } });
    });
    await page.reload();
    const review = async () => {
      await page.getByLabel("Transaction").fill(sample("algorand"));
      await press(page, "See the price");
      await press(page, "Kibisis on Algorand");
    };
    await review();
    await press(page, "Connect Kibisis");
    await page.getByText("This account has not opted in to USDC (asset 31566704)").waitFor();
    expect(await page.getByRole("button", { name: /^Sign/ }).count()).toBe(0);
    usdc = "400";
    await press(page, "Cancel");
    await review();
    await page.getByText("You have 0.0004 USDC on Algorand, and 0.001 is needed.").waitFor();
    expect(await page.getByRole("button", { name: /^Sign/ }).count()).toBe(0);
    expect(wallet.signatures).toBe(0);
  });

  test("the service says what an address has, and nothing of what is no address or has no help", async () => {
    const of = async (network: string, address: string) => {
      const answer = await fetch(`${site().deployment.url}/networks/${network}/balances/${address}`);
      return answer.ok ? ((await answer.json()) as { usdc: string | null }).usdc : answer.status;
    };
    const { algorand, base, solana } = rails;
    const strangers = [algosdk.generateAccount().addr.toString(), (await generateKeyPairSigner()).address] as const;
    expect(await of(algorand.network, strangers[0])).toBe(null);
    expect(await of(solana.network, strangers[1])).toBe(null);
    // A wrong checksum; bytes that are too few.
    expect(
      await of(
        algorand.network,
        strangers[0].replace(/^./, (first) => (first === "A" ? "B" : "A")),
      ),
    ).toBe(404);
    expect(await of(solana.network, "1".repeat(33))).toBe(404);
    expect(await of(base.network, base.payer)).toBe(404);
  });

  /** As the node says, in the page's spelling. */
  async function usdcOf(address: string): Promise<string> {
    const { algodUrl } = site().deployment.sandbox;
    const answer = await fetch(`${algodUrl}/v2/accounts/${address}/assets/31566704`);
    const { "asset-holding": holding } = (await answer.json()) as { "asset-holding": { amount: number } };
    return inPage(BigInt(holding.amount));
  }
}

/** The Solana payer's, after it paid: as the page showed it before. */
async function usdcOnSolana({ payers, solanaRpcUrl }: Sandbox): Promise<string> {
  const account = await usdcAccountOf(payers.solana?.address as Address);
  const { value } = await createSolanaRpc(solanaRpcUrl as string)
    .getTokenAccountBalance(account)
    .send();
  return inPage(BigInt(value.amount) + 1000n);
}

/** micro-USDC in the page's spelling. */
function inPage(micro: bigint): string {
  return (Number(micro) / 1e6).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 });
}

/** An instruction that offers two micro-lamports for a unit; any other as it is. */
function dearer(instruction: Instruction): Instruction {
  const { programAddress, data } = instruction;
  if (programAddress !== (COMPUTE_BUDGET as Address) || data?.[0] !== 3) return instruction;
  return { ...instruction, data: Uint8Array.of(3, 2, 0, 0, 0, 0, 0, 0, 0) };
}
