import {
  algorandCaip2,
  decodeTransaction,
  encodeAddress,
  getBytes,
  getInteger,
  getMap,
  getString,
  type MsgpackMap,
  type MsgpackValue,
} from "../algorand/index.ts";
import { excerpt, groupedUnits, printable } from "../text.ts";
import { algorandFields } from "./algorand-fields.ts";
import { algoAmount, knownToken, tokenAmount } from "./amounts.ts";
import {
  type Amount,
  account,
  type Clause,
  clause,
  type Description,
  type Party,
  unknownTransaction,
  type Words,
} from "./description.ts";

const INNER = "Its bytes show the call, not what happened inside it.";
const ZERO = new Uint8Array(32);

/** The parts of a description that a type of transaction decides. The first party after the sender comes first. */
type Meaning = {
  kind: Description["kind"];
  title: string;
  amount?: Amount;
  parties?: Party[];
  clauses: [Clause, ...Clause[]];
  remarks?: string[];
};

/** What each type of transaction (go-algorand, `protocol/txntype.go`) means. */
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

/** Nothing paid by an account to itself is how it is handed over to other keys. */
function rekeyAlone(transaction: MsgpackMap): Meaning | undefined {
  const isNothing = transaction.get("type") === "pay" && !transaction.has("amt") && !transaction.has("close");
  const [sender, receiver] = [addressOf(transaction, "snd"), addressOf(transaction, "rcv")];
  const to = optionalAddress(transaction, "rekey");
  if (!isNothing || sender !== receiver || to === undefined) return undefined;
  return { kind: "rekey", title: "Rekey", parties: [rekeyParty(to)], clauses: [handOver(to, sender)] };
}

/** Any transaction may also hand its sender's account over. */
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

/** What a transfer moves to its receiver, and to the account that gets the rest. */
function moved(
  title: string,
  closeOut: string,
  transaction: MsgpackMap,
  amount: Amount,
  receiver: string,
  closed: Clause | undefined,
  rest: string | undefined,
): Omit<Meaning, "kind"> {
  const remainder = rest ? [{ role: "The rest goes to (close-out)", account: rest }] : [];
  // An amount of zero would hide what a close-out moves.
  if (closed && amount.units === "0") return { title: closeOut, parties: remainder, clauses: [closed] };
  const sent = clause("sent", "send", `${amount.text} to `, ...named(receiver, transaction));
  return {
    title: closed ? `${title} and close-out` : title,
    amount,
    parties: [{ role: "To", account: receiver }, ...remainder],
    clauses: closed ? [sent, closed] : [sent],
  };
}

function assetTransfer(transaction: MsgpackMap, ledger: string): Meaning {
  const asset = assetOf(transaction, "xaid", ledger);
  const units = getInteger(transaction, "aamt");
  const amount = asset.amount(units);
  const receiver = addressOf(transaction, "arcv");
  const taken = optionalAddress(transaction, "asnd");
  const rest = optionalAddress(transaction, "aclose");
  const title = asset.symbol ?? "Asset";
  if (taken)
    return {
      kind: "clawback",
      title: `${title} clawback`,
      amount,
      parties: [
        { role: "Taken from", account: taken },
        { role: "To", account: receiver },
      ],
      clauses: [
        clause("took", "take", `${amount.text} from `, ...account(taken)),
        clause("gave", "give", "it to ", ...named(receiver, transaction), " (clawback)"),
      ],
    };
  const toItself = receiver === addressOf(transaction, "snd");
  if (units === 0n && toItself && !rest)
    return { kind: "asset_opt_in", title: `${title} opt-in`, clauses: [clause("opted", "opt", `in to ${asset.name}`)] };
  const how = units === 0n ? "giving all that it held to " : "giving the rest of what it held to ";
  const closed = rest ? clause("left", "leave", `${asset.name}, `, how, ...account(rest), " (close-out)") : undefined;
  return {
    kind: "token_transfer",
    ...moved(`${title} transfer`, `${title} close-out`, transaction, amount, receiver, closed, rest),
  };
}

/** An asset by its id. The decimals of one that is not well known are on the ledger, not in the transaction. */
function assetOf(transaction: MsgpackMap, member: string, ledger: string) {
  const id = getInteger(transaction, member);
  const genesisHash = getBytes(transaction, "gh", 32);
  const token = knownToken("algorand", String(id), genesisHash && algorandCaip2(genesisHash), ledger);
  return {
    name: token ? `asset ${id} (${token.symbol})` : `asset ${id}`,
    symbol: token?.symbol,
    amount: (units: bigint): Amount =>
      token
        ? tokenAmount(units, token)
        : { units: String(units), text: `${groupedUnits(units, 0)} ${units === 1n ? "unit" : "units"} of asset ${id}` },
  };
}

function assetConfiguration(transaction: MsgpackMap, ledger: string): Meaning {
  const parameters = getMap(transaction, "apar");
  const { name } = assetOf(transaction, "caid", ledger);
  if (!transaction.has("caid")) return assetCreation(parameters ?? new Map());
  if (parameters === undefined)
    return { kind: "asset_destruction", title: "Asset destruction", clauses: [clause("destroyed", "destroy", name)] };
  return {
    kind: "asset_configuration",
    title: "Asset configuration",
    parties: assetRoles(parameters),
    clauses: [clause("changed", "change", `the accounts that manage ${name}`)],
    remarks: ["A role of the asset that is not named is removed for ever."],
  };
}

function assetCreation(parameters: MsgpackMap): Meaning {
  const decimals = Number(getInteger(parameters, "dc"));
  const total = getInteger(parameters, "t");
  // No ledger has an asset of more than 19 decimals.
  const isPlausible = decimals <= 19;
  const shown = groupedUnits(total, isPlausible ? decimals : 0);
  const text = `${shown} ${shown === "1" ? "unit" : "units"}`;
  const name = nameOf(parameters.get("an")) ?? nameOf(parameters.get("un"));
  const called = name === undefined ? "" : ` named ${name}`;
  return {
    kind: "asset_creation",
    title: "Asset creation",
    amount: { units: String(total), ...(isPlausible && { decimals }), text },
    parties: assetRoles(parameters),
    clauses: [clause("created", "create", `an asset${called}, of ${text} in total`)],
    ...(name !== undefined && { remarks: ["An asset's name is its creator's choice: several may have the same."] }),
  };
}

const ROLES = [
  ["m", "Manager"],
  ["r", "Reserve"],
  ["f", "May freeze"],
  ["c", "May claw back"],
] as const;

function assetRoles(parameters: MsgpackMap): Party[] {
  return ROLES.flatMap(([member, role]) => {
    const address = optionalAddress(parameters, member);
    return address ? [{ role, account: address }] : [];
  });
}

function nameOf(value: MsgpackValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? `"${printable(excerpt(value, 32))}"` : undefined;
}

function assetFreeze(transaction: MsgpackMap, ledger: string): Meaning {
  const { name } = assetOf(transaction, "faid", ledger);
  const holder = addressOf(transaction, "fadd");
  const freezes = transaction.get("afrz") === true;
  return {
    kind: "asset_freeze",
    title: freezes ? "Asset freeze" : "Asset unfreeze",
    parties: [{ role: "Holder", account: holder }],
    clauses: [
      freezes
        ? clause("froze", "freeze", `${name} in `, ...account(holder))
        : clause("unfroze", "unfreeze", `${name} in `, ...account(holder)),
    ],
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

/** On completion (go-algorand, `data/transactions/application.go`), in their order. */
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
      remarks: [INNER],
    };
  const [title, past, bare] = completion ?? COMPLETIONS[0];
  return {
    kind: "application_call",
    title: `Application ${title}`,
    clauses: [clause(past, bare, `application ${id}`)],
    remarks: [INNER],
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

/** The account, or `itself` for the sender. */
function named(address: string, transaction: MsgpackMap): Words {
  return address === addressOf(transaction, "snd") ? ["itself"] : account(address);
}

/** An address that is absent is the zero address. */
function addressOf(map: MsgpackMap, member: string): string {
  return optionalAddress(map, member) ?? encodeAddress(ZERO);
}

function optionalAddress(map: MsgpackMap, member: string): string | undefined {
  const bytes = getBytes(map, member, 32);
  return bytes && encodeAddress(bytes);
}
