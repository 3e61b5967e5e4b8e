import { AttestError, canBeTaken, type StoredPayment } from "@attestd/client";
import { MAX_BATCH_ITEMS, matchTransactionId } from "@attestd/proof";
import { entriesOf, ListError, transactionsOf } from "../../src/id-list.ts";
import { BUY, type StepName, stepOf } from "../../src/purchase-words.ts";
import { busy } from "../dom.ts";
import { unnamed } from "../given-files.ts";
import type { Site } from "../site.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import {
  acceptFailure,
  askPrice,
  dateOf,
  finish,
  forget,
  type Quote,
  savedBundles,
  signAndKeep,
  txidsOf,
} from "./purchase.ts";
import { WalletRefusal } from "./refusal.ts";
import { expiry, type Review, timeOfDay } from "./review.ts";
import type { Actions, State } from "./state.ts";
import { buyView } from "./views.ts";
import { watchWallets } from "./wallets.ts";

/** The most faults of a list that are named. */
const MAX_FAULTS = 5;

export type BuyPage = ReturnType<typeof createBuyPage>;

export function createBuyPage(site: Site) {
  let state: State = { name: "ask", text: "" };
  let isOpen = false;
  /** PAYMENT-SIGNATURE of the payments that a wallet changed before it signed them. */
  const altered = new Set<string>();
  const wallets = watchWallets(() => {
    if (state.name === "choose") void enter({ ...state, wallets: usable(state.quote) }, false);
  });
  const usable = ({ offers }: Quote) => wallets().filter(({ rail }) => offers.has(rail));
  const actions: Actions = {
    quote: (text, pressed) => void quote(text, pressed),
    quoteList: (text, pressed) => void quoteList(text, pressed),
    quoteAgain: (txids, pressed) => void quoteTransactions(txids, pressed),
    ask: (isList, text = "", trouble) => void enter({ name: "ask", text, isList, ...(trouble && { trouble }) }),
    buyOthers: (kept, others, pressed) => void buyOthers(kept, others, pressed),
    open(bundle) {
      state = { name: "ask", text: "" };
      site.take(unnamed(bundle.slice()));
    },
    choose(quote, wallet, pressed) {
      busy(pressed, BUY.loading);
      void review({ quote, wallet });
    },
    chooseAnother: (quote) => void enter({ name: "choose", quote, wallets: usable(quote) }),
    prepare: (review, step) => void attempt(review, async (wallet) => wallet[step]?.()),
    sign: (review, pressed) => void pay(review, pressed),
    carryOn: (kept) => void carryOn(kept, false),
    attestFailure: (kept) => void attestFailure(kept),
    startOver: () => void enter({ name: "ask", text: "" }),
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
    if (shown.name === "ask") shown.saved = await savedBundles(site.storage);
    if (shown === state && isOpen) site.show(buyView(shown, actions), focus);
  }

  async function quote(text: string, pressed: HTMLButtonElement): Promise<void> {
    const found = matchTransactionId(text.trim());
    if (found === undefined) return enter({ name: "ask", text, trouble: BUY.notAnId });
    return quoteTransactions([found.id], pressed);
  }

  async function quoteList(text: string, pressed: HTMLButtonElement): Promise<void> {
    const wrong = (trouble: string) => enter({ name: "ask", text, isList: true, trouble });
    try {
      const { listed, faults } = transactionsOf(entriesOf(text));
      if (faults.length > 0) return wrong(BUY.notAList(faults.slice(0, MAX_FAULTS)));
      const txids = listed.map(({ txid }) => txid);
      if (txids.length > MAX_BATCH_ITEMS) return wrong(BUY.tooMany(txids.length, MAX_BATCH_ITEMS));
      return quoteTransactions(txids, pressed);
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      return wrong(BUY.notAList([error.message, ...error.more.map((one) => one.replace(/\.$/, ""))]));
    }
  }

  async function quoteTransactions(txids: readonly string[], pressed: HTMLButtonElement): Promise<void> {
    const askAgain = (trouble: string) =>
      enter({ name: "ask", text: txids.join("\n"), isList: txids.length > 1, trouble });
    if (site.storage === undefined) return askAgain(BUY.cantKeep);
    const payments = await site.storage.all<StoredPayment>("payments");
    const kept = payments.find((payment) => txidsOf(payment).join() === txids.join());
    if (kept) return carryOn(kept, true);
    site.announce(BUY.asking);
    busy(pressed, BUY.asking);
    try {
      await offerWallets(await askPrice(txids));
    } catch (error) {
      const isDown = error instanceof AttestError && error.code === "unreachable";
      await askAgain(isDown ? BUY.cantSell : BUY.notPriced(sentence(error)));
    } finally {
      site.announce("");
    }
  }

  /** Once the payment can no longer be taken, it is given up, and those that can be attested get another. */
  async function buyOthers(kept: StoredPayment, others: readonly string[], pressed: HTMLButtonElement): Promise<void> {
    const stays = site.storage && (await forget(kept, site.storage).catch(() => kept.until));
    if (stays === undefined) return quoteTransactions(others, pressed);
    if (state.name === "stopped") await enter({ ...state, why: BUY.held(timeOfDay(stays)) });
  }

  /** Takes the one wallet that there certainly is, or lets the reader choose. */
  async function offerWallets(quote: Quote): Promise<void> {
    const found = usable(quote);
    const [wallet, another] = found.filter(({ isCertain }) => isCertain);
    if (wallet && !another) await review({ quote, wallet });
    else await enter({ name: "choose", quote, wallets: found });
  }

  /** Shows what would be paid; asks the wallet only what does not open it. */
  async function review(base: Pick<Review, "quote" | "wallet"> & Partial<Review>): Promise<void> {
    const { quote, wallet } = base;
    const offer = quote.offers.get(wallet.rail);
    if (!offer) throw new Error(`nothing is offered on ${wallet.rail}`);
    const account = await wallet.knownAccount().catch(() => undefined);
    const found: Partial<Review> = { account };
    const { switchNetwork } = wallet;
    const isAsked = account !== undefined || switchNetwork === undefined;
    if (isAsked && !(await wallet.isOnNetwork().catch(() => switchNetwork === undefined)))
      found.needs = switchNetwork ? "switch" : "other";
    else if (account) found.balance = await wallet.balance(offer, account).catch(() => undefined);
    const hasOthers = usable(quote).length > 1;
    await enter({ name: "review", review: { ...found, ...base, offer, hasOthers, ...dated(quote, offer) } });
  }

  /** Asks a wallet for what must be done before the payment, and reviews the payment again. */
  async function attempt({ quote, wallet }: Review, ask: (wallet: PayingWallet) => Promise<unknown>): Promise<void> {
    const shown = state;
    try {
      await ask(wallet);
      // The reader may have gone elsewhere meanwhile.
      if (state === shown) await review({ quote, wallet });
    } catch (error) {
      site.announce("");
      if (state === shown) await review({ quote, wallet, ...troubleOf(error, wallet) });
    }
  }

  async function pay(reviewed: Review, pressed: HTMLButtonElement): Promise<void> {
    const { storage } = site;
    const { quote, offer, account } = reviewed;
    if (storage === undefined || account === undefined) return;
    busy(pressed, "Waiting for wallet…");
    site.announce("Waiting for wallet");
    const dateMs = dateOf(quote, offer);
    const shown = state;
    // Shows the expiry of this signature before the wallet opens.
    const until = document.getElementById("until");
    if (until) until.textContent = expiry(offer, dateMs);
    await attempt(reviewed, async (wallet) => {
      const isWanted = () => state === shown;
      const signed = await signAndKeep({ quote, offer, wallet, account }, storage, dateMs, isWanted);
      if (signed?.isAltered) altered.add(signed.kept.header);
      if (signed) await carryOn(signed.kept, false);
    });
  }

  /** Lets the payment buy what it was refused for, and sends it again. */
  async function attestFailure(kept: StoredPayment): Promise<void> {
    const accepting = site.storage && (await acceptFailure(kept, site.storage).catch(() => undefined));
    const text = txidsOf(kept).join("\n");
    await (accepting ? carryOn(accepting, false) : enter({ name: "ask", text, trouble: BUY.cantKeep }));
  }

  /** Sends a stored payment until its bundle is delivered; nothing here can sign another. */
  async function carryOn(payment: StoredPayment, isContinued: boolean): Promise<void> {
    const { storage } = site;
    if (storage === undefined) return;
    const txids = txidsOf(payment);
    let now: StepName = "paying";
    let note: string | undefined = isContinued ? BUY.continuing : undefined;
    const startedAt = Date.now();
    const show = (focus: boolean) => enter({ name: "working", txids, now, startedAt, note }, focus);
    site.announce(note ?? "Paying");
    await show(true);
    try {
      await site.keysReady;
      const done = await finish(payment, storage, site.keys.current?.history, (progress) => {
        if (progress.step !== "waiting" && progress.step !== "refused") return;
        const isHeld = progress.step === "refused";
        const step = (isHeld ? undefined : stepOf(progress.code)) ?? now;
        const said = isHeld ? BUY.held(timeOfDay(progress.until)) : BUY.stillWorking;
        // The view is drawn and announced again only when it has changed.
        if (note === said && step === now) return;
        now = step;
        note = said;
        site.announce(note);
        void show(false);
      });
      site.announce("");
      await enter({ name: "done", ...done });
    } catch (error) {
      site.announce("");
      await enter(stopped(error, payment, altered.has(payment.header)));
    }
  }
}

/** The date of a payment, or why none can be chosen. */
function dated(quote: Quote, offer: Review["offer"]): Pick<Review, "dateMs" | "needs" | "trouble"> {
  try {
    return { dateMs: dateOf(quote, offer) };
  } catch (error) {
    return { dateMs: Date.now(), needs: "clock", trouble: BUY.notPriced(sentence(error)) };
  }
}

/** What the review shows after a wallet has refused, or failed, or what it signed could not be stored. */
function troubleOf(error: unknown, wallet: PayingWallet): Pick<Review, "trouble" | "needs"> {
  if (error instanceof DOMException) return { trouble: BUY.cantKeep };
  const reason = error instanceof WalletRefusal ? error.reason : "other";
  if (reason === "declined") return { trouble: BUY.declined };
  if (reason === "other") return { trouble: BUY.walletTrouble(sentence(error)) };
  return wallet.addNetwork ? { trouble: BUY.noBase, needs: "add" } : { trouble: BUY.noNetwork };
}

function stopped(error: unknown, kept: StoredPayment, isAltered: boolean): State {
  const txids = txidsOf(kept);
  const held = canBeTaken(kept, Date.now()) ? BUY.held(timeOfDay(kept.until)) : BUY.expired;
  if (error instanceof AttestError && error.code === "not_paid") {
    const why = `${(isAltered ? BUY.altered : BUY.notPaid)(error.message)} ${held}`;
    const stays = error.until !== undefined;
    return { name: "stopped", title: BUY.notPaidTitle, why, txids, ...(stays && { kept }) };
  }
  if (!(error instanceof AttestError) || error.code !== "refused" || !error.problem)
    return { name: "stopped", title: BUY.openTitle, why: `${sentence(error)} ${BUY.open}`, txids, kept };
  const { code, items = [] } = error.problem;
  const atFault = items.flatMap(({ index, code: why }) => (txids[index] ? [{ txid: txids[index], code: why }] : []));
  const isFailed =
    code === "transaction_failed" || (atFault.length > 0 && atFault.every((one) => one.code === "transaction_failed"));
  const refused = { name: "stopped", txids, kept, isFailed, atFault } as const;
  if (!isFailed) return { ...refused, title: BUY.refusedTitle, why: `${error.message} ${BUY.refused} ${held}` };
  return txids.length === 1
    ? { ...refused, title: BUY.failedTitle, why: `${BUY.failed} ${held}` }
    : { ...refused, title: BUY.refusedTitle, why: `${BUY.failedMany} ${held}` };
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
