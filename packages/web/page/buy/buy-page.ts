import { AttestError, type StoredPayment } from "@attestd/client";
import { inferChain } from "@attestd/proof";
import { purchaseSteps, type StepName, stepOf } from "../../src/purchase-steps.ts";
import { BUY } from "../../src/purchase-words.ts";
import { busy } from "../dom.ts";
import type { Site } from "../site.ts";
import { askPrice, finish, keptPayments, type Quote, type SavedBundle, signAndKeep, txidOf } from "./purchase.ts";
import {
  askView,
  clockTime,
  doneView,
  type Review,
  reviewView,
  stoppedView,
  type Working,
  workingView,
} from "./views.ts";
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

/** The state of the view. */
type State =
  | { name: "ask"; txid: string; trouble?: string; command?: boolean }
  | { name: "review"; review: Review }
  | { name: "working"; working: Working }
  | { name: "done"; saved: SavedBundle; verified: boolean; transaction?: string }
  /** `kept` may still be sent: a new payment may be signed only when it is absent. */
  | { name: "stopped"; title: string; why: string; txid: string; kept?: StoredPayment };

export interface BuyPage {
  open(focus: boolean): void;
  /** Continues the payments of earlier visits, one after another. */
  resume(): Promise<void>;
}

export function createBuyPage(site: Site): BuyPage {
  let state: State = { name: "ask", txid: "" };
  let isOpen = false;

  return {
    open(focus) {
      isOpen = true;
      void render(focus);
      addEventListener("hashchange", () => (isOpen = false), { once: true });
    },
    async resume() {
      const kept = site.storage ? await keptPayments(site.storage).catch(() => []) : [];
      void (async () => {
        for (const payment of kept) await carryOn(payment, true);
      })();
    },
  };

  async function enter(next: State, focus = true): Promise<void> {
    state = next;
    if (isOpen) await render(focus);
  }

  async function render(focus: boolean): Promise<void> {
    const shown = state;
    switch (shown.name) {
      case "ask": {
        const saved = site.storage ? await site.storage.all<SavedBundle>("bundles").catch(() => []) : [];
        if (shown !== state || !isOpen) return;
        return site.show(
          askView({ ...shown, saved, open: site.openBundle, submit: (text, pressed) => void quote(text, pressed) }),
          {
            title: BUY.title,
            focus,
          },
        );
      }
      case "review":
        return site.show(reviewView(shown.review, reviewActions(shown.review)), { title: BUY.reviewTitle, focus });
      case "working":
        return site.show(workingView(shown.working), { title: BUY.workingTitle, focus });
      case "done":
        return site.show(doneView(shown, { open: leaveFor, again: startOver }), {
          title: shown.verified ? BUY.doneTitle : BUY.notVerifiedTitle,
          focus,
        });
      case "stopped": {
        const { kept, txid } = shown;
        const again = (pressed: HTMLButtonElement) => void (kept ? carryOn(kept, false) : quote(txid, pressed));
        return site.show(stoppedView({ ...shown, isKept: kept !== undefined }, { again, startOver }), {
          title: shown.title,
          focus,
        });
      }
    }
  }

  function leaveFor(bundle: Uint8Array): void {
    state = { name: "ask", txid: "" };
    site.openBundle(bundle);
  }

  function startOver(): void {
    void enter({ name: "ask", txid: "" });
  }

  async function quote(text: string, pressed: HTMLButtonElement): Promise<void> {
    const txid = text.trim().startsWith("0x") ? text.trim().toLowerCase() : text.trim();
    const chain = inferChain(txid)?.name;
    if (chain === undefined) return enter({ name: "ask", txid: text, trouble: BUY.notAnId });
    if (chain === "algorand") return enter({ name: "ask", txid, trouble: BUY.algorandOnly, command: true });
    if (site.storage === undefined) return enter({ name: "ask", txid, trouble: BUY.cantKeep });
    const kept = (await keptPayments(site.storage)).find((payment) => txidOf(payment) === txid);
    if (kept) return carryOn(kept, true);
    site.say(BUY.asking);
    busy(pressed, BUY.asking);
    try {
      const quoted = await askPrice(txid);
      await review({ quote: quoted });
    } catch (error) {
      await enter({ name: "ask", txid, trouble: codeOf(error) === "unreachable" ? BUY.cantSell : sentence(error) });
    } finally {
      site.say("");
    }
  }

  /** Shows what would be paid; asks the wallet only what does not open it. */
  async function review(base: { quote: Quote; provider?: Provider; trouble?: string; needs?: "switch" | "add" }) {
    const wallets = findWallets();
    const provider = base.provider ?? (wallets.length === 1 ? wallets[0]?.provider : undefined);
    const account = provider && (await knownAccount(provider).catch(() => undefined));
    const known = provider && account ? await accountFacts(provider, account, base.quote) : {};
    await enter({
      name: "review",
      review: { ...known, ...base, ...(provider && { provider }), nowMs: Date.now(), host: location.host, wallets },
    });
  }

  async function accountFacts(provider: Provider, account: string, { offer }: Quote): Promise<Partial<Review>> {
    if (!(await isOnBase(provider).catch(() => false))) return { account, needs: "switch" };
    const balance = await tokenBalance(provider, offer.asset, account);
    return { account, ...(balance !== undefined && { balance }) };
  }

  function reviewActions({ quote: quoted, provider: chosen, account }: Review) {
    const attempt = async (provider: Provider, work: () => Promise<unknown>) => {
      const shown = state;
      const refusal = await work().then(
        () => undefined,
        (error: unknown) => error,
      );
      // The reader may have gone elsewhere meanwhile.
      if (state !== shown) return;
      if (refusal === undefined) await review({ quote: quoted, provider });
      else await afterRefusal(refusal, quoted, provider);
    };
    return {
      connect: (provider: Provider) => void attempt(provider, () => connect(provider)),
      switchToBase: () => chosen && void attempt(chosen, () => switchToBase(chosen)),
      addBase: () => chosen && void attempt(chosen, () => addBase(chosen)),
      cancel: startOver,
      sign: (pressed: HTMLButtonElement) => {
        if (chosen && account) void pay(quoted, account, chosen, pressed);
      },
    };
  }

  async function afterRefusal(error: unknown, quoted: Quote, provider: Provider): Promise<void> {
    if (!(error instanceof WalletRefusal)) return review({ quote: quoted, provider, trouble: BUY.cantKeep });
    if (error.reason === "unknown_chain") return review({ quote: quoted, provider, trouble: BUY.noBase, needs: "add" });
    const trouble = error.reason === "declined" ? BUY.declined : BUY.walletTrouble(error.message);
    return review({ quote: quoted, provider, trouble });
  }

  async function pay(quoted: Quote, account: string, provider: Provider, pressed: HTMLButtonElement): Promise<void> {
    const { storage } = site;
    if (storage === undefined) return;
    busy(pressed, "Waiting for wallet…");
    site.say("Waiting for wallet");
    const nowMs = Date.now();
    const shown = state;
    // Shows the exact expiry of the signature before the wallet opens.
    const until = document.getElementById("until");
    if (until) until.textContent = clockTime(nowMs + quoted.offer.maxTimeoutSeconds * 1000);
    try {
      const kept = await signAndKeep(quoted, account, provider, storage, nowMs, () => state === shown);
      if (kept) await carryOn(kept, false);
    } catch (error) {
      site.say("");
      if (state === shown) await afterRefusal(error, quoted, provider);
    }
  }

  /** Sends a stored payment until its bundle is delivered; nothing here can sign another. */
  async function carryOn(payment: StoredPayment, isContinued: boolean): Promise<void> {
    const { storage } = site;
    if (storage === undefined) return;
    const txid = txidOf(payment);
    let now: StepName = "paying";
    const startedAt = Date.now();
    let isWaiting = false;
    const show = (focus: boolean) => {
      const note = isWaiting ? BUY.stillWorking : isContinued ? BUY.continuing : undefined;
      const working = { txid, steps: purchaseSteps(now), startedAt, ...(note !== undefined && { note }) };
      return enter({ name: "working", working }, focus);
    };
    site.say(isContinued ? BUY.continuing : "Paying");
    await show(true);
    try {
      await site.keysReady;
      const done = await finish(payment, storage, site.keys.current?.history, (progress) => {
        if (progress.step !== "waiting") return;
        const before = now;
        now = stepOf(progress.code) ?? now;
        // The view is drawn and announced again only when it has changed.
        if (isWaiting && now === before) return;
        isWaiting = true;
        site.say(BUY.stillWorking);
        void show(false);
      });
      const transaction = done.receipt?.transaction;
      site.say("");
      await enter({
        name: "done",
        saved: done.saved,
        verified: done.report.verified,
        ...(transaction !== undefined && { transaction }),
      });
    } catch (error) {
      site.say("");
      await enter(stopped(error, txid, payment));
    }
  }

  function stopped(error: unknown, txid: string, kept: StoredPayment): State {
    if (error instanceof AttestError && error.code === "not_paid")
      return { name: "stopped", title: BUY.notPaidTitle, why: BUY.notPaid(error.message), txid };
    if (error instanceof AttestError && error.code === "refused" && error.problem)
      return { name: "stopped", title: BUY.refusedTitle, why: `${error.message} ${BUY.refused}`, txid, kept };
    return { name: "stopped", title: BUY.openTitle, why: `${sentence(error)} ${BUY.open}`, txid, kept };
  }
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof AttestError ? error.code : undefined;
}
