import { decodeTransaction, encodeMsgpack, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import algosdk from "algosdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceError } from "../../../../test/errors.ts";
import { FakeChain, FakeNodes, GENESIS, GENESIS_HASH } from "../../../../test/fakes/algorand-providers.ts";
import type { Rounds } from "../../../ledger/ledger.ts";
import { hasCode } from "../../../lib/errors.ts";
import { locate } from "../../../providers/algorand-nodes.ts";
import { algorandRail } from "./rail.ts";
import { ALGORAND } from "./usdc.ts";

/* algosdk makes every signature here; the nodes' answers are written by hand. */

const LATEST = 2_000;
const [payer, stranger, second, third] = [1, 2, 3, 4].map(() => algosdk.generateAccount()) as [
  algosdk.Account,
  algosdk.Account,
  algosdk.Account,
  algosdk.Account,
];
const payTo = algosdk.generateAccount().addr.toString();
const multisig = { version: 1, threshold: 2, addrs: [payer.addr, second.addr, third.addr] };
/** `#pragma version 1; int 1`: approves everything. */
const PROGRAM = Uint8Array.of(0x01, 0x20, 0x01, 0x01, 0x22);

let chain: FakeChain;
let nodes: FakeNodes;
beforeAll(async () => {
  nodes = await FakeNodes.start(new FakeChain());
});
beforeEach(() => {
  chain = new FakeChain();
  chain.latest = LATEST;
  chain.indexedUpTo = LATEST;
  for (const upstream of nodes.upstreams) {
    upstream.handler = chain.handler;
    upstream.requests.length = 0;
  }
});
afterAll(() => nodes.close());

const rail = () =>
  algorandRail({
    genesisHash: GENESIS_HASH,
    rounds: {
      latest: () => LATEST,
      isCurrent: () => true,
      find: (id, ends) => locate(nodes.nodes, id, ends),
    } satisfies Partial<Rounds> as Rounds,
    nodes: nodes.nodes,
    maxLifeSeconds: 3_600,
    maxFee: 3_000,
  });
const signal = () => AbortSignal.timeout(10_000);

function transfer(sender: algosdk.Address | string = payer.addr): algosdk.Transaction {
  return algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender,
    receiver: payTo,
    amount: 1000,
    assetIndex: BigInt(ALGORAND.asset),
    suggestedParams: {
      genesisHash: GENESIS,
      genesisID: "test",
      firstValid: LATEST,
      lastValid: LATEST + 10,
      fee: 1000,
      minFee: 1000,
      flatFee: true,
    },
  });
}

function read(signed: Uint8Array) {
  const accepted = { scheme: "exact", network: "algorand:x", asset: ALGORAND.asset, amount: "1000", payTo } as const;
  return rail().read({
    x402Version: 2,
    accepted: { ...accepted, maxTimeoutSeconds: 60, extra: {} },
    payload: { paymentGroup: [toBase64(signed)], paymentIndex: 0 },
  });
}

/** Returns the verdict about the signature, or the reason if it is refused when it is read. */
async function verdictOf(signed: Uint8Array): Promise<string> {
  try {
    return await rail().signature(read(signed));
  } catch (error) {
    if (hasCode(error, "payment_refused")) return error.message;
    throw error;
  }
}

const onChain = (signed: Uint8Array) => rail().onChain(read(signed), signal());
const signedMultisig = (txn: algosdk.Transaction, ...keys: algosdk.Account[]) =>
  keys.length === 1
    ? algosdk.signMultisigTransaction(txn, multisig, (keys[0] as algosdk.Account).sk).blob
    : algosdk.mergeMultisigTransactions(keys.map(({ sk }) => algosdk.signMultisigTransaction(txn, multisig, sk).blob));
const withProgram = (txn: algosdk.Transaction, lsig: algosdk.LogicSigAccount) =>
  algosdk.signLogicSigTransactionObject(txn, lsig).blob;
const delegated = (sk: Uint8Array, program = PROGRAM) => {
  const lsig = new algosdk.LogicSigAccount(program);
  lsig.sign(sk);
  return lsig;
};
const delegatedByMultisig = (...keys: algosdk.Account[]) => {
  const [first, ...others] = keys as [algosdk.Account, ...algosdk.Account[]];
  const lsig = new algosdk.LogicSigAccount(PROGRAM);
  lsig.signMultisig(multisig, first.sk);
  for (const { sk } of others) lsig.appendToMultisig(sk);
  return lsig;
};
const multisigAddress = algosdk.multisigAddress(multisig);
const contract = new algosdk.LogicSigAccount(PROGRAM);

/** Encodes a signed transaction with these members besides `txn`. */
function enveloped(members: Record<string, MsgpackValue>, txn = transfer()): Uint8Array {
  const transaction = decodeTransaction(algosdk.encodeUnsignedTransaction(txn));
  return encodeMsgpack(new Map<string, MsgpackValue>([...Object.entries(members), ["txn", transaction]]));
}
const bytes = (length: number) => new Uint8Array(length).fill(1);
const part = (members: Record<string, MsgpackValue>): MsgpackMap => new Map(Object.entries(members));
const msig = (members: Record<string, MsgpackValue>) =>
  part({ v: 1, thr: 1, subsig: [part({ pk: bytes(32), s: bytes(64) })], ...members });

describe("an Algorand payment that is not signed", () => {
  test.each<[string, Record<string, MsgpackValue>, string]>([
    ["no member at all", {}, "has no signature"],
    ["a signer alone", { sgnr: bytes(32) }, "has no signature"],
    ["an empty post-quantum signature", { pqsig: part({ pk: bytes(1793), sch: "f1" }) }, "post-quantum key (pqsig)"],
    ["a post-quantum scheme alone", { pqsig: part({ sch: "f1" }) }, "post-quantum key (pqsig)"],
    ["a scheme beside it", { sch: "f1" }, "has no signature"],
    ["an unknown member", { sig: bytes(64), nsig: bytes(64) }, "has the member nsig in addition to its signature"],
    ["two signatures", { sig: bytes(64), msig: msig({}) }, "has more than one of sig, msig"],
    ["an empty signature", { sig: new Uint8Array() }, "sig has the wrong form: not 64 bytes"],
    ["a signature of zeros", { sig: new Uint8Array(64) }, "sig has the wrong form: 64 bytes of zero"],
    ["a short signature", { sig: bytes(63) }, "sig has the wrong form: not 64 bytes"],
    ["a signature that is a map", { sig: part({ s: 1 }) }, "sig has the wrong form"],
    ["an empty multisig", { msig: new Map() }, "msig has the wrong form: v is not 1"],
    ["a multisig of version 2", { msig: msig({ v: 2 }) }, "v is not 1"],
    ["a multisig without keys", { msig: msig({ subsig: [] }) }, "subsig is not a list"],
    ["a multisig of 256 keys", { msig: msig({ subsig: Array(256).fill(part({ pk: bytes(32) })) }) }, "subsig is not"],
    ["a multisig that needs no signature", { msig: msig({ thr: 0 }) }, "thr is not between 1"],
    ["a multisig that needs more than it has", { msig: msig({ thr: 2 }) }, "thr is not between 1"],
    ["a multisig with another member", { msig: msig({ x: 1 }) }, "it has the member x"],
    ["a multisig with a short key", { msig: msig({ subsig: [part({ pk: bytes(31) })] }) }, "not 32 bytes"],
    [
      "a multisig with an empty signature",
      { msig: msig({ subsig: [part({ pk: bytes(32), s: bytes(0) })] }) },
      "not 64",
    ],
    ["an empty program", { lsig: part({ l: new Uint8Array() }) }, "l and arg are not 1 to 2000 bytes"],
    ["arguments without a program", { lsig: part({ arg: [bytes(1)] }) }, "l and arg are not 1 to 2000 bytes"],
    ["a program that is too long", { lsig: part({ l: bytes(1_000), arg: [bytes(1_001)] }) }, "l and arg are not"],
    ["arguments that are no bytes", { lsig: part({ l: PROGRAM, arg: ["text"] }) }, "arg is not a list"],
    ["two delegations", { lsig: part({ l: PROGRAM, sig: bytes(64), lmsig: msig({}) }) }, "more than one of sig"],
    ["a post-quantum delegation", { lsig: part({ l: PROGRAM, pqsig: part({ sch: "f1" }) }) }, "post-quantum key"],
    ["a short signer", { sig: bytes(64), sgnr: bytes(31) }, "sgnr has the wrong form: not 32 bytes"],
    ["a signer of zeros", { sig: bytes(64), sgnr: new Uint8Array(32) }, "sgnr has the wrong form: 32 bytes of zero"],
    ["its sender as the signer", { sig: bytes(64), sgnr: payer.addr.publicKey }, "sgnr is its sender"],
  ])("with %s is refused as it is read, and no node is asked", async (_, members, reason) => {
    expect(await verdictOf(enveloped(members))).toContain(reason);
    expect(nodes.upstreams[0]?.requests).toEqual([]);
  });
});

test.each(["snd", "grp", "arcv", "gh"])(
  "an Algorand payment whose %s is not an address or hash is refused",
  async (field) => {
    const txn = decodeTransaction(algosdk.encodeUnsignedTransaction(transfer())).set(field, bytes(31));
    const signed = encodeMsgpack(
      new Map<string, MsgpackValue>([
        ["sig", bytes(64)],
        ["txn", txn],
      ]),
    );
    expect(await verdictOf(signed)).toContain("field of the payment transaction has the wrong type");
  },
);

test("an Algorand payment from the zero address has no valid signature", async () => {
  const txn = decodeTransaction(algosdk.encodeUnsignedTransaction(transfer()));
  txn.delete("snd");
  const signed = encodeMsgpack(
    new Map<string, MsgpackValue>([
      ["sig", bytes(64)],
      ["txn", txn],
    ]),
  );
  expect(await verdictOf(signed)).toBe("invalid");
});

describe("an Algorand signature that does not fit", () => {
  const program = new algosdk.LogicSigAccount(Uint8Array.of(...PROGRAM, 0x22));
  test.each<[string, () => Uint8Array]>([
    ["by another key", () => enveloped({ sig: transfer().rawSignTxn(stranger.sk) })],
    ["over another transaction", () => enveloped({ sig: transfer(stranger.addr).rawSignTxn(payer.sk) })],
    ["of random bytes", () => enveloped({ sig: bytes(64), sgnr: bytes(32) })],
    ["by one key of a multisig that needs two", () => signedMultisig(transfer(multisigAddress), second)],
    [
      "by a multisig which is not the sender",
      () => {
        const blob = signedMultisig(transfer(multisigAddress), second, third);
        const { msig: own } = algosdk.decodeObj(blob) as { msig: { subsig: { pk: Uint8Array; s?: Uint8Array }[] } };
        const subsig = own.subsig.map(({ pk, s }) => part(s ? { pk, s } : { pk }));
        return enveloped({ msig: part({ v: 1, thr: 2, subsig }) });
      },
    ],
    [
      "by a multisig, one of its signatures wrong",
      () => {
        const txn = transfer(multisigAddress);
        const subsig = [payer, second, third].map(({ addr, sk }, i) =>
          part({ pk: addr.publicKey, s: i === 2 ? bytes(64) : txn.rawSignTxn(sk) }),
        );
        return enveloped({ msig: part({ v: 1, thr: 2, subsig }) }, txn);
      },
    ],
    ["by a program that is not the sender's", () => enveloped({ lsig: part({ l: program.lsig.logic }) })],
    [
      "by a program that another has let sign",
      () => enveloped({ lsig: part({ l: PROGRAM, sig: delegated(stranger.sk).lsig.sig as Uint8Array }) }),
    ],
    [
      "by a program, let sign by too few of a multisig",
      () => {
        const { lmsig } = delegatedByMultisig(second).lsig;
        const subsig = (lmsig?.subsig ?? []).map(({ pk, s }) => part(s ? { pk, s } : { pk }));
        return enveloped(
          { lsig: part({ l: PROGRAM, lmsig: part({ v: 1, thr: 2, subsig }) }) },
          transfer(multisigAddress),
        );
      },
    ],
  ])("%s is invalid, and no node is asked", async (_, make) => {
    expect(await verdictOf(make())).toBe("invalid");
    expect(nodes.upstreams[0]?.requests).toEqual([]);
  });
});

describe("an Algorand signature that fits", () => {
  const cases: [string, string, () => Uint8Array][] = [
    ["by the account's key", payer.addr.toString(), () => transfer().signTxn(payer.sk)],
    ["by a multisig", multisigAddress.toString(), () => signedMultisig(transfer(multisigAddress), second, third)],
    [
      "by all keys of a multisig",
      multisigAddress.toString(),
      () => signedMultisig(transfer(multisigAddress), payer, second, third),
    ],
    [
      "by a program's own account",
      contract.address().toString(),
      () => withProgram(transfer(contract.address()), contract),
    ],
    [
      "by a program that the account lets sign",
      payer.addr.toString(),
      () => withProgram(transfer(), delegated(payer.sk)),
    ],
    [
      "by a program that a multisig lets sign",
      multisigAddress.toString(),
      () => withProgram(transfer(multisigAddress), delegatedByMultisig(second, third)),
    ],
  ];
  const isProgram = (name: string) => name.includes("program");

  test.each(cases)("%s is the payer's unless the account is rekeyed to another", async (name, sender, make) => {
    expect(await verdictOf(make())).toBe("on_chain");
    expect(await onChain(make())).toBe(true);
    const asked = [`GET /v2/accounts/${sender}?exclude=all`];
    expect(nodes.upstreams[0]?.requests).toEqual(
      isProgram(name) ? [...asked, "POST /v2/transactions/simulate"] : asked,
    );
    chain.authorizers.set(sender, stranger.addr.toString());
    expect(await onChain(make())).toBe(false);
  });

  test.each(cases)("%s is valid for an account rekeyed to it, and for no other", async (_, signer, make) => {
    const account = algosdk.generateAccount().addr;
    const { txn: __, ...members } = Object.fromEntries(decodeSigned(make()));
    const txn = transfer(account);
    // A signature over the transaction must be made again; a delegated program's does not cover it.
    const signed =
      "lsig" in members
        ? enveloped({ ...members, sgnr: algosdk.decodeAddress(signer).publicKey } as never, txn)
        : "msig" in members
          ? rekeyed(signedMultisigAs(txn), txn)
          : txn.signTxn(payer.sk);
    expect(await verdictOf(signed)).toBe("on_chain");
    expect(await onChain(signed)).toBe(false);
    chain.authorizers.set(account.toString(), signer);
    expect(await onChain(signed)).toBe(true);
  });

  test("by a program is the payer's only if the program accepts it, run with the payment's whole group", async () => {
    chain.onSimulate = () => "rejected by logic";
    expect(await onChain(withProgram(transfer(), delegated(payer.sk)))).toBe(false);
  });

  function decodeSigned(blob: Uint8Array): MsgpackMap {
    const [signed] = read(blob).members;
    return new Map([...(signed?.envelope ?? [])]);
  }
  function signedMultisigAs(txn: algosdk.Transaction): MsgpackValue {
    const subsig = [payer, second, third].map(({ addr, sk }, i) =>
      part(i === 0 ? { pk: addr.publicKey } : { pk: addr.publicKey, s: txn.rawSignTxn(sk) }),
    );
    return part({ v: 1, thr: 2, subsig });
  }
  function rekeyed(multisignature: MsgpackValue, txn: algosdk.Transaction): Uint8Array {
    return enveloped({ msig: multisignature, sgnr: multisigAddress.publicKey }, txn);
  }
});

describe("a node that is behind the payment's first round", () => {
  test("does not show who may sign, nor what the payer holds", async () => {
    chain.latest = LATEST - 1;
    const payment = read(transfer().signTxn(payer.sk));
    for (const ask of [() => rail().onChain(payment, signal()), () => rail().balance(payment, signal())])
      await expect(ask()).rejects.toEqual(serviceError("providers_unavailable"));
    chain.latest = LATEST;
    expect(await rail().onChain(payment, signal())).toBe(true);
    expect(await rail().balance(payment, signal())).toBe(0n);
  });
});

describe("the signature of an Algorand payment that was made", () => {
  const made = (blob: Uint8Array, round = LATEST - 5) => {
    const { txid, members } = read(blob);
    chain.recent.set(txid, round);
    const [member] = members;
    chain.signed.set(txid, new Map([...(member?.envelope ?? []), ["txn", member?.transaction as MsgpackMap]]));
    return txid;
  };

  test("is known from the ledger when the account has been rekeyed since", async () => {
    const blob = signedMultisig(transfer(multisigAddress), second, third);
    made(blob);
    chain.authorizers.set(multisigAddress.toString(), stranger.addr.toString());
    expect(await onChain(blob)).toBe(true);
    // Other keys of the same multisig count as the same signer.
    expect(await onChain(signedMultisig(transfer(multisigAddress), payer, second))).toBe(true);
  });

  test("is known from the ledger when its program can no longer be run", async () => {
    const blob = withProgram(transfer(contract.address()), contract);
    made(blob);
    chain.onSimulate = () => "transaction already in ledger";
    expect(await onChain(blob)).toBe(true);
    const otherwise = new algosdk.LogicSigAccount(PROGRAM, [Uint8Array.of(1)]);
    expect(await onChain(withProgram(transfer(contract.address()), otherwise))).toBe(false);
  });

  test("is not another key's, though that key signs the same transaction", async () => {
    made(transfer().signTxn(payer.sk));
    expect(await onChain(transfer().signTxn(stranger.sk))).toBe(false);
  });

  test("is known from the indexer when algod no longer has the transaction", async () => {
    const blob = withProgram(transfer(contract.address()), contract);
    const { txid } = read(blob);
    chain.latest = LATEST + 2_000;
    chain.indexedUpTo = chain.latest;
    chain.onSimulate = () => "txn dead";
    const record = structuredRecord(txid);
    chain.indexed.set(txid, record);
    expect(await onChain(blob)).toBe(true);
    chain.indexed.set(txid, { ...record, signature: { ...record.signature, logicsig: undefined, sig: "AA==" } });
    expect(await onChain(blob)).toBe(false);
    chain.indexed.set(txid, { ...record, signature: undefined });
    await expect(onChain(blob)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  /** Makes a record in the indexer's format (indexer `api/generated/common`, TransactionSignatureLogicsig). */
  function structuredRecord(id: string) {
    const logicsig = { args: [] as string[], logic: toBase64(PROGRAM) };
    return { id, sender: contract.address().toString(), "confirmed-round": LATEST - 5, signature: { logicsig } };
  }

  test("that was never made is not known", async () => {
    chain.authorizers.set(payer.addr.toString(), stranger.addr.toString());
    expect(await onChain(transfer().signTxn(payer.sk))).toBe(false);
  });
});
