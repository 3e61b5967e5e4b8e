import type { StoredPayment } from "@attestd/client";
import type { StepName } from "../../src/purchase-words.ts";
import type { PayingWallet } from "./paying-wallet.ts";
import type { Quote, SavedBundle } from "./purchase.ts";
import type { Review, ReviewActions } from "./review.ts";

/** The state of the view. */
export type State =
  /** `isList`: of several transactions. */
  | { name: "ask"; text: string; isList?: boolean; trouble?: string; saved?: readonly SavedBundle[] }
  | { name: "choose"; quote: Quote; wallets: readonly PayingWallet[] }
  | { name: "review"; review: Review }
  | { name: "working"; txids: readonly string[]; now: StepName; startedAt: number; note: string | undefined }
  | { name: "done"; saved: SavedBundle; verified: boolean; transaction: string | undefined }
  /** `kept` may still be sent: a new payment may be signed only when it is absent. */
  | ({ name: "stopped"; title: string; why: string; txids: readonly string[]; kept?: StoredPayment } & Refused);
/** Why the service refused, and charged nothing. `isFailed`: a transaction failed. `atFault`: the transactions at fault. */
type Refused = { isFailed?: boolean; atFault?: readonly { txid: string; code: string }[] };
/** A state by its name. */
export type Shown<Name> = Extract<State, { name: Name }>;

export type Actions = ReviewActions & {
  /** Asks the price of one transaction. */
  quote(text: string, pressed: HTMLButtonElement): void;
  /** Asks that of a list. */
  quoteList(text: string, pressed: HTMLButtonElement): void;
  quoteAgain(txids: readonly string[], pressed: HTMLButtonElement): void;
  ask(isList: boolean, text?: string, trouble?: string): void;
  /** Gives up a payment that was not charged, and asks the price of those that are not at fault. */
  buyOthers(kept: StoredPayment, others: readonly string[], pressed: HTMLButtonElement): void;
  open(bundle: Uint8Array): void;
  choose(quote: Quote, wallet: PayingWallet, pressed: HTMLButtonElement): void;
  /** Sends a stored payment again. */
  carryOn(kept: StoredPayment): void;
  /** The same, to buy the attestation that the transaction failed. */
  attestFailure(kept: StoredPayment): void;
};
