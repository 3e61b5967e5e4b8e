import { evmCaip2 } from "../base/network.ts";
import { decodeQuantity } from "../base/rlp.ts";
import { type BaseTransaction, DEPOSIT_TYPE, decodeBaseTransaction, transactionChainId } from "../base/transaction.ts";
import { toHex } from "../encoding.ts";
import { etherAmount, knownToken } from "./amounts.ts";
import { deployedAddress, encodeEvmAddress, senderOf } from "./base-accounts.ts";
import { readTokenCall } from "./base-calls.ts";
import { baseFields } from "./base-fields.ts";
import { type Meaning, type Message, named, party } from "./base-meaning.ts";
import { tokenMeaning } from "./base-tokens.ts";
import { account, CALL_ONLY, type Clause, clause, type Description, unknownTransaction } from "./description.ts";

const CALL_UNDONE = "the call was undone";

/**
 * @param bytes EIP-2718
 * @param ledger of record, CAIP-2
 * @throws ProofError `malformed`
 */
export function describeBaseTransaction(bytes: Uint8Array, ledger: string): Description {
  const transaction = decodeBaseTransaction(bytes);
  const fields = baseFields(transaction);
  if (transaction.fields === undefined) {
    const type = `type 0x${transaction.type.toString(16)}`;
    const unread = unknownTransaction(`Transaction of ${type}`, fields);
    return { ...unread, remarks: [`Transactions of ${type} are not read here.`] };
  }
  const message = messageOf(transaction);
  const { remarks = [], ...meaning } = meaningOf(transaction, message, ledger);
  const delegated = delegations(transaction);
  return {
    // A transaction that fails still pays its fee; a deposit pays none here.
    lasting: [
      `${delegated ? "Its delegations of code (EIP-7702) may have taken effect, and its" : "Its"} network fee was paid.`,
    ],
    ...meaning,
    ...(message.sender && { sender: encodeEvmAddress(message.sender) }),
    remarks: [
      ...remarks,
      ...(message.sender ? [] : ["Its sender is not known: its signature is not valid."]),
      ...(delegated ? [`It also carries ${delegated} (EIP-7702).`] : []),
    ],
    fields,
  };
}

function messageOf(transaction: BaseTransaction): Message {
  const to = bytesOf(transaction, "to");
  return {
    sender: senderOf(transaction),
    to: to.length === 0 ? undefined : to,
    value: decodeQuantity(bytesOf(transaction, "value")),
    data: bytesOf(transaction, "data"),
  };
}

function meaningOf(transaction: BaseTransaction, message: Message, ledger: string): Meaning {
  if (transaction.type === DEPOSIT_TYPE) return deposit(transaction, message);
  const { to, value, data } = message;
  if (to === undefined) return deployment(transaction, message);
  const chainId = transactionChainId(transaction);
  const network = chainId === undefined ? undefined : evmCaip2(chainId);
  const token = knownToken("base", encodeEvmAddress(to), network, ledger);
  // None of the token functions that are read here takes ETH.
  const tokenCall = token && value === 0n ? readTokenCall(data) : undefined;
  if (token && tokenCall) return tokenMeaning(tokenCall, token, message);
  return data.length === 0 ? etherTransfer(message, to) : contractCall(message, to);
}

function etherTransfer({ sender, value }: Message, to: Uint8Array): Meaning {
  const amount = etherAmount(value);
  return {
    kind: "payment",
    title: "ETH transfer",
    amount,
    parties: [...party("From", sender), ...party("To", to)],
    deed: { actor: named(sender), clauses: [clause("sent", "send", `${amount.text} to `, ...named(to, sender))] },
    undone: "nothing moved",
  };
}

function contractCall({ sender, value, data }: Message, to: Uint8Array): Meaning {
  return {
    kind: "contract_call",
    title: "Contract call",
    ...(value > 0n && { amount: etherAmount(value) }),
    parties: [...party("From", sender), ...party("Called", to)],
    deed: { actor: named(sender), clauses: [called(to, data, value)] },
    undone: CALL_UNDONE,
    remarks: [CALL_ONLY],
  };
}

function called(to: Uint8Array, data: Uint8Array, value: bigint): Clause {
  const what = data.length < 4 ? "" : ` (function 0x${toHex(data.subarray(0, 4))})`;
  const paid = value === 0n ? "" : ` with ${etherAmount(value).text}`;
  // Whether the account has code is not in the bytes.
  return clause("called", "call", ...account(encodeEvmAddress(to)), `${what}${paid}`);
}

function deployment(transaction: BaseTransaction, { sender, value }: Message): Meaning {
  const deployed = sender && deployedAddress(sender, bytesOf(transaction, "nonce"));
  const paid = value === 0n ? "" : ` with ${etherAmount(value).text}`;
  return {
    kind: "deployment",
    title: "Contract deployment",
    ...(value > 0n && { amount: etherAmount(value) }),
    parties: [...party("From", sender), ...party("Contract", deployed)],
    deed: {
      actor: named(sender),
      clauses: [
        deployed
          ? clause("deployed", "deploy", "contract ", { id: encodeEvmAddress(deployed) }, paid)
          : clause("deployed", "deploy", `a contract${paid}`),
      ],
    },
    undone: "nothing was deployed",
    remarks: [CALL_ONLY],
  };
}

function deposit(transaction: BaseTransaction, { sender, to, value, data }: Message): Meaning {
  const from = sender as Uint8Array;
  const minted = decodeQuantity(bytesOf(transaction, "mint"));
  const credited = clause("credited", "credit", `${etherAmount(minted).text} to `, ...named(from));
  return {
    kind: "deposit",
    title: "Deposit from Ethereum",
    ...(minted > 0n || value > 0n ? { amount: etherAmount(minted > 0n ? minted : value) } : {}),
    parties: [...party("From", from), ...party(data.length === 0 ? "To" : "Called", to)],
    deed: {
      actor: ["a deposit from Ethereum"],
      clauses: minted > 0n ? [credited, depositCall(from, to, value, data)] : [depositCall(from, to, value, data)],
    },
    undone: minted > 0n ? CALL_UNDONE : data.length === 0 ? "nothing moved" : CALL_UNDONE,
    // OP Stack specification, deposits: a failed one keeps its mint.
    lasting: minted > 0n ? [`The ${etherAmount(minted).text} stays credited to `, ...named(from), "."] : [],
    remarks: data.length > 0 ? [CALL_ONLY] : [],
  };
}

function depositCall(from: Uint8Array, to: Uint8Array | undefined, value: bigint, data: Uint8Array): Clause {
  if (to === undefined) return clause("deployed", "deploy", "a contract for ", ...named(from));
  if (data.length === 0)
    return clause("sent", "send", `${etherAmount(value).text} from `, ...named(from), " to ", ...named(to, from));
  const { past, bare, what } = called(to, data, value);
  return clause(past, bare, ...what, " for ", ...named(from));
}

/** EIP-7702: delegations are applied before the call, and stay if it fails. */
function delegations({ fields }: BaseTransaction): string | undefined {
  const list = fields?.get("authorizationList");
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.length === 1 ? "a delegation of an account's code" : `${list.length} delegations of accounts' code`;
}

function bytesOf({ fields }: BaseTransaction, name: string): Uint8Array {
  const item = fields?.get(name);
  return item instanceof Uint8Array ? item : new Uint8Array();
}
