import type { Submission } from "./ledger.ts";

/** The length of a rejection in the log and for the operator, in characters. */
const MAX_REASON = 300;

/** Errors of a node that cannot accept transactions now; they say nothing about the transaction that was sent. */
const NODE_IS_UNABLE = [
  // The network queue is full: this node's own pool has the transaction, other nodes do not.
  "broadcast queue full",
  "WebsocketNetwork shutting down",
  "caller cancelled broadcast",
  "transaction pool is shutting down",
  "no pending block evaluator",
  "cannot broadcast txns in follower mode",
];

/**
 * Classifies algod's rejection of a transaction, which is always HTTP 400 with one sentence of go-algorand's
 * (`data/pools`, `network/wsNetwork.go`, `node/follower_node.go`, `ledger`).
 * @param message algod's own words
 */
export function classifyRejection(message: string): Submission {
  const sentence = withoutDumps(message);
  const reason = sentence.length > MAX_REASON ? `…${sentence.slice(1 - MAX_REASON)}` : sentence;
  if (/transaction already in ledger/.test(sentence)) return { status: "accepted" };
  if (/overlapping lease/.test(sentence)) return { status: "leased", reason };

  const dead = /txn dead: round (\d+) outside of (\d+)--(\d+)/.exec(sentence);
  if (dead) return { status: Number(dead[1]) < Number(dead[2]) ? "retry" : "expired", reason };

  if (/overspend|below min \d+ \(/.test(sentence)) return { status: "unfunded", reason };
  // The threshold changes with congestion, and the pool empties.
  if (/below threshold|reached capacity/.test(sentence)) return { status: "retry", reason };
  if (NODE_IS_UNABLE.some((words) => sentence.includes(words))) return { status: "retry", reason };
  return { status: "rejected", reason };
}

/**
 * Shortens the structs that Go prints into a sentence (`{Sig:[0 0 …] Txn:{…}}`) to `{…}`, because the reason comes
 * after them, up to thousands of characters later.
 */
function withoutDumps(message: string): string {
  let kept = "";
  let depth = 0;
  let start = 0;
  for (const { 0: brace, index } of message.matchAll(/[{}]/g)) {
    if (brace === "{") {
      if (depth === 0) kept += message.slice(start, index);
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      if (depth === 0) {
        kept += "{…}";
        start = index + 1;
      }
    }
  }
  return depth === 0 ? kept + message.slice(start) : message;
}
