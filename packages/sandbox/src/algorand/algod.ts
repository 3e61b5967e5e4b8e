import { encodeMsgpack, isFlat, type MsgpackMap, proveLeaf, splitBlock, stibHash } from "@attestd/proof/algorand";
import { concatBytes, toBase64 } from "@attestd/proof/encoding";
import type { Context, Hono } from "hono";
import type { Json, JsonObject } from "../json.ts";
import { accountJson, assetJson, holdingJson } from "./account-json.ts";
import { address, answer, roundIn, transactionId, wantsMsgpack } from "./algod-request.ts";
import { paysetLeaves, type StoredBlock } from "./block.ts";
import { MIN_TXN_FEE } from "./consensus.ts";
import { apiError, json, msgpack, pathInteger, restApi } from "./http.ts";
import type { LedgerNode } from "./node.ts";
import type { ProvenRounds } from "./state-proof/state-proofs.ts";
import { decodeSignedTransactions, type SignedTransaction } from "./transaction.ts";
import { answerSimulate, pendingInformation } from "./transaction-information.ts";

const WAIT_FOR_BLOCK_MS = 60_000;

/** The members of an account that `exclude=all` leaves out. */
const WITHOUT_RESOURCES = {
  "apps-local-state": undefined,
  assets: undefined,
  "created-apps": undefined,
  "created-assets": undefined,
};

/** The status names it while the node restores it: round, and digest of the state. */
const CATCHPOINT = "2304#AJHD6QT4DQXC7FIBGGUEVV2SVGZJOAS6VQ6Q7ZZGXRTCDR3LE4RA";

/** The status reports a catch-up that began 30 seconds ago. */
const CATCHUP_NS = 30_000_000_000;

const NO_BLOCK = "failed to retrieve information from the ledger";
const NOT_FOUND = "could not find the transaction in the transaction pool or in the last 1000 confirmed rounds";

/**
 * algod's REST API over a node, as far as algosdk and @x402/avm use it. Statuses and texts are go-algorand's
 * (`daemon/algod/api/server/v2`).
 */
export function algodApp(node: LedgerNode): Hono {
  const { ledger } = node;
  const { genesis } = ledger;
  const app = restApi();

  app.get("/health", () => json(null));
  app.get("/ready", () => json(null, node.behaviour.catchup === "none" ? 200 : 503));
  app.get("/versions", () =>
    json({
      versions: ["v2"],
      genesis_id: genesis.id,
      genesis_hash_b64: toBase64(genesis.hash),
      build: { major: 5, minor: 0, build_number: 0, commit_hash: "", branch: "", channel: "" },
    }),
  );
  app.get("/genesis", () => json(genesis.document));

  app.get("/v2/status", () => json(status(node)));
  app.get("/v2/status/wait-for-block-after/:round", async (c) => {
    const round = roundIn(c);
    node.checkAvailable();
    if (node.behaviour.submit === "shutdown") throw apiError(500, "operation aborted as server is shutting down");
    const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(WAIT_FOR_BLOCK_MS)]);
    await ledger.reached(round + 1 + node.behaviour.behind, signal);
    return json(status(node));
  });

  // A node that restores a catchpoint refuses every question about transactions.
  app.use("/v2/transactions/*", async (_, next) => {
    node.checkAvailable();
    await next();
  });
  app.get("/v2/transactions/params", () =>
    json({
      "consensus-version": ledger.version,
      fee: node.suggestedFee,
      "genesis-hash": toBase64(genesis.hash),
      "genesis-id": genesis.id,
      "last-round": node.round,
      "min-fee": MIN_TXN_FEE,
    }),
  );
  app.post("/v2/transactions", async (c) => {
    const group = decodeSignedTransactions(new Uint8Array(await c.req.arrayBuffer()));
    node.submit(group);
    return json({ txId: (group[0] as SignedTransaction).txn.id });
  });
  app.post("/v2/transactions/simulate", async (c) =>
    answer(c, answerSimulate(node, new Uint8Array(await c.req.arrayBuffer()))),
  );
  app.get("/v2/transactions/pending", (c) => answer(c, pool(node, c)));
  app.get("/v2/transactions/pending/:txid", (c) => {
    const found = pendingInformation(node, transactionId(c));
    if (found === undefined) throw apiError(404, NOT_FOUND);
    return answer(c, found);
  });

  app.get("/v2/blocks/:round", (c) => {
    const { bytes } = block(node, c);
    const { header, transactions } = splitBlock(bytes);
    if (c.req.query("header-only") === "true") return answer(c, new Map([["block", header]]));
    if (wantsMsgpack(c)) return msgpack(bytes, { "x-algorand-struct": "block-v1" });
    const whole = transactions.length === 0 ? header : new Map(header).set("txns", transactions);
    return answer(c, new Map([["block", whole]]));
  });
  app.get("/v2/blocks/:round/hash", (c) => json({ blockHash: block(node, c).hash }));
  app.get("/v2/blocks/:round/txids", (c) => json({ blockTxids: block(node, c).txids }));
  app.get("/v2/blocks/:round/transactions/:txid/proof", (c) => json(transactionProof(node, c)));
  app.get("/v2/blocks/:round/lightheader/proof", (c) => json(lightHeaderProof(node, c)));
  app.get("/v2/stateproofs/:round", (c) => {
    const { message, stateProof } = provenRounds(node, c);
    return json({
      Message: {
        BlockHeadersCommitment: message.blockHeadersCommitment,
        FirstAttestedRound: message.firstAttestedRound,
        LastAttestedRound: message.lastAttestedRound,
        LnProvenWeight: message.lnProvenWeight,
        VotersCommitment: message.votersCommitment,
      },
      StateProof: toBase64(stateProof),
    });
  });

  // Only a follower has the data API.
  app.get("/v2/ledger/sync", () =>
    node.behaviour.follower ? json({ round: node.round }) : json({ message: "Not Found" }, 404),
  );

  app.get("/v2/accounts/:address", (c) => {
    const account = accountJson(ledger, address(c), node.round);
    const exclude = c.req.query("exclude") ?? "none";
    if (exclude === "none") return json(account);
    if (exclude !== "all") throw apiError(400, "failed to parse exclude");
    return json({ ...account, ...WITHOUT_RESOURCES });
  });
  app.get("/v2/accounts/:address/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const holding = ledger.state.account(address(c)).holdings.get(id);
    if (holding === undefined) throw apiError(404, "account asset info not found");
    return json({ round: node.round, "asset-holding": holdingJson(id, holding) });
  });
  app.get("/v2/assets/:asset", (c) => {
    const id = BigInt(pathInteger("asset-id", c.req.param("asset")));
    const asset = ledger.state.asset(id);
    if (asset === undefined) throw apiError(404, "asset does not exist");
    return json(assetJson(id, asset));
  });
  return app;
}

function status({ ledger, round, behaviour: { catchup } }: LedgerNode): JsonObject {
  return {
    catchpoint: catchup === "catchpoint" ? CATCHPOINT : "",
    "catchpoint-acquired-blocks": 0,
    "catchpoint-processed-accounts": 0,
    "catchpoint-processed-kvs": 0,
    "catchpoint-total-accounts": 0,
    "catchpoint-total-blocks": 0,
    "catchpoint-total-kvs": 0,
    "catchpoint-verified-accounts": 0,
    "catchpoint-verified-kvs": 0,
    // Nanoseconds.
    "catchup-time": catchup === "none" ? 0 : CATCHUP_NS,
    "last-catchpoint": "",
    "last-round": round,
    "last-version": ledger.version,
    "next-version": ledger.consensus.version,
    "next-version-round": round + 1,
    "next-version-supported": true,
    "stopped-at-unsupported-round": false,
    "time-since-last-round": Math.round(ledger.sinceLatest() * 1e6),
  };
}

function pool({ ledger, behaviour }: LedgerNode, c: Context): MsgpackMap {
  const waiting = behaviour.follower ? [] : ledger.pool();
  const max = Number(c.req.query("max") ?? 0);
  const top = max === 0 ? waiting : waiting.slice(0, max);
  const answer: MsgpackMap = new Map([["top-transactions", top.map(({ map }) => map)]]);
  return answer.set("total-transactions", waiting.length);
}

/** Finds the state proof of the round in the path; a node searches for its transaction in the blocks after it. */
function provenRounds(node: LedgerNode, c: Context): ProvenRounds {
  const round = roundIn(c);
  if (round > node.round) throw apiError(500, "given round is greater than the latest round");
  const proven = node.ledger.stateProofs?.of(round);
  if (proven === undefined || proven.round > node.round)
    throw apiError(404, "no state proof can be found for that round");
  if (node.block(round + 1) === undefined) throw apiError(500, NO_BLOCK);
  return proven;
}

function lightHeaderProof(node: LedgerNode, c: Context): Json {
  const { firstAttestedRound: first, lastAttestedRound: last } = provenRounds(node, c).message;
  const index = roundIn(c) - first;
  const leaves = node.ledger.stateProofs?.lightHeaders(first, last, (round) => node.block(round));
  if (leaves === undefined) throw apiError(500, NO_BLOCK);
  const siblings = proveLeaf("txn256", leaves, index);
  return { index, proof: toBase64(concatBytes(...siblings)), treedepth: siblings.length };
}

function transactionProof(node: LedgerNode, c: Context): Json {
  const id = transactionId(c);
  const hashtype = c.req.query("hashtype") ?? "sha512_256";
  if (hashtype !== "sha256" && hashtype !== "sha512_256") throw apiError(400, "invalid hash type");
  const stored = node.block(roundIn(c));
  // Other answers about a missing block are 404.
  if (stored === undefined) throw apiError(500, NO_BLOCK);
  const index = stored.txids.indexOf(id);
  const { header, transactions } = splitBlock(stored.bytes);
  if (isFlat(header, encodeMsgpack(transactions))) throw apiError(404, "protocol does not support Merkle proofs");
  if (hashtype === "sha256" && !header.has("txn256"))
    throw apiError(400, "protocol does not support sha256 vector commitment proofs");
  const inBlock = transactions[index];
  if (inBlock === undefined) throw apiError(404, NOT_FOUND);
  const tree = hashtype === "sha256" ? "txn256" : "txn";
  const siblings = proveLeaf(tree, paysetLeaves(tree, header, transactions), index);
  return {
    hashtype,
    idx: index,
    proof: toBase64(concatBytes(...siblings)),
    stibhash: toBase64(stibHash(tree, encodeMsgpack(inBlock))),
    treedepth: siblings.length,
  };
}

function block(node: LedgerNode, c: Context): StoredBlock {
  const found = node.block(roundIn(c));
  if (found === undefined) throw apiError(404, NO_BLOCK);
  return found;
}
