import {
  encodeMsgpack,
  isAlgorandAddress,
  isAlgorandTxId,
  type MsgpackMap,
  proveLeaf,
  splitBlock,
} from "@attestd/proof/algorand";
import { concatBytes, toBase64 } from "@attestd/proof/encoding";
import type { Context, Hono } from "hono";
import type { Json, JsonObject } from "../json.ts";
import { accountJson, assetJson, holdingJson } from "./account-json.ts";
import { paysetLeaves, type StoredBlock, stibHash } from "./block.ts";
import { CONSENSUS_VERSION, MIN_TXN_FEE } from "./consensus.ts";
import { apiError, json, msgpack, pathInteger, restApi } from "./http.ts";
import { algodJson } from "./json.ts";
import type { Ledger } from "./ledger.ts";
import { decodeSignedTransactions, type SignedTransaction } from "./transaction.ts";
import { answerSimulate, pendingInformation } from "./transaction-information.ts";

const WAIT_FOR_BLOCK_MS = 60_000;

const NOT_FOUND = "could not find the transaction in the transaction pool or in the last 1000 confirmed rounds";

/**
 * algod's REST API over the ledger, as far as algosdk and @x402/avm use it. Statuses and texts are go-algorand's
 * (`daemon/algod/api/server/v2`). State proofs are never made, so the light header's answer is that of a real node before
 * a state proof covers the round.
 * @param token required in `X-Algo-API-Token` on `/v2`, if given
 */
export function algodApp(ledger: Ledger, token?: string): Hono {
  const { genesis } = ledger;
  const app = restApi("X-Algo-API-Token", token);

  app.get("/health", () => json(null));
  app.get("/ready", () => json(null));
  app.get("/versions", () =>
    json({
      versions: ["v2"],
      genesis_id: genesis.id,
      genesis_hash_b64: toBase64(genesis.hash),
      build: { major: 4, minor: 4, build_number: 1, commit_hash: "attestd", branch: "sandbox", channel: "sandbox" },
    }),
  );
  app.get("/genesis", () => json(genesis.document));

  app.get("/v2/status", () => json(status(ledger)));
  app.get("/v2/status/wait-for-block-after/:round", async (c) => {
    const round = pathInteger("round", c.req.param("round"));
    await ledger.reached(round + 1, AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(WAIT_FOR_BLOCK_MS)]));
    return json(status(ledger));
  });

  app.get("/v2/transactions/params", () =>
    json({
      "consensus-version": CONSENSUS_VERSION,
      fee: 0,
      "genesis-hash": toBase64(genesis.hash),
      "genesis-id": genesis.id,
      "last-round": ledger.round,
      "min-fee": MIN_TXN_FEE,
    }),
  );
  app.post("/v2/transactions", async (c) => {
    const group = decodeSignedTransactions(new Uint8Array(await c.req.arrayBuffer()));
    ledger.submit(group);
    return json({ txId: (group[0] as SignedTransaction).txn.id });
  });
  app.post("/v2/transactions/simulate", async (c) =>
    answer(c, answerSimulate(ledger, new Uint8Array(await c.req.arrayBuffer()))),
  );
  app.get("/v2/transactions/pending", (c) => answer(c, pool(ledger, c)));
  app.get("/v2/transactions/pending/:txid", (c) => {
    const found = pendingInformation(ledger, transactionId(c));
    if (found === undefined) throw apiError(404, NOT_FOUND);
    return answer(c, found);
  });

  app.get("/v2/blocks/:round", (c) => {
    const { bytes } = block(ledger, c);
    const { header, transactions } = splitBlock(bytes);
    if (c.req.query("header-only") === "true") return answer(c, new Map([["block", header]]));
    if (wantsMsgpack(c)) return msgpack(bytes, { "x-algorand-struct": "block-v1" });
    const whole = transactions.length === 0 ? header : new Map(header).set("txns", transactions);
    return answer(c, new Map([["block", whole]]));
  });
  app.get("/v2/blocks/:round/hash", (c) => json({ blockHash: block(ledger, c).hash }));
  app.get("/v2/blocks/:round/txids", (c) => json({ blockTxids: block(ledger, c).txids }));
  app.get("/v2/blocks/:round/transactions/:txid/proof", (c) => json(transactionProof(ledger, c)));
  app.get("/v2/blocks/:round/lightheader/proof", (c) => {
    if (pathInteger("round", c.req.param("round")) > ledger.round)
      throw apiError(500, "given round is greater than the latest round");
    throw apiError(404, "no state proof can be found for that round");
  });

  app.get("/v2/accounts/:address", (c) => json(accountJson(ledger, address(c))));
  app.get("/v2/accounts/:address/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const holding = ledger.state.account(address(c)).holdings.get(id);
    if (holding === undefined) throw apiError(404, "account asset info not found");
    return json({ round: ledger.round, "asset-holding": holdingJson(id, holding) });
  });
  app.get("/v2/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const asset = ledger.state.asset(id);
    if (asset === undefined) throw apiError(404, "asset does not exist");
    return json(assetJson(id, asset));
  });
  return app;
}

function status(ledger: Ledger): JsonObject {
  return {
    catchpoint: "",
    "catchpoint-acquired-blocks": 0,
    "catchpoint-processed-accounts": 0,
    "catchpoint-processed-kvs": 0,
    "catchpoint-total-accounts": 0,
    "catchpoint-total-blocks": 0,
    "catchpoint-total-kvs": 0,
    "catchpoint-verified-accounts": 0,
    "catchpoint-verified-kvs": 0,
    "catchup-time": 0,
    "last-catchpoint": "",
    "last-round": ledger.round,
    "last-version": CONSENSUS_VERSION,
    "next-version": CONSENSUS_VERSION,
    "next-version-round": ledger.round + 1,
    "next-version-supported": true,
    "stopped-at-unsupported-round": false,
    // Nanoseconds.
    "time-since-last-round": Math.round(ledger.sinceLatest() * 1e6),
  };
}

function pool(ledger: Ledger, c: Context): MsgpackMap {
  const waiting = ledger.pool();
  const max = Number(c.req.query("max") ?? 0);
  const top = max === 0 ? waiting : waiting.slice(0, max);
  const answer: MsgpackMap = new Map([["top-transactions", top.map(({ map }) => map)]]);
  return answer.set("total-transactions", waiting.length);
}

function transactionProof(ledger: Ledger, c: Context): Json {
  const id = transactionId(c);
  const hashtype = c.req.query("hashtype") ?? "sha512_256";
  if (hashtype !== "sha256" && hashtype !== "sha512_256") throw apiError(400, "invalid hash type");
  const stored = block(ledger, c);
  const index = stored.txids.indexOf(id);
  const { header, transactions } = splitBlock(stored.bytes);
  const inBlock = transactions[index];
  if (inBlock === undefined) throw apiError(404, NOT_FOUND);
  const tree = hashtype === "sha256" ? "txn256" : "txn";
  const siblings = proveLeaf(tree, paysetLeaves(tree, header, transactions), index);
  return {
    hashtype,
    idx: index,
    proof: toBase64(concatBytes(...siblings)),
    stibhash: toBase64(stibHash(tree, inBlock)),
    treedepth: siblings.length,
  };
}

function block(ledger: Ledger, c: Context): StoredBlock {
  const found = ledger.blocks.block(pathInteger("round", c.req.param("round") ?? ""));
  if (found === undefined) throw apiError(404, "failed to retrieve information from the ledger");
  return found;
}

function transactionId(c: Context): string {
  const id = c.req.param("txid") ?? "";
  if (!isAlgorandTxId(id)) throw apiError(400, "no valid transaction ID was specified");
  return id;
}

function address(c: Context): string {
  const text = c.req.param("address") ?? "";
  if (!isAlgorandAddress(text)) throw apiError(400, "failed to parse the address");
  return text;
}

/** The value in the requested format: msgpack, or JSON by default. */
function answer(c: Context, value: MsgpackMap): Response {
  return wantsMsgpack(c) ? msgpack(encodeMsgpack(value)) : json(algodJson(value));
}

function wantsMsgpack(c: Context): boolean {
  const format = c.req.query("format") ?? "json";
  if (format === "msgpack" || format === "msgp") return true;
  if (format === "json") return false;
  throw apiError(400, "failed to parse the format option");
}
