import type { Json } from "../json.ts";
import { assetParamsJson } from "./assets.ts";
import type { Ledger } from "./ledger.ts";
import { minBalance } from "./state.ts";

/** An account in algod's JSON; the indexer's has a few members more. */
export function accountJson(ledger: Ledger, address: string): { [name: string]: Json | undefined } {
  const account = ledger.state.account(address);
  const created = ledger.state.createdAssets(address);
  return {
    address,
    amount: account.balance,
    "amount-without-pending-rewards": account.balance,
    "apps-local-state": [],
    "apps-total-schema": { "num-byte-slice": 0, "num-uint": 0 },
    assets: [...account.holdings].map(([id, { amount, frozen }]) => ({
      amount,
      "asset-id": id,
      "is-frozen": frozen,
    })),
    "auth-addr": account.authAddress,
    "created-apps": [],
    "created-assets": created.map(([index, { creator, parameters }]) => ({
      index,
      params: assetParamsJson(creator, parameters),
    })),
    "min-balance": minBalance(account),
    "pending-rewards": 0,
    "reward-base": 0,
    rewards: 0,
    round: ledger.round,
    status: "Offline",
    "total-apps-opted-in": 0,
    "total-assets-opted-in": account.holdings.size,
    "total-created-apps": 0,
    "total-created-assets": created.length,
  };
}

/** An asset in algod's JSON; undefined when there is none. */
export function assetJson(ledger: Ledger, index: bigint): Json | undefined {
  const asset = ledger.state.asset(index);
  return asset && { index, params: assetParamsJson(asset.creator, asset.parameters) };
}
