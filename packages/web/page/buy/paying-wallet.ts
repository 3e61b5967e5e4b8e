import type { Rail } from "@attestd/client";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";

export type RailName = Rail["name"];

/** A wallet of the reader's, on one rail. Only `connect`, `sign`, `switchNetwork` and `addNetwork` may open it. */
export type PayingWallet = {
  name: string;
  rail: RailName;
  /** Whether it is a site that opens in a window: it is there for everybody, and not a sign of a wallet. */
  isSite?: boolean;

  /** Whether it was found at once, so that it may be chosen for the reader. */
  isCertain?: boolean;

  /** The account that this page may already see; undefined if none. @throws WalletRefusal */
  knownAccount(): Promise<string | undefined>;

  /** Asks for an account. @throws WalletRefusal */
  connect(): Promise<string>;

  /** Whether the wallet is on the offer's network. */
  isOnNetwork(): Promise<boolean>;

  /** Absent where a wallet has no network to be switched. @throws WalletRefusal `unknown_network` */
  switchNetwork?(): Promise<void>;
  addNetwork?(): Promise<void>;

  /** The account's micro-USDC; `none` where it has no account for USDC, undefined where that is not known. */
  balance(offer: PaymentRequirements, account: string): Promise<bigint | "none" | undefined>;

  /** Signs one payment of exactly this offer; sends nothing. @param dateMs as of the client's `Wallet` @throws WalletRefusal */
  sign(offer: PaymentRequirements, account: string, dateMs: number): Promise<SignedPayment>;
};

/** @param isAltered whether the wallet signed another transaction than it was given */
export type SignedPayment = { payload: PaymentPayload["payload"]; isAltered: boolean };
