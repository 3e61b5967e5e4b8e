import { algorandCaip2, getBytes, getInteger, getMap, type MsgpackMap, type MsgpackValue } from "../algorand/index.ts";
import { excerpt, groupedUnits, printable } from "../text.ts";
import { addressOf, type Meaning, moved, named, optionalAddress } from "./algorand-meaning.ts";
import { knownToken, tokenAmount } from "./amounts.ts";
import { type Amount, account, clause, type Party } from "./description.ts";

export function assetTransfer(transaction: MsgpackMap, ledger: string): Meaning {
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

/**
 * Returns an asset by its id. The decimals of an asset that is not well known are on the ledger, not in the
 * transaction.
 */
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

export function assetConfiguration(transaction: MsgpackMap, ledger: string): Meaning {
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

export function assetFreeze(transaction: MsgpackMap, ledger: string): Meaning {
  const { name } = assetOf(transaction, "faid", ledger);
  const holder = addressOf(transaction, "fadd");
  const freezes = transaction.get("afrz") === true;
  const words = [`${name} in `, ...account(holder)];
  return {
    kind: "asset_freeze",
    title: freezes ? "Asset freeze" : "Asset unfreeze",
    parties: [{ role: "Holder", account: holder }],
    clauses: [freezes ? clause("froze", "freeze", ...words) : clause("unfroze", "unfreeze", ...words)],
  };
}
