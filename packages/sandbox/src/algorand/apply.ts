import { getInteger, getMap, type MsgpackMap } from "@attestd/proof/algorand";
import { MAX_UINT64 } from "./consensus.ts";
import { Rejection } from "./rejection.ts";
import type { Asset, Holding, LedgerState } from "./state.ts";
import { getAddress, type Transaction, ZERO_ADDRESS } from "./transaction.ts";

/**
 * Effects of a transaction besides its own members, with the names in which the block stores them (go-algorand's
 * ApplyData).
 */
export interface ApplyData {
  /** microAlgos that went to the close-to address. */
  ca?: bigint;
  /** Base units that went to the asset close-to address. */
  aca?: bigint;
  /** The asset that was created. */
  caid?: bigint;
}

/**
 * Applies a verified transaction: fee, rekey, then what its type does (go-algorand, `ledger/eval`, `ledger/apply`).
 * A throw leaves the state half changed: apply to a child and drop it.
 * @throws Rejection
 */
export function applyTransaction(state: LedgerState, txn: Transaction, feeSink: string): ApplyData {
  state.move(txn.sender, feeSink, txn.fee);
  if (txn.rekeyTo !== undefined) {
    const authAddress = txn.rekeyTo === txn.sender ? undefined : txn.rekeyTo;
    state.putAccount(txn.sender, { ...state.account(txn.sender), authAddress });
  }
  switch (txn.type) {
    case "pay":
      return pay(state, txn);
    case "axfer":
      return transferAsset(state, txn);
    case "acfg":
      return configureAsset(state, txn);
    case "afrz":
      return freezeAsset(state, txn);
    default:
      throw new Rejection(`unknown transaction type ${txn.type}`);
  }
}

function pay(state: LedgerState, { map, sender }: Transaction): ApplyData {
  state.move(sender, getAddress(map, "rcv") ?? ZERO_ADDRESS, getInteger(map, "amt"));
  const closeTo = getAddress(map, "close");
  if (closeTo === undefined) return {};
  const closingAmount = state.account(sender).balance;
  state.move(sender, closeTo, closingAmount);
  const { holdings } = state.account(sender);
  if (holdings.size > 0) throw new Rejection(`cannot close: ${holdings.size} outstanding assets`);
  state.putAccount(sender, { balance: 0n, authAddress: undefined, holdings });
  return { ca: closingAmount };
}

function transferAsset(state: LedgerState, { map, sender }: Transaction): ApplyData {
  const id = getInteger(map, "xaid");
  const amount = getInteger(map, "aamt");
  const receiver = getAddress(map, "arcv") ?? ZERO_ADDRESS;
  const clawedBack = getAddress(map, "asnd");
  const source = clawedBack ?? sender;
  if (clawedBack !== undefined) {
    const clawback = getAddress(assetOf(state, id).parameters, "c") ?? ZERO_ADDRESS;
    if (sender !== clawback) throw new Rejection(`clawback not allowed: sender ${sender}, clawback ${clawback}`);
  } else if (amount === 0n && receiver === source && !state.account(source).holdings.has(id)) {
    const frozen = assetOf(state, id).parameters.get("df") === true;
    putHolding(state, source, id, { amount: 0n, frozen });
    return {};
  }
  takeOut(state, source, id, amount, clawedBack !== undefined);
  putIn(state, receiver, id, amount, clawedBack !== undefined);
  const closeTo = getAddress(map, "aclose");
  return closeTo === undefined ? {} : closeHolding(state, source, id, closeTo);
}

function closeHolding(state: LedgerState, source: string, id: bigint, closeTo: string): ApplyData {
  const creator = state.asset(id)?.creator;
  if (creator === source) throw new Rejection("cannot close asset ID in allocating account");
  const held = state.account(source).holdings.get(id);
  if (held === undefined) throw new Rejection(`asset ${id} not present in account ${source}`);
  const bypassFreeze = closeTo === creator;
  takeOut(state, source, id, held.amount, bypassFreeze);
  putIn(state, closeTo, id, held.amount, bypassFreeze);
  const left = state.account(source).holdings.get(id)?.amount ?? 0n;
  if (left !== 0n) throw new Rejection(`asset ${id} not zero (${left}) after closing`);
  putHolding(state, source, id, undefined);
  return { aca: held.amount };
}

function configureAsset(state: LedgerState, { map, sender }: Transaction): ApplyData {
  const id = getInteger(map, "caid");
  const parameters: MsgpackMap = getMap(map, "apar") ?? new Map();
  if (id === 0n) {
    const createdAsset = BigInt(state.counter + 1);
    state.putAsset(createdAsset, { creator: sender, parameters });
    putHolding(state, sender, createdAsset, { amount: getInteger(parameters, "t"), frozen: false });
    return { caid: createdAsset };
  }
  const asset = assetOf(state, id);
  const manager = getAddress(asset.parameters, "m") ?? ZERO_ADDRESS;
  if (sender !== manager)
    throw new Rejection(
      `this transaction should be issued by the manager. It is issued by ${sender}, manager key ${manager}`,
    );
  if (parameters.size === 0) destroyAsset(state, id, asset);
  else state.putAsset(id, { ...asset, parameters: reconfigured(asset.parameters, parameters) });
  return {};
}

function destroyAsset(state: LedgerState, id: bigint, { creator, parameters }: Asset): void {
  const total = getInteger(parameters, "t");
  const held = state.account(creator).holdings.get(id)?.amount ?? 0n;
  if (held !== total) throw new Rejection(`cannot destroy asset: creator is holding only ${held}/${total}`);
  putHolding(state, creator, id, undefined);
  state.putAsset(id, undefined);
}

/** Applies an asset's reconfiguration: only the four addresses can change, and an unset one stays unset. */
function reconfigured(before: MsgpackMap, changes: MsgpackMap): MsgpackMap {
  const after = new Map(before);
  for (const key of ["m", "r", "f", "c"]) {
    const address = changes.get(key);
    if (!before.has(key)) continue;
    if (address === undefined) after.delete(key);
    else after.set(key, address);
  }
  return after;
}

function freezeAsset(state: LedgerState, { map, sender }: Transaction): ApplyData {
  const id = getInteger(map, "faid");
  const freeze = getAddress(assetOf(state, id).parameters, "f") ?? ZERO_ADDRESS;
  if (sender !== freeze) throw new Rejection(`freeze not allowed: sender ${sender}, freeze ${freeze}`);
  const address = getAddress(map, "fadd") ?? ZERO_ADDRESS;
  const holding = state.account(address).holdings.get(id);
  if (holding === undefined) throw new Rejection("asset not found in account");
  putHolding(state, address, id, { ...holding, frozen: map.get("afrz") === true });
  return {};
}

function assetOf(state: LedgerState, id: bigint): Asset {
  const asset = state.asset(id);
  if (asset === undefined) throw new Rejection(`asset ${id} does not exist or has been deleted`);
  return asset;
}

function takeOut(state: LedgerState, address: string, id: bigint, amount: bigint, bypassFreeze: boolean): void {
  if (amount === 0n) return;
  const holding = state.account(address).holdings.get(id);
  if (holding === undefined) throw new Rejection(`asset ${id} missing from ${address}`);
  if (holding.frozen && !bypassFreeze) throw new Rejection(`asset ${id} frozen in ${address}`);
  if (holding.amount < amount)
    throw new Rejection(`underflow on subtracting ${amount} from sender amount ${holding.amount}`);
  putHolding(state, address, id, { ...holding, amount: holding.amount - amount });
}

function putIn(state: LedgerState, address: string, id: bigint, amount: bigint, bypassFreeze: boolean): void {
  if (amount === 0n) return;
  const holding = state.account(address).holdings.get(id);
  if (holding === undefined) throw new Rejection(`receiver error: must optin, asset ${id} missing from ${address}`);
  if (holding.frozen && !bypassFreeze) throw new Rejection("asset frozen in recipient");
  if (holding.amount + amount > MAX_UINT64)
    throw new Rejection(`overflow on adding ${amount} to receiver amount ${holding.amount}`);
  putHolding(state, address, id, { ...holding, amount: holding.amount + amount });
}

/** @param holding undefined removes the holding */
function putHolding(state: LedgerState, address: string, id: bigint, holding: Holding | undefined): void {
  const account = state.account(address);
  const holdings = new Map(account.holdings);
  if (holding === undefined) holdings.delete(id);
  else holdings.set(id, holding);
  state.putAccount(address, { ...account, holdings });
}
