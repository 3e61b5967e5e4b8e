import { getBytes, getInteger, getString } from "@attestd/proof/algorand";
import { fromBase64, toBase64Url } from "@attestd/proof/encoding";
import {
  addressIn,
  type LedgerReading,
  type LedgerTransaction,
  ledgerHeights,
  ledgerTransaction,
  searchLedger,
} from "../../../ledger/search.ts";
import type { ChainPayment, PaymentReader } from "../payment-reader.ts";
import { ALGORAND } from "./usdc.ts";

/** Reads payments on the Algorand rail. */
export function algorandReader(reading: LedgerReading): PaymentReader {
  const ledger = `algorand:${toBase64Url(fromBase64(reading.genesisHash))}`;
  return {
    ...ledgerHeights(reading),

    async *payments(addresses, span) {
      for (const address of addresses) {
        for await (const found of searchLedger(reading, { address, receivesAsset: ALGORAND.asset }, span)) {
          const payment = toPayment(found, address, ledger);
          if (payment) yield payment;
        }
      }
    },

    async inTransaction(id, addresses) {
      const found = await ledgerTransaction(reading, id);
      if (!found) return [];
      const payments = addresses.map((address) => toPayment(found, address, ledger));
      return payments.filter((payment) => payment?.amount !== undefined) as ChainPayment[];
    },
  };
}

/** @returns undefined when it moves no USDC to the address */
function toPayment(
  { id, round, transaction }: LedgerTransaction,
  address: string,
  ledger: string,
): ChainPayment | undefined {
  const payer = addressIn(transaction, "snd");
  const at = { rail: "algorand", transaction: id, height: round, payer, payTo: address } as const;
  const isTransfer = getString(transaction, "type") === "axfer" && !transaction.has("asnd");
  // It came by a clawback, as the remainder of a closed account, or from an application.
  if (!isTransfer || addressIn(transaction, "arcv") !== address) return { ...at, aliases: [], relayed: false };
  const amount = getInteger(transaction, "aamt");
  if (amount === 0n || getInteger(transaction, "xaid") !== BigInt(ALGORAND.asset)) return undefined;
  const group = getBytes(transaction, "grp", 32);
  return {
    ...at,
    key: `${ledger}/${id}`,
    aliases: group ? [`${ledger}/group/${toBase64Url(group)}`] : [],
    amount,
    // Fees are pooled within a group: a member without a fee has another member pay it.
    relayed: group !== undefined && !["fee", "aclose", "rekey"].some((member) => transaction.has(member)),
  };
}
