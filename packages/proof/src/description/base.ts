import { evmCaip2 } from "../base/network.ts";
import { decodeQuantity } from "../base/rlp.ts";
import { type BaseTransaction, DEPOSIT_TYPE, decodeBaseTransaction, transactionChainId } from "../base/transaction.ts";
import { toHex } from "../encoding.ts";
import { etherAmount, knownToken, tokenAmount } from "./amounts.ts";
import { deployedAddress, encodeEvmAddress, senderOf } from "./base-accounts.ts";
import { readTokenCall, type TokenCall } from "./base-calls.ts";
import { baseFields } from "./base-fields.ts";
import {
  account,
  type Clause,
  clause,
  type Description,
  type Party,
  unknownTransaction,
  type Words,
} from "./description.ts";

const INNER = "Its bytes show the call, not what happened inside it.";
const CALL_UNDONE = "the call was undone";
const NOTHING_MOVED = "nothing moved";
const UNLIMITED = 2n ** 256n - 1n;

/** What a transaction has its receiver do, and whom it is from as far as its bytes show. */
type Message = {
  /** 20 bytes. */
  sender: Uint8Array | undefined;
  /** 20 bytes; undefined for a deployment. */
  to: Uint8Array | undefined;
  /** Wei. */
  value: bigint;
  data: Uint8Array;
};

type Meaning = Omit<Description, "fields" | "sender" | "remarks"> & { remarks?: string[] };

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
    // What anyone else than a deposit has done is paid for even if it fails.
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
  // No function of a token that is read here takes ETH.
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
    deed: { actor: actor(sender), clauses: [clause("sent", "send", `${amount.text} to `, ...named(to, sender))] },
    undone: NOTHING_MOVED,
  };
}

function contractCall({ sender, value, data }: Message, to: Uint8Array): Meaning {
  return {
    kind: "contract_call",
    title: "Contract call",
    ...(value > 0n && { amount: etherAmount(value) }),
    parties: [...party("From", sender), ...party("Called", to)],
    deed: { actor: actor(sender), clauses: [called(to, data, value)] },
    undone: CALL_UNDONE,
    remarks: [INNER],
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
      actor: actor(sender),
      clauses: [
        deployed
          ? clause("deployed", "deploy", "contract ", { id: encodeEvmAddress(deployed) }, paid)
          : clause("deployed", "deploy", `a contract${paid}`),
      ],
    },
    undone: "nothing was deployed",
    remarks: [INNER],
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
    undone: minted > 0n ? CALL_UNDONE : data.length === 0 ? NOTHING_MOVED : CALL_UNDONE,
    // OP Stack specification, deposits: a failed one keeps its mint.
    lasting: minted > 0n ? [`The ${etherAmount(minted).text} stays credited to `, ...named(from), "."] : [],
    remarks: data.length > 0 ? [INNER] : [],
  };
}

function depositCall(from: Uint8Array, to: Uint8Array | undefined, value: bigint, data: Uint8Array): Clause {
  if (to === undefined) return clause("deployed", "deploy", "a contract for ", ...named(from));
  if (data.length === 0)
    return clause("sent", "send", `${etherAmount(value).text} from `, ...named(from), " to ", ...named(to, from));
  const { past, bare, what } = called(to, data, value);
  return clause(past, bare, ...what, " for ", ...named(from));
}

function tokenMeaning(call: TokenCall, token: { symbol: string; decimals: number }, { sender }: Message): Meaning {
  if (call.does === "approve") return approval(call, token, sender);
  const { to, units } = call;
  const amount = tokenAmount(units, token);
  const from = call.does === "transfer" ? sender : call.from;
  const isOwn = call.does === "transfer" || isSame(from, sender);
  const isMoved = call.does === "transferFrom" && !isOwn && !call.bySignature;
  const sent = clause("sent", "send", `${amount.text} to `, ...named(to, from));
  const moved = clause("moved", "move", `${amount.text} from `, ...named(from), " to ", ...named(to, sender));
  return {
    kind: "token_transfer",
    title: `${token.symbol} transfer`,
    amount,
    parties: [
      ...party("From", from),
      ...party("To", to),
      ...(isOwn
        ? []
        : party(isMoved ? "Moved by, who paid the network fee" : "Submitted by, who paid the network fee", sender)),
    ],
    deed: {
      actor: actor(isMoved ? sender : from),
      clauses: [isMoved ? moved : sent],
      ...(isOwn || isMoved ? {} : { after: submittedBy(sender) }),
    },
    undone: NOTHING_MOVED,
  };
}

function approval(
  call: Extract<TokenCall, { does: "approve" }>,
  token: { symbol: string; decimals: number },
  sender: Uint8Array | undefined,
): Meaning {
  const { spender, units } = call;
  const owner = call.owner ?? sender;
  const isOwn = call.owner === undefined || isSame(owner, sender);
  const most =
    units === UNLIMITED ? `an unlimited amount of ${token.symbol}` : `up to ${tokenAmount(units, token).text}`;
  const allowed = clause("allowed", "allow", ...named(spender), ` to spend ${most}`);
  const withdrawn = clause("withdrew", "withdraw", `the ${token.symbol} allowance of `, ...named(spender));
  const amount =
    units === UNLIMITED
      ? { ...tokenAmount(units, token), text: `unlimited ${token.symbol}` }
      : tokenAmount(units, token);
  return {
    kind: "approval",
    title: `${token.symbol} approval`,
    amount,
    parties: [
      ...party("Owner", owner),
      ...party("May spend", spender),
      ...(isOwn ? [] : party("Submitted by, who paid the network fee", sender)),
    ],
    deed: {
      actor: actor(owner),
      clauses: [units === 0n ? withdrawn : allowed],
      ...(isOwn ? {} : { after: submittedBy(sender) }),
    },
    undone: "nothing was approved",
  };
}

/** EIP-7702: delegations are applied before the call, and stay if it fails. */
function delegations({ fields }: BaseTransaction): string | undefined {
  const list = fields?.get("authorizationList");
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.length === 1 ? "a delegation of an account's code" : `${list.length} delegations of accounts' code`;
}

function submittedBy(sender: Uint8Array | undefined): Words {
  return [", submitted by ", ...actor(sender), ", which paid the network fee"];
}

function actor(sender: Uint8Array | undefined): Words {
  return sender ? named(sender) : ["an account that is not known"];
}

/** @param self who does it */
function named(address: Uint8Array | undefined, self?: Uint8Array): Words {
  if (address === undefined) return ["an account that is not known"];
  return isSame(address, self) ? ["itself"] : account(encodeEvmAddress(address));
}

function party(role: string, address: Uint8Array | undefined): Party[] {
  return address ? [{ role, account: encodeEvmAddress(address) }] : [];
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && toHex(a) === toHex(b);
}

function bytesOf({ fields }: BaseTransaction, name: string): Uint8Array {
  const item = fields?.get(name);
  return item instanceof Uint8Array ? item : new Uint8Array();
}
