import { encodeAddress, getBytes, getInteger, getString, type MsgpackMap, txid } from "@attestd/proof/algorand";
import { equalBytes, toBase64Url } from "@attestd/proof/encoding";
import type { PaymentPayload } from "@x402/core/types";
import type { Window } from "../../../ledger/ledger.ts";
import { hasCode } from "../../../lib/errors.ts";
import { type Payment, paymentRefused } from "../rail.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";
import { type GroupMember, readGroup } from "./group.ts";
import { ALGORAND } from "./usdc.ts";

export type AlgorandPayment = Payment & {
  readonly rail: "algorand";
  readonly txid: string;
  readonly window: Window;
  readonly members: readonly GroupMember[];
  readonly index: number;
  /** How its payer signed. */
  readonly signed: Envelope;
};

/**
 * Reads a payload of scheme `exact` on Algorand.
 *
 * @param genesis the ledger's genesis hash, 32 bytes
 * @throws payment_refused
 */
export function readPayment(payload: PaymentPayload, genesis: Uint8Array): AlgorandPayment {
  if (payload.x402Version !== 2) throw paymentRefused("x402Version is not 2");
  const { members, index } = readGroup(payload.payload);
  const { transaction, bytes, envelope } = members[index] as GroupMember;
  const fields = readTransfer(transaction);
  if (!envelope) throw paymentRefused("the payment transaction is not signed");
  if (!equalBytes(fields.genesisHash, genesis))
    throw paymentRefused("the payment names another ledger in gh than ours");
  const id = txid(bytes);
  const ledger = `algorand:${toBase64Url(genesis)}`;
  const { group } = fields;
  return {
    rail: ALGORAND.name,
    key: `${ledger}/${id}`,
    aliases: group ? [`${ledger}/group/${toBase64Url(group)}`] : [],
    payer: encodeAddress(fields.sender),
    payTo: fields.receiver,
    amount: fields.amount,
    asset: fields.asset,
    payload,
    wire: { paymentGroup: payload.payload.paymentGroup, paymentIndex: index },
    txid: id,
    window: fields.window,
    members,
    index,
    signed: readEnvelope(envelope, fields.sender),
  };
}

function readTransfer(transaction: MsgpackMap) {
  try {
    if (getString(transaction, "type") !== "axfer") throw paymentRefused("the payment is not an asset transfer");
    const publicKey = (field: string) => getBytes(transaction, field, 32) ?? new Uint8Array(32);
    return {
      sender: publicKey("snd"),
      receiver: encodeAddress(publicKey("arcv")),
      group: getBytes(transaction, "grp", 32),
      amount: getInteger(transaction, "aamt"),
      asset: getInteger(transaction, "xaid").toString(),
      genesisHash: getBytes(transaction, "gh", 32) ?? new Uint8Array(),
      window: {
        firstValid: Number(getInteger(transaction, "fv")),
        lastValid: Number(getInteger(transaction, "lv")),
      },
    };
  } catch (error) {
    if (hasCode(error, "payment_refused")) throw error;
    throw paymentRefused("a field of the payment transaction has the wrong type");
  }
}
