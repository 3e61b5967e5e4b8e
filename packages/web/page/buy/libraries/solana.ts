import { USDC_DECIMALS } from "@attestd/proof/rails";
import {
  address,
  assertIsTransactionWithinSizeLimit,
  getTransactionDecoder,
  getTransactionEncoder,
  type Transaction,
  type TransactionModifyingSigner,
  type TransactionWithLifetime,
} from "@solana/kit";
import type { PaymentRequirements } from "@x402/core/types";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import type { SolanaNow } from "../networks.ts";
import type { SignedPayment } from "../paying-wallet.ts";

/** The program of USDC's accounts. */
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/**
 * A payment that the stock x402 client makes and a wallet signs; the wallet may add instructions of its own.
 *
 * @param sign gets and returns a transaction in wire form
 */
export async function solanaPayment(
  offer: PaymentRequirements,
  account: string,
  now: SolanaNow,
  sign: (transaction: Uint8Array) => Promise<Uint8Array>,
): Promise<SignedPayment> {
  let isAltered = false;
  const signer: TransactionModifyingSigner = {
    address: address(account),
    modifyAndSignTransactions(transactions) {
      const signing = transactions.map(async (transaction) => {
        const signed = getTransactionDecoder().decode(await sign(getTransactionEncoder().encode(transaction).slice()));
        const { messageBytes: given } = transaction;
        isAltered ||=
          given.length !== signed.messageBytes.length || given.some((byte, i) => byte !== signed.messageBytes[i]);
        const whole = { ...(transaction as Transaction & TransactionWithLifetime), ...signed };
        assertIsTransactionWithinSizeLimit(whole);
        return whole;
      });
      return Promise.all(signing);
    },
  };
  const scheme = new ExactSvmScheme(signer);
  // The client looks a mint up at a node, and a blockhash that the offer lacks. USDC's mint is known.
  const mint = Promise.resolve({ decimals: USDC_DECIMALS, programAddress: TOKEN_PROGRAM });
  Object.assign(scheme, { mintCache: new Map([[`${offer.network}:${offer.asset}`, mint]]) });
  const extra = { ...offer.extra, recentBlockhash: now.blockhash, lastValidBlockHeight: now.lastValidBlockHeight };
  const { payload } = await scheme.createPaymentPayload(2, { ...offer, extra });
  return { payload, isAltered };
}
