import type { Sandbox } from "@attestd/sandbox";
import algosdk from "algosdk";

/** The asset id of USDC on Algorand. */
export const ALGORAND_USDC = 31566704n;

/** A service's payments and attestations on the sandbox's ledger, read from public APIs. */
export function outsider({ algodUrl, indexerUrl, payTo, attestor, payers }: Sandbox) {
  const indexer = new algosdk.Indexer("", indexerUrl, new URL(indexerUrl).port);
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);

  return {
    /** Transfers of USDC to the payee, oldest first. */
    async payments() {
      const { transactions } = await indexer
        .searchForTransactions()
        .address(payTo.algorand)
        .addressRole("receiver")
        .assetID(ALGORAND_USDC)
        .txType("axfer")
        .do();
      return transactions
        .map(({ id, assetTransferTransaction }) => ({ id, amount: assetTransferTransaction?.amount }))
        .filter(({ amount }) => amount !== 0n);
    },
    /** Payments sent by the attestor, oldest first. */
    async attestations() {
      const { transactions } = await indexer
        .searchForTransactions()
        .address(attestor.address)
        .addressRole("sender")
        .txType("pay")
        .do();
      return transactions.map(({ id, note, paymentTransaction }) => ({
        id,
        amount: paymentTransaction?.amount,
        note: Buffer.from(note ?? []).toString("utf8"),
      }));
    },
    /** The payer's balance in micro-USDC. */
    async balance(): Promise<bigint> {
      const { assetHolding } = await algod.accountAssetInformation(payers.algorand.address, ALGORAND_USDC).do();
      return assetHolding?.amount ?? 0n;
    },
  };
}
