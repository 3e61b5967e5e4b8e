import type { Journal } from "../calls/journal.ts";
import { ServiceError } from "../lib/errors.ts";
import type { ChainPayment, PaymentReader } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { RAILS } from "../payment/rails/registry.ts";

/** A payment for which a call can be made. */
export type KeyedPayment = ChainPayment & { readonly key: string; readonly amount: bigint };

type PaymentSearch = {
  journal: Pick<Journal, "payees">;
  readers: ReadonlyMap<RailName, PaymentReader>;
  /** Unix s from which on a key is searched. */
  since: number;
};

/**
 * Finds the one final payment to us that an operator names.
 * @param target a payment key, or the id of a transaction on the payment's chain
 * @throws argument_invalid, not_on_chain; ProviderError
 */
export async function findPayment(target: string, { journal, readers, since }: PaymentSearch): Promise<KeyedPayment> {
  const kind = RAILS.find(({ isPaymentKey, isTransactionId }) => isPaymentKey(target) || isTransactionId(target));
  if (!kind) throw new ServiceError("argument_invalid", `${target} is neither a payment key nor a transaction id.`);
  const { name: rail } = kind;
  const reader = readers.get(rail);
  if (!reader)
    throw new ServiceError("argument_invalid", `${target} belongs to ${rail}, for which no node is configured.`);
  const payees = (await journal.payees()).filter((payee) => payee.rail === rail).map(({ address }) => address);
  const heads = await reader.heads();
  const span = async () => ({ from: await reader.heightAt(since, heads.latest), to: heads.latest });

  const found = kind.isTransactionId(target)
    ? await reader.inTransaction(target, payees)
    : await withKey(target, reader.payments(payees, await span()));
  const [payment, another] = found.filter(
    (one): one is KeyedPayment => one.key !== undefined && one.amount !== undefined,
  );
  if (!payment) throw new ServiceError("not_on_chain", explain(target, rail, found));
  if (another) {
    const keys = [payment, another].map(({ key }) => key).join(", ");
    const message = `${target} contains several payments to us. Name one by its key: ${keys}.`;
    throw new ServiceError("argument_invalid", message);
  }
  if (payment.height <= heads.final) return payment;
  const message = `The payment at ${payment.height} is not final yet: ${rail} is final up to ${heads.final}.`;
  throw new ServiceError("not_on_chain", message);
}

async function withKey(key: string, payments: AsyncIterable<ChainPayment>): Promise<ChainPayment[]> {
  for await (const payment of payments) if (payment.key === key) return [payment];
  return [];
}

function explain(target: string, rail: RailName, found: readonly ChainPayment[]): string {
  if (found.length === 0) return `${rail} shows no payment to us as ${target}.`;
  return `${target} pays us in a form without a payment key, so nobody could claim it.`;
}
