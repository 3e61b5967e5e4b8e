import { readdirSync } from "node:fs";
import { join } from "node:path";
import { matchTransactionId } from "@attestd/proof";
import { baseTxHash, decodeBaseTransaction } from "@attestd/proof/base";
import { type Hex, keccak256, parseGwei, parseTransaction, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, describe, expect, it } from "vitest";
import { RECORDED, vectors } from "../../../../proof/test/vectors.ts";
import { FakeBase, type FakeTransaction, startRpcs } from "../../../test/fakes/base-providers.ts";
import type { Upstream } from "../../../test/fakes/providers.ts";
import type { Conflict } from "../../providers/quorum.ts";
import { serializeTransaction } from "./block-work.ts";
import { BaseSource } from "./source.ts";

const never = new AbortController().signal;
const open: Upstream[] = [];
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

async function sourceOf(...fakes: FakeBase[]) {
  const { rpcs, upstreams } = await startRpcs(...fakes);
  open.push(...upstreams);
  const conflicts: Conflict[] = [];
  const nodes = { rpcs, rules: { onConflict: (conflict: Conflict) => conflicts.push(conflict) } };
  const source = new BaseSource({ nodes, accept: ["eip155:11155420", "eip155:5"] });
  return { source, conflicts, read: (hash: string) => source.transaction(hash, never) };
}

/** Returns a node's JSON for raw bytes, from the fields of their type. */
function jsonOf(raw: string): Record<string, unknown> & { hash: string } {
  const bytes = Uint8Array.fromHex(raw.slice(2));
  const { type, fields } = decodeBaseTransaction(bytes);
  const json: Record<string, unknown> = { hash: baseTxHash(bytes), type: `0x${type.toString(16)}` };
  for (const [name, item] of fields ?? []) {
    if (!(item instanceof Uint8Array)) continue;
    const digits = item.toHex();
    const quantity = !["to", "from", "data", "sourceHash"].includes(name);
    json[name === "data" ? "input" : name] = quantity ? `0x${digits.replace(/^0+/, "") || "0"}` : `0x${digits}`;
  }
  if (json.to === "0x") json.to = null;
  const lists = type === 0 || type === 0x7e ? {} : parseTransaction(raw as Hex);
  if ("accessList" in lists) json.accessList = lists.accessList ?? [];
  if (type === 0x01 || type === 0x02 || type === 0x04) json.accessList ??= [];
  if ("authorizationList" in lists)
    json.authorizationList = lists.authorizationList?.map((item) => ({
      ...item,
      chainId: `0x${item.chainId.toString(16)}`,
      nonce: `0x${item.nonce.toString(16)}`,
      yParity: `0x${item.yParity?.toString(16)}`,
    }));
  if (type === 0x7e) json.isSystemTx = json.isSystemTx === "0x1";
  return json as Record<string, unknown> & { hash: string };
}

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const common = { chainId: 8453, nonce: 3, gas: 21_000n, to: zeroAddress, value: 1n } as const;
const fees = { maxFeePerGas: parseGwei("2"), maxPriorityFeePerGas: 1n } as const;
const accessList = [{ address: zeroAddress, storageKeys: [`0x${"01".repeat(32)}`] }] as const;

async function signedTransactions(): Promise<[string, Hex][]> {
  const authorization = await account.signAuthorization({ address: zeroAddress, chainId: 8453, nonce: 0 });
  return Promise.all(
    Object.entries({
      legacy: { ...common, type: "legacy", gasPrice: 1n },
      "legacy before EIP-155": { ...common, type: "legacy", gasPrice: 1n, chainId: undefined },
      "legacy creation": { ...common, type: "legacy", gasPrice: 1n, to: null, data: "0x6000" },
      "access list": { ...common, type: "eip2930", gasPrice: 1n, accessList },
      "dynamic fee": { ...common, type: "eip1559", ...fees, accessList, nonce: 0, value: 0n },
      "set code": { ...common, type: "eip7702", ...fees, authorizationList: [authorization] },
    } as const).map(async ([name, transaction]) => [name, await account.signTransaction(transaction)] as [string, Hex]),
  );
}

const [dynamicFee] = (await signedTransactions()).filter(([name]) => name === "dynamic fee").map(([, raw]) => raw);
const raw = dynamicFee as Hex;
const hash = keccak256(raw);
const transaction: FakeTransaction = { hash, raw, json: jsonOf(raw) };

describe("the ladder to a transaction's bytes", async () => {
  it.each(await signedTransactions())("re-serialises %s", async (_, bytes) => {
    const json = jsonOf(bytes);
    expect((await serializeTransaction(json))?.toHex()).toBe(bytes.slice(2));
  });

  it.each(["eth_getRawTransactionByHash", "eth_getRawTransactionByBlockHashAndIndex", "debug_getRawTransaction"])(
    "takes what %s gives when the others are missing",
    async (method) => {
      const fake = new FakeBase().include(7, { hash });
      fake.methods.eth_getRawTransactionByHash = undefined;
      fake.methods[method] = () => raw;
      const { read, conflicts } = await sourceOf(fake);
      expect((await read(hash)).bytes.toHex()).toBe(raw.slice(2));
      expect(conflicts).toEqual([]);
    },
  );

  it("falls back to JSON when no node gives raw bytes", async () => {
    const fake = new FakeBase().include(7, transaction);
    fake.methods.eth_getRawTransactionByHash = undefined;
    expect((await (await sourceOf(fake)).read(hash)).bytes.toHex()).toBe(raw.slice(2));
    expect(fake.calls.at(-1)).toBe("eth_getTransactionByHash");
  });

  it("refuses wrong bytes, reports them, and takes right ones from anyone", async () => {
    const liar = new FakeBase().include(7, transaction);
    liar.methods.eth_getRawTransactionByHash = () => `${raw.slice(0, -2)}00`;
    const { read, conflicts } = await sourceOf(liar);
    expect((await read(hash)).bytes.toHex()).toBe(raw.slice(2));
    expect(conflicts).toEqual([
      expect.objectContaining({
        answers: [
          expect.objectContaining({ answer: expect.stringMatching(/eth_getRawTransactionByHash leads to bytes of/) }),
        ],
      }),
    ]);
  });

  it("names the type when no bytes hash to the id", async () => {
    const unknown = `0x79${"ab".repeat(20)}`;
    const id = keccak256(unknown as Hex);
    const fake = new FakeBase().include(7, { hash: id, json: { hash: id, type: "0x79" } });
    const { read } = await sourceOf(fake);
    await expect(read(id)).rejects.toMatchObject({
      code: "source_unreadable",
      message: expect.stringContaining("0x79"),
    });

    fake.include(7, { hash: id, raw: unknown });
    expect(await read(id)).toMatchObject({ caip2: "eip155:8453", bytes: Uint8Array.fromHex(unknown.slice(2)) });
  });
});

describe("BaseSource", () => {
  it.each([
    [80, "finalized"],
    [81, "safe"],
    [90, "safe"],
    [91, "included"],
    [100, "included"],
  ])("sees a transaction in block %i as %s, also one that reverted", async (height, level) => {
    const fake = new FakeBase().include(height, { hash: "0x00" }, { ...transaction, status: 0 });
    const { read } = await sourceOf(fake);
    const block = { hash: fake.header(height).hash, height, time: fake.genesisTime + height };
    const expected = { chain: "base", caip2: "eip155:8453", txnId: hash, level, block, succeeded: false };
    expect(await read(hash)).toMatchObject(expected);
  });

  it("takes ids in either case and writes them in lower case", async () => {
    const { source } = await sourceOf(new FakeBase().include(7, transaction));
    const shouting = `0x${hash.slice(2).toUpperCase()}`;
    expect(matchTransactionId(shouting)).toMatchObject({ chain: { name: "base" }, id: hash });
    expect((await source.transaction(shouting, never)).txnId).toBe(hash);
    for (const id of [hash.slice(2), `${hash}00`, `0x${"g".repeat(64)}`, ""])
      expect(matchTransactionId(id)).toBeUndefined();
  });

  it("finds no transaction when the nodes lack it", async () => {
    await expect((await sourceOf(new FakeBase())).read(hash)).rejects.toMatchObject({ code: "source_not_found" });
  });

  it("takes the lower of the levels that two nodes see", async () => {
    const behind = Object.assign(new FakeBase().include(80, transaction), { finalized: 70 });
    expect(await (await sourceOf(new FakeBase().include(80, transaction), behind)).read(hash)).toMatchObject({
      level: "safe",
    });
  });

  it.each([
    ["calls nothing final", { safe: 0, finalized: 0 }],
    ["calls everything final", { finalized: 100 }],
  ])("takes the level that most nodes see, where one of three %s", async (_, lie) => {
    const liar = Object.assign(new FakeBase().include(85, transaction), lie);
    const honest = () => new FakeBase().include(85, transaction);
    for (const nodes of [
      [liar, honest(), honest()],
      [honest(), honest(), liar],
    ])
      expect(await (await sourceOf(...nodes)).read(hash)).toMatchObject({ level: "safe" });
  });

  it("refuses two nodes that see it in different blocks, at another time, with another outcome, or one not at all", async () => {
    const seen = () => new FakeBase().include(7, transaction);
    const [other, later] = [Object.assign(seen(), { fork: 1 }), Object.assign(seen(), { genesisTime: 1_700_000_001 })];
    const failed = new FakeBase().include(7, { ...transaction, status: 0 });
    for (const contradicting of [other, later, failed, new FakeBase()]) {
      const { read, conflicts } = await sourceOf(new FakeBase().include(7, transaction), contradicting);
      await expect(read(hash)).rejects.toMatchObject({ code: "providers_conflict" });
      expect(conflicts).toHaveLength(1);
    }
  });

  it("does not take a node that lags for one that contradicts", async () => {
    const behind = Object.assign(new FakeBase(), { latest: 99 });
    const there = () => new FakeBase().include(100, transaction);
    const { read, conflicts } = await sourceOf(there(), behind, there());
    expect(await read(hash)).toMatchObject({ block: { height: 100 } });
    const { read: unsure, conflicts: none } = await sourceOf(there(), behind);
    await expect(unsure(hash)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect([...conflicts, ...none]).toEqual([]);
  });

  it("does not take a node that lags behind others of its URL for one that contradicts", async () => {
    for (const [height, code] of [
      [51, "providers_unavailable"],
      [50, "providers_conflict"],
    ] as const) {
      const { read, conflicts } = await sourceOf(new FakeBase().include(height, transaction), new FakeBase());
      await expect(read(hash)).rejects.toMatchObject({ code });
      expect(conflicts).toHaveLength(code === "providers_conflict" ? 1 : 0);
    }
    const late = new FakeBase().include(100, transaction);
    const block = late.methods.eth_getBlockByNumber;
    late.methods.eth_getBlockByNumber = (tag = "") => (tag === "0x64" ? null : block?.(tag));
    const { read, conflicts } = await sourceOf(late);
    await expect(read(hash)).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(conflicts).toEqual([]);
  });

  it("refuses a receipt whose block is not the canonical one of its number", async () => {
    const fake = new FakeBase().include(7, transaction);
    const block = fake.methods.eth_getBlockByNumber;
    fake.methods.eth_getBlockByNumber = (tag = "") => {
      const answer = block?.(tag);
      return tag === "0x7" ? { ...(answer as object), hash: `0x${"ee".repeat(32)}` } : answer;
    };
    const { read, conflicts } = await sourceOf(fake);
    await expect(read(hash)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it("is unavailable when the header has not the time or the number that its hash commits to", async () => {
    for (const change of [{ timestamp: "0x6553f108" }, { number: "0x8" }]) {
      const fake = new FakeBase().include(7, transaction);
      const block = fake.methods.eth_getBlockByNumber;
      fake.methods.eth_getBlockByNumber = (tag = "") => {
        const answer = block?.(tag) as object;
        return tag === "0x7" ? { ...answer, ...change } : answer;
      };
      await expect((await sourceOf(fake)).read(hash)).rejects.toMatchObject({ code: "providers_unavailable" });
    }
  });

  it("refuses a receipt for a block that does not hold the transaction", async () => {
    const fake = new FakeBase().include(7, transaction);
    const receipt = fake.methods.eth_getTransactionReceipt;
    fake.methods.eth_getTransactionReceipt = (id = "") => ({ ...(receipt?.(id) as object), transactionIndex: "0x1" });
    await expect((await sourceOf(fake)).read(hash)).rejects.toMatchObject({ code: "providers_conflict" });
  });

  it("refuses a node on another chain", async () => {
    const fake = Object.assign(new FakeBase().include(7, transaction), { chainId: 1 });
    await expect((await sourceOf(fake)).read(hash)).rejects.toMatchObject({
      code: "providers_unavailable",
      message: expect.stringContaining("is on chain 1, not 8453"),
    });
  });

  it("refuses a transaction that names another chain than the accepted ones", async () => {
    const foreign = await account.signTransaction({ ...common, ...fees, type: "eip1559", chainId: 10 });
    const id = keccak256(foreign);
    const { read } = await sourceOf(new FakeBase().include(7, { hash: id, raw: foreign }));
    await expect(read(id)).rejects.toMatchObject({ code: "source_wrong_chain" });
  });

  it("is unavailable when a node answers with data that cannot be read", async () => {
    const whole = new FakeBase().include(7, transaction).methods.eth_getTransactionReceipt?.(hash) as object;
    const outcomes = [
      { ...whole, status: undefined },
      { ...whole, status: "0x2" },
    ];
    for (const nonsense of [{}, "0x", { blockNumber: -1 }, undefined, ...outcomes]) {
      const fake = new FakeBase().include(7, transaction);
      fake.methods.eth_getTransactionReceipt = () => nonsense;
      await expect((await sourceOf(fake)).read(hash)).rejects.toMatchObject({ code: "providers_unavailable" });
    }
  });
});

type Recorded = Record<string, unknown> & { hash: string; raw?: string; input?: string };

function recorded(): [string, Recorded][] {
  const files = ["base", "replay/base/blocks"].flatMap((folder) =>
    readdirSync(join(RECORDED, folder)).map((name) => `${folder}/${name.replace(/\.br$/, "")}`),
  );
  return files.flatMap((file) => {
    const content = vectors.json(file);
    const transactions: Recorded[] = content.transactions ?? content.block?.transactions ?? [content];
    return transactions.map((each, i): [string, Recorded] => [`${file} ${i}`, each]);
  });
}

describe("recorded transactions", () => {
  it("lead to their hashes by raw bytes and by re-serialising", async () => {
    const all = recorded();
    expect(all.length).toBeGreaterThan(70);
    for (const [name, { raw: given, ...fields }] of all) {
      const json = "from" in fields ? fields : jsonOf(given as string);
      const bytes = await serializeTransaction(json);
      expect([name, bytes && baseTxHash(bytes)]).toEqual([name, fields.hash]);
      if (given !== undefined) expect([name, keccak256(given as Hex)]).toEqual([name, fields.hash]);
    }
  });

  it("are attestable as Base's when their own chain is accepted", async () => {
    const all = recorded().map(
      ([, { raw: given, ...fields }]): FakeTransaction => ({
        hash: fields.hash,
        ...(given === undefined ? {} : { raw: given }),
        json: "from" in fields ? fields : jsonOf(given as string),
      }),
    );
    const { read } = await sourceOf(new FakeBase().include(7, ...all));
    for (const each of all)
      expect(await read(each.hash)).toMatchObject({ caip2: "eip155:8453", txnId: each.hash, level: "finalized" });
  });
});
