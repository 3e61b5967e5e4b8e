import { isAlgorandAddress, splitBlock } from "@attestd/proof/algorand";
import type { Context, Hono } from "hono";
import type { Json } from "../json.ts";
import { accountJson, assetJson } from "./account-json.ts";
import { apiError, json, pathInteger, restApi } from "./http.ts";
import { blockJson, transactionJson } from "./indexer-json.ts";
import type { Ledger } from "./ledger.ts";
import { nextToken, parseSearch, searchTransactions } from "./search.ts";
import { isEmptyAccount } from "./state.ts";

/**
 * The indexer's REST API over the ledger and the recordings, for the transactions of all chains, never behind the node.
 * Statuses and texts are the indexer's (algorand/indexer, `api`).
 * @param token required in `X-Indexer-API-Token`, if given
 */
export function indexerApp(ledger: Ledger, token?: string): Hono {
  const app = restApi("X-Indexer-API-Token", token);

  app.get("/health", () =>
    json({
      data: { "migration-required": false, "read-only-mode": true },
      "db-available": true,
      "is-migrating": false,
      message: String(ledger.round),
      round: ledger.round,
      version: "3.9.0",
    }),
  );

  app.get("/v2/transactions", (c) => json(found(ledger, c)));
  app.get("/v2/transactions/:txid", (c) => {
    const txid = c.req.param("txid");
    const [found] = searchTransactions(ledger.blocks, parseSearch(new URLSearchParams({ txid })));
    if (found === undefined) throw apiError(404, `no transaction found for transaction id: ${txid}`);
    return json({ "current-round": ledger.round, transaction: transactionJson(found) });
  });

  app.get("/v2/blocks/:round", (c) => {
    const round = pathInteger("round-number", c.req.param("round"));
    const block = ledger.blocks.block(round);
    if (block === undefined) throw apiError(404, `error while looking up block for round '${round}': block not found`);
    const payset = c.req.query("header-only") === "true" ? [] : ledger.blocks.payset(round);
    return json(blockJson(splitBlock(block.bytes).header, payset.map(transactionJson)));
  });

  app.get("/v2/accounts/:address", (c) => {
    const address = addressOf(c);
    if (isEmptyAccount(ledger.state.account(address))) throw apiError(404, `no accounts found for address: ${address}`);
    const account = { ...accountJson(ledger, address), deleted: false, "total-box-bytes": 0, "total-boxes": 0 };
    return json({ account, "current-round": ledger.round });
  });
  app.get("/v2/accounts/:address/transactions", (c) => json(found(ledger, c, addressOf(c))));
  app.get("/v2/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const asset = ledger.state.asset(id);
    if (asset === undefined) throw apiError(404, `no assets found for asset-id: ${id}`);
    return json({ asset: assetJson(id, asset), "current-round": ledger.round });
  });
  return app;
}

function found(ledger: Ledger, c: Context, address?: string): Json {
  const search = parseSearch(new URL(c.req.url).searchParams, address);
  const transactions = searchTransactions(ledger.blocks, search);
  const last = transactions.at(-1);
  return {
    "current-round": ledger.round,
    "next-token": last && nextToken(last),
    transactions: transactions.map(transactionJson),
  };
}

function addressOf(c: Context): string {
  const text = c.req.param("address") ?? "";
  if (!isAlgorandAddress(text)) throw apiError(400, `unable to parse address 'account-id': ${text}`);
  return text;
}
