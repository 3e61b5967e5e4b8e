import type { BrowserContext } from "playwright-core";

/** A wallet's behaviour, which the test sets, and what it was asked. */
export type InjectedWallet = {
  /** Whether it refuses the next signature. */
  declines: boolean;
  /** Called before each signature, with what the wallet's user would see. */
  onSign: (seen: unknown) => Promise<void>;
  signatures: number;
  /** Requested methods, in order. */
  asked: string[];
};

/** The events of a page, for code that runs in one. */
export type PageEvents = {
  addEventListener(name: string, listen: (event: { detail: never }) => void): void;
  dispatchEvent(event: CustomEvent): void;
};

export function newWallet(): InjectedWallet {
  return { declines: false, onSign: async () => undefined, signatures: 0, asked: [] };
}

/** A refusal by code, as EIP-1193 and ARC-27 have it. */
export const DECLINED = { code: 4001, message: "User rejected the request." };

/**
 * Exposes a wallet of this process to every page of a context.
 *
 * @param name of the function in the page: it takes a method and its parameters, and resolves with `result` or `error`
 */
export async function expose(
  context: BrowserContext,
  name: string,
  wallet: InjectedWallet,
  answer: (method: string, params: never) => Promise<unknown>,
): Promise<void> {
  await context.exposeFunction(name, async (method: string, params: unknown) => {
    wallet.asked.push(method);
    try {
      return { result: await answer(method, params as never) };
    } catch (error) {
      return { error };
    }
  });
}

/** Lets the user look at what is signed, and decline. */
export async function signing(wallet: InjectedWallet, seen: unknown): Promise<void> {
  await wallet.onSign(seen);
  if (wallet.declines) {
    wallet.declines = false;
    throw DECLINED;
  }
  wallet.signatures++;
}
