import type { PaidRequest } from "./request.ts";

/** A signed payment and its request: sending both again delivers the bundle again. */
export type StoredPayment = {
  version: 1;
  service: string;
  request: PaidRequest;
  /** The value of PAYMENT-SIGNATURE, byte for byte: standard base64 of JSON. */
  header: string;
  /** The signed terms, from the offer. */
  offer: { network: string; amount: string; payTo: string; payer: string; maxTimeoutSeconds: number };
  /** The latest time at which it can be taken: ms since 1970, by the clock of the device that signed it. */
  until: number;
};

/**
 * Keeps signed payments until their bundle is stored. A payment is stored before it is sent. Losing one may lose its
 * money, so the caller chooses a vault that survives the process (`fileVault` for Node). It MUST make a payment durable
 * before `put` resolves, MUST keep at most one per id, and MUST hide them from other users of the machine, who could
 * have them settled.
 */
export interface Vault {
  get(id: string): Promise<StoredPayment | undefined>;
  /**
   * Stores a payment unless the id has one.
   * @returns the payment that is now in the vault. Send only this one, so that two callers with one request pay once.
   */
  put(id: string, payment: StoredPayment): Promise<StoredPayment>;
  /** Removes this payment. A payment with another header, stored under the same id since, MUST stay. */
  remove(id: string, payment: StoredPayment): Promise<void>;
}

/** Returns the vault's id for a request: one per service and purchased thing. */
export function paymentId(service: string, request: PaidRequest): string {
  return `${service}${request.path} ${subjectOf(request)}`;
}

/** Leaves out the chain, which a transaction's id implies, and `require`, which may be dropped for the same payment. */
function subjectOf({ path, body }: PaidRequest): string {
  if (path === "/attest") return body.txid;
  return path === "/attest-batch" ? body.items.map(({ txid }) => txid).join() : JSON.stringify(body);
}

/** A vault in memory: for tests, and for payers who can afford to lose 0.001 USDC in a crash. */
export function memoryVault(): Vault {
  const payments = new Map<string, StoredPayment>();
  return {
    get: async (id) => payments.get(id),
    put: async (id, payment) => {
      const stored = payments.get(id) ?? payment;
      payments.set(id, stored);
      return stored;
    },
    remove: async (id, payment) => {
      if (payments.get(id)?.header === payment.header) payments.delete(id);
    },
  };
}
