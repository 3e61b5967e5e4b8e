import { isAlgorandAddress, splitBlock } from "@attestd/proof/algorand";
import type { Context, Hono } from "hono";
import type { Json } from "../json.ts";
import { accountJson, assetJson } from "./account-json.ts";
import type { Behaviour } from "./behaviour.ts";
import { apiError, json, pathInteger, restApi } from "./http.ts";
import { blockJson, transactionJson } from "./indexer-json.ts";
import type { Ledger } from "./ledger.ts";
import { checkParameters, nextToken, parseSearch, searchTransactions } from "./search.ts";
import { isEmptyAccount } from "./state.ts";

/**
 * The indexer's REST API over the ledger and the recordings, for the transactions of all chains. Statuses and texts are the
 * indexer's (algorand/indexer, `api`).
 */
export function indexerApp(ledger: Ledger, behaviour: Readonly<Behaviour>): Hono {
  const app = restApi();
  const latest = () => Math.max(0, ledger.round - behaviour.indexerBehind);

  function found(c: Context, address?: string): Json {
    const query = new URL(c.req.url).searchParams;
    if (behaviour.indexerParameters === "default") checkParameters(query, address !== undefined);
    const search = parseSearch(query, address);
    const maxRound = Math.min(search.maxRound, latest());
    const transactions = searchTransactions(ledger.blocks, { ...search, maxRound });
    const last = transactions.at(-1);
    return {
      "current-round": latest(),
      "next-token": last && nextToken(last),
      transactions: transactions.map(transactionJson),
    };
  }

  app.get("/health", () =>
    json({
      data: { "migration-required": false, "read-only-mode": true },
      "db-available": true,
      "is-migrating": false,
      message: String(latest()),
      round: latest(),
      version: "3.9.0",
    }),
  );

  app.get("/v2/transactions", (c) => json(found(c)));
  app.get("/v2/transactions/:txid", (c) => {
    const txid = c.req.param("txid");
    const [found] = searchTransactions(ledger.blocks, parseSearch(new URLSearchParams({ txid })));
    if (found === undefined || found.round > latest())
      throw apiError(404, `no transaction found for transaction id: ${txid}`);
    return json({ "current-round": latest(), transaction: transactionJson(found) });
  });

  app.get("/v2/blocks/:round", (c) => {
    const round = pathInteger("round-number", c.req.param("round"));
    const block = round > latest() ? undefined : ledger.blocks.block(round);
    if (block === undefined) throw apiError(404, `error while looking up block for round '${round}': block not found`);
    const payset = c.req.query("header-only") === "true" ? [] : ledger.blocks.payset(round);
    return json(blockJson(splitBlock(block.bytes).header, payset.map(transactionJson)));
  });

  app.get("/v2/accounts/:address", (c) => {
    const address = addressOf(c);
    if (isEmptyAccount(ledger.state.account(address))) throw apiError(404, `no accounts found for address: ${address}`);
    const account = {
      ...accountJson(ledger, address, latest()),
      deleted: false,
      "total-box-bytes": 0,
      "total-boxes": 0,
    };
    return json({ account, "current-round": latest() });
  });
  app.get("/v2/accounts/:address/transactions", (c) => json(found(c, addressOf(c))));
  app.get("/v2/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const asset = ledger.state.asset(id);
    if (asset === undefined) throw apiError(404, `no assets found for asset-id: ${id}`);
    return json({ asset: assetJson(id, asset), "current-round": latest() });
  });
  return app;
}

function addressOf(c: Context): string {
  const text = c.req.param("address") ?? "";
  if (!isAlgorandAddress(text)) throw apiError(400, `unable to parse address 'account-id': ${text}`);
  return text;
}
