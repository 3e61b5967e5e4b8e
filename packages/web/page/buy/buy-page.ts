import { AttestError, type StoredPayment } from "@attestd/client";
import { inferChain } from "@attestd/proof";
import { BUY, type StepName, stepOf } from "../../src/purchase-words.ts";
import { busy } from "../dom.ts";
import type { Site } from "../site.ts";
import { askPrice, finish, type Quote, type SavedBundle, signAndKeep, txidOf } from "./purchase.ts";
import { type Actions, buyView, clockTime, type Review, type State } from "./views.ts";
import {
  addBase,
  connect,
  findWallets,
  isOnBase,
  knownAccount,
  type Provider,
  switchToBase,
  tokenBalance,
  WalletRefusal,
} from "./wallet.ts";

export type BuyPage = ReturnType<typeof createBuyPage>;

export function createBuyPage(site: Site) {
  let state: State = { name: "ask", txid: "" };
  let isOpen = false;
  const actions: Actions = {
    quote: (text, pressed) => void quote(text, pressed),
    open(bundle) {
      state = { name: "ask", txid: "" };
      site.openBundle(bundle);
    },
    connect: (review, provider) => void attempt(review, provider, connect),
    switchToBase: (review) => void attempt(review, review.provider, switchToBase),
    addBase: (review) => void attempt(review, review.provider, addBase),
    sign: (review, pressed) => void pay(review, pressed),
    carryOn: (kept) => void carryOn(kept, false),
    startOver: () => void enter({ name: "ask", txid: "" }),
  };

  return {
    open(focus: boolean) {
      isOpen = true;
      void render(focus);
      addEventListener("hashchange", () => (isOpen = false), { once: true });
    },
    /** Continues the payments of earlier visits, one after another. */
    async resume(kept: readonly StoredPayment[]) {
      for (const payment of kept) await carryOn(payment, true);
    },
  };

  async function enter(next: State, focus = true): Promise<void> {
    state = next;
    if (isOpen) await render(focus);
  }

  async function render(focus: boolean): Promise<void> {
    const shown = state;
    if (shown.name === "ask") shown.saved = (await site.storage?.all<SavedBundle>("bundles").catch(() => [])) ?? [];
    if (shown === state && isOpen) site.show(buyView(shown, actions), focus);
  }

  async function quote(text: string, pressed: HTMLButtonElement): Promise<void> {
    const txid = text.trim().startsWith("0x") ? text.trim().toLowerCase() : text.trim();
    const chain = inferChain(txid)?.name;
    if (chain === undefined) return enter({ name: "ask", txid: text, trouble: BUY.notAnId });
    if (chain === "algorand") return enter({ name: "ask", txid, trouble: BUY.algorandOnly, command: true });
    if (site.storage === undefined) return enter({ name: "ask", txid, trouble: BUY.cantKeep });
    const payments = await site.storage.all<StoredPayment>("payments");
    const kept = payments.find((payment) => txidOf(payment) === txid);
    if (kept) return carryOn(kept, true);
    site.announce(BUY.asking);
    busy(pressed, BUY.asking);
    try {
      await review({ quote: await askPrice(txid) });
    } catch (error) {
      const isDown = error instanceof AttestError && error.code === "unreachable";
      await enter({ name: "ask", txid, trouble: isDown ? BUY.cantSell : sentence(error) });
    } finally {
      site.announce("");
    }
  }

  /** Shows what would be paid; asks the wallet only what does not open it. */
  async function review(base: Pick<Review, "quote"> & Partial<Review>): Promise<void> {
    const wallets = findWallets();
    const provider = base.provider ?? (wallets.length === 1 ? wallets[0]?.provider : undefined);
    const account = provider && (await knownAccount(provider).catch(() => undefined));
    const found: Partial<Review> = { account };
    if (provider && account) {
      if (await isOnBase(provider).catch(() => false))
        found.balance = await tokenBalance(provider, base.quote.offer.asset, account);
      else found.needs = "switch";
    }
    await enter({ name: "review", review: { ...found, ...base, provider, nowMs: Date.now(), wallets } });
  }

  /** Asks a wallet for what must be done before the payment, and reviews the payment again. */
  async function attempt(
    { quote }: Review,
    provider: Provider | undefined,
    ask: (provider: Provider) => Promise<unknown>,
  ): Promise<void> {
    if (provider === undefined) return;
    const shown = state;
    try {
      await ask(provider);
      // The reader may have gone elsewhere meanwhile.
      if (state === shown) await review({ quote, provider });
    } catch (error) {
      site.announce("");
      if (state === shown) await afterRefusal(error, quote, provider);
    }
  }

  async function afterRefusal(error: unknown, quoted: Quote, provider: Provider): Promise<void> {
    if (!(error instanceof WalletRefusal)) return review({ quote: quoted, provider, trouble: BUY.cantKeep });
    if (error.reason === "unknown_chain") return review({ quote: quoted, provider, trouble: BUY.noBase, needs: "add" });
    const trouble = error.reason === "declined" ? BUY.declined : BUY.walletTrouble(error.message);
    return review({ quote: quoted, provider, trouble });
  }

  async function pay(reviewed: Review, pressed: HTMLButtonElement): Promise<void> {
    const { storage } = site;
    const { quote, account } = reviewed;
    if (storage === undefined || account === undefined) return;
    busy(pressed, "Waiting for wallet…");
    site.announce("Waiting for wallet");
    const nowMs = Date.now();
    const shown = state;
    // Shows the exact expiry of the signature before the wallet opens.
    const until = document.getElementById("until");
    if (until) until.textContent = clockTime(nowMs + quote.offer.maxTimeoutSeconds * 1000);
    await attempt(reviewed, reviewed.provider, async (provider) => {
      const kept = await signAndKeep(quote, account, provider, storage, nowMs, () => state === shown);
      if (kept) await carryOn(kept, false);
    });
  }

  /** Sends a stored payment until its bundle is delivered; nothing here can sign another. */
  async function carryOn(payment: StoredPayment, isContinued: boolean): Promise<void> {
    const { storage } = site;
    if (storage === undefined) return;
    const txid = txidOf(payment);
    let now: StepName = "paying";
    let note: string | undefined = isContinued ? BUY.continuing : undefined;
    const startedAt = Date.now();
    const show = (focus: boolean) => enter({ name: "working", txid, now, startedAt, note }, focus);
    site.announce(note ?? "Paying");
    await show(true);
    try {
      await site.keysReady;
      const done = await finish(payment, storage, site.keys.current?.history, (progress) => {
        if (progress.step !== "waiting") return;
        const step = stepOf(progress.code) ?? now;
        // The view is drawn and announced again only when it has changed.
        if (note === BUY.stillWorking && step === now) return;
        now = step;
        note = BUY.stillWorking;
        site.announce(note);
        void show(false);
      });
      site.announce("");
      const { saved, report, receipt } = done;
      await enter({ name: "done", saved, verified: report.verified, transaction: receipt?.transaction });
    } catch (error) {
      site.announce("");
      await enter(stopped(error, txid, payment));
    }
  }
}

function stopped(error: unknown, txid: string, kept: StoredPayment): State {
  if (error instanceof AttestError && error.code === "not_paid")
    return { name: "stopped", title: BUY.notPaidTitle, why: BUY.notPaid(error.message), txid };
  if (error instanceof AttestError && error.code === "refused" && error.problem)
    return { name: "stopped", title: BUY.refusedTitle, why: `${error.message} ${BUY.refused}`, txid, kept };
  return { name: "stopped", title: BUY.openTitle, why: `${sentence(error)} ${BUY.open}`, txid, kept };
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
