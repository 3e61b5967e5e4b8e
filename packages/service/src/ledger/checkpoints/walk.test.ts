import { toBase64 } from "@attestd/proof/encoding";
import { type Checkpoint, checkStateProof } from "@attestd/proof/state-proof";
import { describe, expect, it } from "vitest";
import {
  answerOf,
  checkpointsOf,
  type Mischief,
  startStateProofNode,
} from "../../../../../test/helpers/state-proof-node.ts";
import { type Proven, privateProofs } from "../../../../proof/test/state-proofs.ts";
import { Algod } from "../../providers/algod.ts";
import { algodProofs } from "./proofs.ts";
import { walk } from "./walk.ts";

describe("a walk over state proofs of go-algorand", () => {
  const proofs = privateProofs();
  const expected = checkpointsOf(proofs);
  const never = new AbortController().signal;

  async function walked(mischief: Mischief | undefined, times = Number.POSITIVE_INFINITY) {
    const node = await startStateProofNode(proofs);
    let left = times;
    if (mischief)
      node.mischief.set(80, (response, proven) => {
        if (--left === 0) node.mischief.clear();
        mischief(response, proven);
      });
    const source = algodProofs(new Algod({ url: node.url }, toBase64(new Uint8Array(32))));
    const reached: Checkpoint[] = [];
    const pauses: number[] = [];
    const steps = walk(expected[0] as Checkpoint, {
      source,
      verify: async ({ stateProof, message }, checkpoint) => checkStateProof(stateProof, message, checkpoint),
      ahead: 3,
      pause: async (attempt) => void pauses.push(attempt),
      signal: never,
    });
    try {
      for await (const next of steps) reached.push(next);
      return { reached, pauses, said: "" };
    } catch (error) {
      return { reached, pauses, said: (error as Error).message };
    } finally {
      await node.close();
    }
  }

  it("reaches every checkpoint, and asks again where there is no answer", async () => {
    expect(await walked(undefined)).toEqual({ reached: expected.slice(1), pauses: [], said: "" });
    const busy = await walked((response) => response.writeHead(503).end(), 2);
    expect(busy).toEqual({ reached: expected.slice(1), pauses: [1, 2], said: "" });
  });

  it.each<[string, Mischief, string]>([
    [
      "an older state proof",
      (response) => response.end(JSON.stringify(answer(0))),
      "gave the state proof of rounds 17 to 32",
    ],
    ["a later one", (response) => response.end(JSON.stringify(answer(5))), "gave the state proof of rounds 97 to 112"],
    ["an endless answer", (response) => response.write(Buffer.alloc(9 * 2 ** 20, "[")), "more than 8388608 bytes"],
    ["what is no JSON", (response) => response.end("<html>"), "cannot be read"],
  ])("ends before %s, with everything before it", async (_, mischief, said) => {
    const ended = await walked(mischief);
    expect(ended.said).toContain(said);
    expect(ended.reached).toEqual(expected.slice(1, 4));
  });

  function answer(index: number) {
    return answerOf(proofs[index] as Proven);
  }
});
