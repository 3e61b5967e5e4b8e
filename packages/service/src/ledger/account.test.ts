import { decodeMsgpackMap, getInteger, getMap, type MsgpackMap } from "@attestd/proof/algorand";
import algosdk from "algosdk";
import { afterEach, describe, expect, it } from "vitest";
import recorded from "../../../proof/test/recorded/falcon-account.json" with { type: "json" };
import { FakeChain, FakeNodes, GENESIS, GENESIS_HASH, idOf } from "../../test/fakes/algorand-providers.ts";
import { AlgorandSource } from "../chains/algorand/source.ts";
import { seedKey } from "../signers/seed.ts";
import { type AccountSigner, KEY_FORMS } from "../signers/signer.ts";
import { AttestorAccount } from "./account.ts";
import type { Rounds } from "./ledger.ts";
import { readRecorded } from "./recorded.ts";

const never = new AbortController().signal;
const wallet = algosdk.generateAccount();
const lease = new Uint8Array(32).fill(3);

const open: FakeNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.close();
});

function accountOn(...chains: FakeChain[]): Promise<AttestorAccount> {
  return accountIn({ round: 57 }, ...chains);
}

const ED25519: AccountSigner = { ...seedKey("account", wallet.sk.subarray(0, 32)), algorithm: "ed25519" };

async function accountIn(now: { round: number }, ...chains: FakeChain[]): Promise<AttestorAccount> {
  return accountOf(ED25519, now, ...chains);
}

async function accountOf(signer: AccountSigner, now: { round: number }, ...chains: FakeChain[]) {
  const fakes = await FakeNodes.start(...chains);
  open.push(fakes);
  const { nodes } = fakes;
  const rounds = { latest: () => now.round } as Rounds;
  return new AttestorAccount({
    nodes,
    genesisHash: GENESIS_HASH,
    signer,
    rounds,
  });
}

function chainAt(latest: number): FakeChain {
  return Object.assign(new FakeChain(), { latest, indexedUpTo: latest });
}

describe("AttestorAccount", () => {
  it("is the wallet's account", async () => {
    const account = await accountOn(chainAt(1));
    expect([account.address, account.caip2]).toEqual([
      wallet.addr.toString(),
      "algorand:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH",
    ]);
  });

  it("signs what algosdk reads as a payment of 0 to itself with note, lease and window", async () => {
    const account = await accountOn(chainAt(57));
    const attempt = await account.sign("attestd/v1:j{}", lease, never);
    const { txn } = algosdk.decodeSignedTransaction(attempt.raw);
    expect(txn.txID()).toBe(attempt.txid);
    expect({
      type: txn.type,
      sender: txn.sender.toString(),
      receiver: txn.payment?.receiver.toString(),
      amount: txn.payment?.amount,
      note: Buffer.from(txn.note).toString(),
      lease: txn.lease,
      genesis: [txn.genesisID, txn.genesisHash],
      window: [txn.firstValid, txn.lastValid],
      fee: txn.fee,
    }).toEqual({
      type: "pay",
      sender: account.address,
      receiver: account.address,
      amount: 0n,
      note: "attestd/v1:j{}",
      lease,
      genesis: ["test-v1", GENESIS],
      window: [57n, 157n],
      fee: 1000n,
    });
    expect([attempt.firstValid, attempt.lastValid]).toEqual([57, 157]);
    // Ed25519 signatures are deterministic (RFC 8032), so algosdk's own must be the same.
    expect(attempt.raw).toEqual(txn.signTxn(wallet.sk));
  });

  it("pays by size under congestion, and never more than its bound", async () => {
    const [chain, now] = [chainAt(57), { round: 57 }];
    const account = await accountIn(now, chain);
    const feeOf = async () => {
      now.round++;
      const { raw } = await account.sign("note", lease, never);
      return { fee: getInteger(getMap(decodeMsgpackMap(raw), "txn") as MsgpackMap, "fee"), size: BigInt(raw.length) };
    };
    chain.feePerByte = 10;
    const { fee, size } = await feeOf();
    expect(fee >= 10n * size && fee <= 10n * (size + 2n)).toBe(true);
    chain.feePerByte = 1_000_000;
    expect((await feeOf()).fee).toBe(10_000n);
  });

  it("has three times the bound with a Falcon key, whose transactions pay three times as much", async () => {
    const [falcon] = recorded.addresses as [(typeof recorded.addresses)[0]];
    const sign = async () => new Uint8Array(KEY_FORMS["falcon-1024"].signature);
    const signer: AccountSigner = {
      algorithm: "falcon-1024",
      publicKey: new Uint8Array(Buffer.from(falcon.publicKey, "base64")),
      sign,
    };
    const chain = Object.assign(chainAt(57), { feePerByte: 1_000_000 });
    const { raw } = await (await accountOf(signer, { round: 57 }, chain)).sign("note", lease, never);
    expect(getInteger(getMap(decodeMsgpackMap(raw), "txn") as MsgpackMap, "fee")).toBe(30_000n);
  });

  it("asks for the fee once a round, and again when the first caller has aborted", async () => {
    const now = { round: 57 };
    const account = await accountIn(now, chainAt(57));
    const asked = () => open.at(-1)?.upstreams[0]?.requests.length;
    const leaving = new AbortController();
    const left = account.sign("left", lease, leaving.signal);
    const others = ["one", "two", "three"].map((note) => account.sign(note, lease, never));
    leaving.abort(new Error("stopping"));
    await expect(left).rejects.toThrow("stopping");
    expect(await Promise.all(others)).toHaveLength(3);
    const sofar = asked();
    await account.sign("four", lease, never);
    expect(asked()).toBe(sofar);
    now.round++;
    await account.sign("five", lease, never);
    expect(asked()).toBe((sofar ?? 0) + 1);
    now.round++;
    account.prepare(never);
    await account.sign("six", lease, never);
    expect(asked()).toBe((sofar ?? 0) + 2);
  });

  it("signs all the same when it could not be prepared", async () => {
    const account = await accountOn(chainAt(57));
    account.prepare(AbortSignal.abort(new Error("stopping")));
    expect(await account.sign("note", lease, never)).toMatchObject({ firstValid: 57 });
  });

  it("refuses notes and leases that the ledger would refuse", async () => {
    const account = await accountOn(chainAt(57));
    await expect(account.sign("é".repeat(513), lease, never)).rejects.toThrow(RangeError);
    await expect(account.sign("note", new Uint8Array(31), never)).rejects.toThrow(RangeError);
  });

  it("does not sign by the word of another network's node, but by that of a majority", async () => {
    const foreign = Object.assign(chainAt(57), { genesisHash: "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=" });
    await expect((await accountOn(foreign)).sign("note", lease, never)).rejects.toMatchObject({
      code: "providers_unavailable",
    });
    const others = [chainAt(57), chainAt(57)];
    expect(await (await accountOn(foreign, ...others)).sign("note", lease, never)).toMatchObject({ firstValid: 57 });
  });

  it.each([
    ["names another network", { genesisId: "another-v1" }],
    ["asks for no fee", { minFee: 0 }],
    ["asks for a high fee", { minFee: 10_000 }],
    ["asks for a fee for each byte", { feePerByte: 30 }],
  ])("signs what the ledger takes where one of three nodes %s", async (_, lie) => {
    const account = await accountOn(Object.assign(chainAt(57), lie), chainAt(57), chainAt(57));
    const { raw } = await account.sign("note", lease, never);
    const { txn } = algosdk.decodeSignedTransaction(raw);
    expect([txn.genesisID, txn.fee]).toEqual(["test-v1", 1_000n]);
  });

  it("submits the very bytes to every node: one may take them and pass them on to nobody", async () => {
    const received: Buffer[] = [];
    const [dead, good, other] = [chainAt(1), chainAt(1), chainAt(1)];
    dead.onSubmit = () => "TransactionPool.Remember: txn dead: round 1 outside of 5--105";
    for (const chain of [good, other])
      chain.onSubmit = (raw) => {
        received.push(raw);
        return undefined;
      };
    const raw = new Uint8Array([1, 2, 3]);
    expect(await (await accountOn(dead, good, other)).submit(raw, never)).toEqual({ status: "accepted" });
    await expect.poll(() => received).toEqual([Buffer.from(raw), Buffer.from(raw)]);
  });

  it("returns a node's refusal rather than another node's silence", async () => {
    const leased = chainAt(1);
    leased.onSubmit = () => "transaction X using an overlapping lease";
    const account = await accountOn(leased, chainAt(1));
    await open[0]?.upstreams[1]?.close();
    expect(await account.submit(new Uint8Array(1), never)).toMatchObject({ status: "leased" });
    await open[0]?.upstreams[0]?.close();
    expect(await account.submit(new Uint8Array(1), never)).toMatchObject({ status: "retry" });
  });

  it("calls a submission that its deadline cut off one to repeat", async () => {
    const account = await accountOn(chainAt(1));
    const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    expect(await account.submit(new Uint8Array(1), late)).toMatchObject({ status: "retry" });
    await expect(account.submit(new Uint8Array(1), AbortSignal.abort(new Error("stopping")))).rejects.toThrow(
      "stopping",
    );
  });

  it("reads a recorded attestation back from the ledger", async () => {
    const chain = new FakeChain();
    const account = await accountOn(chain);
    const [{ nodes }] = open as [FakeNodes];
    const ledger = new AlgorandSource({ nodes, caip2: account.caip2 });
    const { raw, txid } = await account.sign("a note", lease, never);
    expect(await readRecorded(ledger, txid, never)).toBeUndefined();
    const transaction = getMap(decodeMsgpackMap(raw), "txn") as MsgpackMap;
    const round = chain.addRound([transaction]);
    expect(await readRecorded(ledger, idOf(transaction), never)).toEqual({
      txid,
      round,
      sender: account.address,
      note: new TextEncoder().encode("a note"),
      amount: 0n,
      type: "pay",
      closesOrRekeys: false,
      genesisHash: GENESIS_HASH,
    });
  });

  it("spends what is above the minimum balance", async () => {
    expect(await (await accountOn(chainAt(1))).spendable(never)).toBe(1_400_000n);
  });

  it.each([0, 10 ** 12])("spends what most nodes say that it has, where one of three says %i", async (microAlgos) => {
    const account = await accountOn(Object.assign(chainAt(1), { microAlgos }), chainAt(1), chainAt(1));
    expect(await account.spendable(never)).toBe(1_400_000n);
  });
});
