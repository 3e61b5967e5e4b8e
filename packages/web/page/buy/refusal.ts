/** A wallet refused a request, or failed. */
export class WalletRefusal extends Error {
  readonly reason: "declined" | "unknown_network" | "other";

  constructor(reason: WalletRefusal["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What a wallet or the service has given. @param lacking says that it gave nothing @throws WalletRefusal then */
export function given<T>(value: T | null | undefined, lacking: string): T {
  if (value === undefined || value === null) throw new WalletRefusal("other", lacking);
  return value;
}

/** Time that a wallet has for an answer that needs no user, in ms. */
const PROMPTLY_MS = 2_000;

/** The answer of a wallet that need not open for it; undefined when it does not come at once. @throws as `work` */
export function promptly<T>(work: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PROMPTLY_MS));
  return Promise.race([work, late]);
}

/** The code of a refusal by the reader, in EIP-1193 and ARC-27. */
const DECLINED = 4001;
/** The words of such a refusal, by wallets that have no code for it. */
const DECLINED_WORDS = /\b(reject|declin|den(y|ied)|cancel)/i;
const UNKNOWN_CHAIN = 4902;
const NETWORK_NOT_SUPPORTED = 4004;

/** Runs a request to a wallet. @throws WalletRefusal for any error */
export async function asked<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof WalletRefusal) throw error;
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
    const words = String(message ?? error);
    if (code === UNKNOWN_CHAIN || code === NETWORK_NOT_SUPPORTED) throw new WalletRefusal("unknown_network", words);
    throw new WalletRefusal(code === DECLINED || DECLINED_WORDS.test(words) ? "declined" : "other", words);
  }
}
