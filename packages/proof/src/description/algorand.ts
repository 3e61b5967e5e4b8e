import { decodeTransaction, getInteger, getMap, getString, type MsgpackMap } from "../algorand/index.ts";
import { excerpt, printable } from "../text.ts";
import { assetConfiguration, assetFreeze, assetTransfer } from "./algorand-assets.ts";
import { algorandFields } from "./algorand-fields.ts";
import { addressOf, type Meaning, moved, named, optionalAddress } from "./algorand-meaning.ts";
import { algoAmount } from "./amounts.ts";
import {
  account,
  CALL_ONLY,
  type Clause,
  clause,
  type Description,
  type Party,
  unknownTransaction,
  type Words,
} from "./description.ts";

/** Describes each type of transaction (go-algorand, `protocol/txntype.go`). */
const MEANINGS: ReadonlyMap<string, (transaction: MsgpackMap, ledger: string) => Meaning> = new Map([
  ["pay", payment],
  ["axfer", assetTransfer],
  ["acfg", assetConfiguration],
  ["afrz", assetFreeze],
  ["keyreg", keyRegistration],
  ["appl", applicationCall],
  ["stpf", stateProof],
  ["hb", heartbeat],
]);

/**
 * @param bytes canonical msgpack of the unsigned transaction
 * @param ledger of record, CAIP-2
 * @throws ProofError `malformed`, also for a known member of another type or length
 */
export function describeAlgorandTransaction(bytes: Uint8Array, ledger: string): Description {
  const transaction = decodeTransaction(bytes);
  const fields = algorandFields(transaction);
  const type = getString(transaction, "type") ?? "";
  const sender = addressOf(transaction, "snd");
  const meaning = MEANINGS.get(type)?.(transaction, ledger);
  if (meaning === undefined) {
    const named = `type "${printable(excerpt(type, 16))}"`;
    const unread = unknownTransaction(`Transaction of ${named}`, fields);
    const rekeyed = optionalAddress(transaction, "rekey");
    return {
      ...unread,
      sender,
      parties: [{ role: "From", account: sender }, ...(rekeyed ? [rekeyParty(rekeyed)] : [])],
      remarks: [`Transactions of ${named} are not read here.`],
    };
  }
  const { clauses, parties = [], remarks = [], ...what } = rekeyAlone(transaction) ?? withRekey(meaning, transaction);
  return {
    ...what,
    sender,
    parties: [{ role: "From", account: sender }, ...parties],
    deed: { actor: account(sender), clauses },
    undone: "nothing moved",
    remarks,
    fields,
  };
}

/** Describes a rekey: a payment of nothing to oneself, whose only effect is to give the account to other keys. */
function rekeyAlone(transaction: MsgpackMap): Meaning | undefined {
  const isNothing = transaction.get("type") === "pay" && !transaction.has("amt") && !transaction.has("close");
  const [sender, receiver] = [addressOf(transaction, "snd"), addressOf(transaction, "rcv")];
  const to = optionalAddress(transaction, "rekey");
  if (!isNothing || sender !== receiver || to === undefined) return undefined;
  return { kind: "rekey", title: "Rekey", parties: [rekeyParty(to)], clauses: [handOver(to, sender)] };
}

/** Adds a rekey to a description: any transaction may also rekey its sender's account. */
function withRekey(meaning: Meaning, transaction: MsgpackMap): Meaning {
  const to = optionalAddress(transaction, "rekey");
  if (to === undefined) return meaning;
  return {
    ...meaning,
    title: `${meaning.title.replace(" and close-out", ", close-out")} and rekey`,
    parties: [...(meaning.parties ?? []), rekeyParty(to)],
    clauses: [...meaning.clauses, handOver(to, addressOf(transaction, "snd"))],
  };
}

function rekeyParty(account: string): Party {
  return { role: "Account handed to (rekey)", account };
}

function handOver(to: string, sender: string): Clause {
  if (to === sender) return clause("took", "take", "back control of itself (rekey)");
  return clause("handed", "hand", "control of itself to ", ...account(to), " (rekey)");
}

function payment(transaction: MsgpackMap): Meaning {
  const units = getInteger(transaction, "amt");
  const receiver = addressOf(transaction, "rcv");
  const rest = optionalAddress(transaction, "close");
  const how = units === 0n ? "giving all its ALGO to " : "giving the rest of its ALGO to ";
  const closed = rest ? clause("closed", "close", "itself, ", how, ...account(rest), " (close-out)") : undefined;
  return {
    kind: "payment",
    ...moved("ALGO payment", "ALGO close-out", transaction, algoAmount(units), receiver, closed, rest),
  };
}

function keyRegistration(transaction: MsgpackMap): Meaning {
  const [first, last] = [getInteger(transaction, "votefst"), getInteger(transaction, "votelst")];
  const registered = transaction.has("votekey")
    ? clause("registered", "register", `keys to vote in consensus in rounds ${first} to ${last}`)
    : transaction.get("nonpart") === true
      ? clause("withdrew", "withdraw", "from consensus and its rewards for ever")
      : clause("withdrew", "withdraw", "its keys from consensus");
  return { kind: "key_registration", title: "Key registration", clauses: [registered] };
}

/** The values of OnCompletion (go-algorand, `data/transactions/application.go`), in order. */
const COMPLETIONS = [
  ["call", "called", "call"],
  ["opt-in", "opted in to", "opt in to"],
  ["close-out", "closed out of", "close out of"],
  ["clearing", "cleared its state of", "clear its state of"],
  ["update", "updated", "update"],
  ["deletion", "deleted", "delete"],
] as const;

function applicationCall(transaction: MsgpackMap): Meaning {
  const id = getInteger(transaction, "apid");
  const completion = COMPLETIONS[Number(getInteger(transaction, "apan"))];
  if (id === 0n)
    return {
      kind: "deployment",
      title: "Application creation",
      clauses: [clause("created", "create", "an application")],
      remarks: [CALL_ONLY],
    };
  const [title, past, bare] = completion ?? COMPLETIONS[0];
  return {
    kind: "application_call",
    title: `Application ${title}`,
    clauses: [clause(past, bare, `application ${id}`)],
    remarks: [CALL_ONLY],
  };
}

function stateProof(transaction: MsgpackMap): Meaning {
  const message = getMap(transaction, "spmsg") ?? new Map();
  const rounds = `rounds ${getInteger(message, "f")} to ${getInteger(message, "l")}`;
  return {
    kind: "state_proof",
    title: "State proof",
    clauses: [clause("recorded", "record", `the network's state proof of ${rounds}`)],
  };
}

function heartbeat(transaction: MsgpackMap): Meaning {
  const online = optionalAddress(getMap(transaction, "hb") ?? new Map(), "a");
  const beating: Words = online ? named(online, transaction) : ["an account that it does not name"];
  return {
    kind: "heartbeat",
    title: "Heartbeat",
    parties: online ? [{ role: "Online account", account: online }] : [],
    clauses: [clause("sent", "send", "a heartbeat for ", ...beating)],
  };
}
