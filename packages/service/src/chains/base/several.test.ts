import { type Hex, keccak256, parseGwei, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, describe, expect, it } from "vitest";
import { FakeBase, type FakeTransaction, startRpcs } from "../../../test/fakes/base-providers.ts";
import type { Upstream } from "../../../test/fakes/providers.ts";
import type { Conflict } from "../../providers/quorum.ts";
import { BaseSource } from "./source.ts";

const never = new AbortController().signal;
const open: Upstream[] = [];
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const transactions: FakeTransaction[] = await Promise.all(
  Array.from({ length: 240 }, async (_, nonce) => {
    const fees = { maxFeePerGas: parseGwei("2"), maxPriorityFeePerGas: 1n, gas: 21_000n } as const;
    const fields = { type: "eip1559", chainId: 8453, nonce, to: zeroAddress, value: 1n, ...fees } as const;
    const raw = await account.signTransaction(fields);
    return { hash: keccak256(raw), raw, status: nonce % 3 === 0 ? 0 : 1 } as const;
  }),
);
const hashes = transactions.map(({ hash }) => hash);
const absent = `0x${"ab".repeat(32)}`;

/** Makes a chain of every transaction, `perBlock` in a block. */
function chain(perBlock: number, change: Partial<FakeBase> = {}): FakeBase {
  const fake = Object.assign(new FakeBase(), change);
  for (let at = 0; at < transactions.length; at += perBlock)
    fake.include(20 + at / perBlock, ...transactions.slice(at, at + perBlock));
  return fake;
}

async function sourceOf(...fakes: FakeBase[]) {
  const { rpcs, upstreams } = await startRpcs(...fakes);
  open.push(...upstreams);
  const conflicts: Conflict[] = [];
  const rules = { onConflict: (conflict: Conflict) => conflicts.push(conflict) };
  const source = new BaseSource({ nodes: { rpcs, rules } });
  /** Reads all. @returns how many requests and calls that took */
  const read = async (txnIds: readonly string[]) => {
    for (const { requests } of upstreams) requests.length = 0;
    for (const { calls } of fakes) calls.length = 0;
    const found = await source.transactions(txnIds, never);
    return { found, requests: upstreams.map(({ requests }) => requests.length), calls: fakes[0]?.calls.length ?? 0 };
  };
  return { source, rpcs, conflicts, read };
}

describe("several transactions of Base", () => {
  it.each([1, 8, 240])("are each what one alone is, where %i stand in a block", async (perBlock) => {
    const { source, read } = await sourceOf(chain(perBlock, { latest: 300, safe: 200, finalized: 40 }));
    const ids = [...hashes, absent];
    const { found } = await read(ids);
    expect([...found.keys()].toSorted()).toEqual(ids.toSorted());
    for (const id of ids.filter((_, index) => index % 16 === 0)) {
      const alone = await source.transaction(id, never).catch((error: unknown) => error);
      expect(found.get(id)).toEqual(alone);
    }
  });

  it("take one header for a block, the heads once, and batches for the rest", async () => {
    const { read } = await sourceOf(chain(24));
    expect((await read(hashes.slice(0, 2))).requests).toEqual([7]);
    // 3 heads; receipts and raw bytes in batches of 100; 10 headers, in as many batches as there are of receipts.
    const { requests, calls } = await read(hashes);
    expect([requests, calls]).toEqual([[3 + 3 + 3 + 3], 3 + 240 + 10 + 240]);
    // Alone each takes 6.
    expect(requests[0]).toBeLessThanOrEqual((240 * 6) / 5);
  });

  it("are the same by every node that answers batches in its own way", async () => {
    const { read } = await sourceOf(chain(24));
    const { found: expected } = await read([...hashes, absent]);
    // The network's name is asked for only the first time.
    const ways: [string, Partial<FakeBase>, number][] = [
      ["in any order", { onBatch: (answers) => answers.toReversed() }, 13],
      ["only a part", { onBatch: (answers) => answers.slice(0, Math.ceil(answers.length / 2)) }, 120],
      ["some twice", { onBatch: ([first, ...rest]) => [first, first, ...rest] }, 40],
      ["with answers to nobody", { onBatch: (answers) => [...answers, { ...answers[0], id: 4000 }] }, 13],
      ["as too large for it", { onBatch: (answers) => answers.map(tooLarge) }, 1_000],
      ["no batches", { maxBatch: 1 }, 520],
      ["ten at once", { maxBatch: 10 }, 100],
    ];
    for (const [way, change, most] of ways) {
      const { read: readSo, conflicts } = await sourceOf(chain(24, change));
      const { found, requests } = await readSo([...hashes, absent]);
      expect([way, found], way).toEqual([way, expected]);
      expect(requests[0], way).toBeLessThanOrEqual(most);
      expect(conflicts).toEqual([]);
    }
  });

  it("never take more requests than each alone, also where batches are refused", async () => {
    for (const count of [1, 2, 3, 5]) {
      const { read } = await sourceOf(chain(1, { maxBatch: 1 }));
      const { requests } = await read(hashes.slice(0, count));
      expect(requests[0], String(count)).toBeLessThanOrEqual(6 * count + 1);
    }
  });

  it("are refused where a node gives one the answer of another, and reported", async () => {
    const swap = ([first, second, ...rest]: { id: unknown; result?: unknown }[]) =>
      [{ ...first, result: second?.result }, { ...second, result: first?.result }, ...rest] as const;
    const fake = chain(24, { onBatch: (answers) => swap(answers) });
    const { read, conflicts } = await sourceOf(fake);
    await expect(read(hashes)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts.length).toBeGreaterThan(0);
  });

  it("are refused where two nodes disagree on the outcome of one, which three outvote", async () => {
    const lying = () => {
      const fake = chain(24);
      const receipt = fake.methods.eth_getTransactionReceipt;
      fake.methods.eth_getTransactionReceipt = (hash = "") => {
        const answer = receipt?.(hash) as object;
        return hash === hashes[77] ? { ...answer, status: "0x0" } : answer;
      };
      return fake;
    };
    const two = await sourceOf(chain(24), lying());
    await expect(two.read(hashes)).rejects.toMatchObject({
      code: "providers_conflict",
      message: expect.stringContaining(hashes[77] as string),
    });
    expect(two.conflicts).toHaveLength(1);
    const three = await sourceOf(lying(), chain(24), chain(24));
    const { found } = await three.read(hashes);
    expect(found.get(hashes[77] as string)).toMatchObject({ succeeded: true });
    expect(three.conflicts.length).toBeGreaterThan(0);
  });

  it("take the lower of two nodes' levels each, and no laggard's word that one is absent", async () => {
    const lagging = chain(24, { latest: 29, safe: 25, finalized: 20 });
    const { read, conflicts } = await sourceOf(chain(24), lagging);
    const { found } = await read(hashes);
    const levels = [0, 24, 24 * 5, 24 * 6, 239].map((index) => {
      const one = found.get(hashes[index] as string);
      return one && "level" in one && one.level;
    });
    expect(levels).toEqual(["finalized", "safe", "safe", "included", "included"]);
    // A minute behind: its answer does not prove that a transaction is absent.
    await expect(read([absent])).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(conflicts).toEqual([]);

    const alone = await sourceOf(chain(24, { latest: 26 }), chain(24, { latest: 26 }));
    await expect(alone.read(hashes)).resolves.toBeDefined();
  });

  it("take the bytes from another node, and report wrong ones", async () => {
    const liar = chain(24);
    liar.methods.eth_getRawTransactionByHash = () => `${transactions[0]?.raw?.slice(0, -2)}00`;
    const { read, conflicts } = await sourceOf(liar, chain(24));
    const { found } = await read(hashes.slice(0, 30));
    for (const { hash, raw } of transactions.slice(0, 30)) {
      const one = found.get(hash);
      expect(one && "bytes" in one && keccak256(one.bytes)).toBe(keccak256(raw as Hex));
    }
    expect(conflicts).toHaveLength(30);
  });

  it("stop no other request where batches fail", async () => {
    const fake = chain(24);
    const { rpcs, source, read } = await sourceOf(fake);
    const [upstream] = open;
    const answer = upstream?.handler;
    if (!upstream || !answer) throw new Error("no upstream");
    upstream.handler = (request, response) => {
      if (request.body[0] === "[".charCodeAt(0)) response.writeHead(503).end();
      else answer(request, response);
    };
    for (let n = 0; n < 6; n++) await expect(read(hashes)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(await source.transaction(hashes[0] as string, never)).toMatchObject({ txnId: hashes[0] });
    expect((await rpcs[0]?.latest(never))?.number).toBe(100);
  });
});

function tooLarge<T extends { result?: unknown }>({ result: _, ...answer }: T) {
  return { ...answer, error: { code: -32003, message: "response too large" } };
}
