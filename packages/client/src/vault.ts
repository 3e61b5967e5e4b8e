import type { PaidRequest } from "./request.ts";

/** A signed payment and the request it was signed for: all that is needed to ask for its bundle, again and again. */
export type StoredPayment = {
  version: 1;
  service: string;
  request: PaidRequest;
  /** The value of PAYMENT-SIGNATURE, byte for byte: standard base64 of JSON. */
  header: string;
  /** What was signed, for people and for the time to wait; read from the offer. */
  offer: { network: string; amount: string; payTo: string; payer: string; maxTimeoutSeconds: number };
};

/**
 * Where signed payments are kept from before they are sent until their bundle is stored. Losing one may lose the money
 * that it moved, so a vault that survives the process is the caller's to give (`fileVault` for Node).
 *
 * An implementation MUST have made the payment durable before `put` resolves, MUST keep at most one for an id, and MUST
 * keep it from other users of the machine: whoever holds it before it is sent can have it settled.
 */
export interface Vault {
  /** The payment stored for an id. */
  get(id: string): Promise<StoredPayment | undefined>;

  /**
   * Stores a payment unless the id has one.
   *
   * @returns the payment that the vault now holds: the given one, or the one that another caller stored first. Only
   * that one may be sent, so that two callers with one wish pay once.
   */
  put(id: string, payment: StoredPayment): Promise<StoredPayment>;

  /** Forgets this payment; one with another header, stored under the same id since, MUST stay. */
  remove(id: string, payment: StoredPayment): Promise<void>;
}

/** The id under which a vault keeps the payment for a request: one per service and thing that is bought there. */
export function paymentId(service: string, { path, body }: PaidRequest): string {
  // A chain beside a transaction's id says nothing more of it.
  const thing = path === "/attest" ? body.txid : JSON.stringify(body);
  return `${service}${path} ${thing}`;
}

/** A vault that ends with the process: for tests, and for payers to whom 0.001 USDC lost in a crash is nothing. */
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
