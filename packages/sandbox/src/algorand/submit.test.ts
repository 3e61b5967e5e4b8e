import {
  decodeAddress,
  decodeMsgpackMap,
  encodeMsgpack,
  type MsgpackMap,
  type MsgpackValue,
  splitBlock,
} from "@attestd/proof/algorand";
import { concatBytes, toBase32, utf8 } from "@attestd/proof/encoding";
import algosdk, { type Transaction } from "algosdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fund, pay, startTestNetwork, submit, type TestNetwork, transfer } from "../../test/algorand-network.ts";
import { makeAccount } from "../../test/make-account.ts";
import { type SandboxAccount, signBytes, signTransaction } from "./account.ts";

let network: TestNetwork;
let payer: SandboxAccount;

beforeEach(async () => {
  network = await startTestNetwork();
  payer = network.accounts.payer;
});

afterEach(() => network.close());

const balance = (address: string) => network.ledger.state.account(address).balance;
const usdc = (address: string) => network.ledger.state.account(address).holdings.get(31566704n)?.amount;
const send = (transaction: Transaction, by = payer) => submit(network, signTransaction(by, transaction));

/** Changes members of the envelope without signing again. */
function forged(signed: Uint8Array, change: (envelope: MsgpackMap, txn: MsgpackMap) => void): Uint8Array {
  const envelope = decodeMsgpackMap(signed);
  change(envelope, envelope.get("txn") as MsgpackMap);
  return encodeMsgpack(envelope);
}

describe("a single transaction", () => {
  test("is answered with its id and applied with the next round", async () => {
    const { payTo } = network.accounts;
    const before = { payer: balance(payer.address), payTo: balance(payTo.address) };
    const payment = await pay(network, payer, { receiver: payTo.address, amount: 5 });
    expect(await send(payment)).toBe(payment.txID());
    expect(balance(payTo.address)).toBe(before.payTo);
    network.ledger.advance();
    expect(balance(payTo.address)).toBe(before.payTo + 5n);
    expect(balance(payer.address)).toBe(before.payer - 1005n);
  });

  test("sent again is rejected as already in the ledger, in the pool or confirmed", async () => {
    const payment = await pay(network, payer);
    const again = `400 TransactionPool.Remember: transaction already in ledger: ${payment.txID()}`;
    await send(payment);
    expect(await send(payment)).toBe(again);
    network.ledger.advance();
    expect(await send(payment)).toBe(again);
  });

  test("is valid from its first to its last round", async () => {
    const next = network.ledger.round + 1;
    const dead = (first: number, last: number) =>
      `400 TransactionPool.Remember: txn dead: round ${next} outside of ${first}--${last}`;
    expect(await send(await pay(network, payer, { firstValid: next + 1, lastValid: next + 9 }))).toBe(
      dead(next + 1, next + 9),
    );
    expect(await send(await pay(network, payer, { firstValid: 1, lastValid: next - 1 }))).toBe(dead(1, next - 1));
    const edge = await pay(network, payer, { firstValid: next, lastValid: next });
    expect(await send(edge)).toBe(edge.txID());
  });

  test("is valid for at most 1000 rounds, and its first is not after its last", async () => {
    const wide = await pay(network, payer, { firstValid: 1, lastValid: 1001 });
    expect(await send(wide)).toBe(wide.txID());
    const wider = await pay(network, payer, { firstValid: 1, lastValid: 1002 });
    expect(await send(wider)).toMatch(
      /^400 transaction \{.*\} invalid : transaction window size excessive \(1--1002\)$/,
    );
    const backward = await pay(network, payer, { firstValid: 5, lastValid: 4 });
    expect(await send(backward)).toMatch(/^400 transaction \{.*\} invalid : transaction invalid range \(5--4\)$/);
  });

  test("pays at least the minimum fee", async () => {
    expect(await send(await pay(network, payer, { fee: 999 }))).toBe(
      "400 TransactionPool.Remember: txgroup with 999uA fees is less than 1mA (usage=1.000000 * base=1mA)",
    );
  });

  // 1,000 + 3,072 × 0.1 microAlgos, by the consensus parameters of v42.
  test("has 1024 bytes of note for nothing, and since v42 up to 4096 for a fee", async () => {
    const free = await pay(network, payer, { note: "n".repeat(1024), fee: 1000 });
    expect(await send(free)).toBe(free.txID());
    const full = await pay(network, payer, { note: "n".repeat(1024) });
    const withNote = (bytes: number, fee: number) => {
      const txn = decodeMsgpackMap(full.toByte());
      txn.set("note", new Uint8Array(bytes).fill(1)).set("fee", fee);
      const sig = signBytes(payer, concatBytes(utf8("TX"), encodeMsgpack(txn)));
      return submit(
        network,
        encodeMsgpack(
          new Map<string, MsgpackValue>([
            ["sig", sig],
            ["txn", txn],
          ]),
        ),
      );
    };
    expect(await withNote(4096, 1307)).toBe(
      "400 TransactionPool.Remember: txgroup with 1.307mA fees is less than 1.308mA (usage=1.307200 * base=1mA)",
    );
    expect(await withNote(4096, 1308)).toHaveLength(52);
    expect(await withNote(4097, 2000)).toMatch(/ invalid : transaction note too big: 4097 > 4096$/);
    network.behaviour.consensus = "v41";
    expect(await withNote(1025, 2000)).toMatch(/ invalid : transaction note too big: 1025 > 1024$/);
  });

  test("has this genesis hash, and this genesis id if it has one", async () => {
    const params = await network.algod.getTransactionParams().do();
    const mainnet = Buffer.from("wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=", "base64");
    const to = (changes: object) =>
      algosdk.makePaymentTxnWithSuggestedParamsFromObject({
        sender: payer.address,
        receiver: payer.address,
        amount: 0,
        suggestedParams: { ...params, ...changes },
      });
    const { hash } = network.ledger.genesis;
    expect(await send(to({ genesisHash: new Uint8Array(mainnet) }))).toBe(
      `400 TransactionPool.Remember: tx.GenesisHash <${toBase32(mainnet)}> does not match expected <${toBase32(hash)}>`,
    );
    expect(await send(to({ genesisID: "mainnet-v1.0" }))).toBe(
      "400 TransactionPool.Remember: tx.GenesisID <mainnet-v1.0> does not match expected <attestd-sandbox-v1>",
    );
    const unnamed = to({ genesisID: undefined });
    expect(await send(unnamed)).toBe(unnamed.txID());
  });

  test("spends no more than the balance, and leaves the minimum balance", async () => {
    const poor = makeAccount();
    await fund(network, poor.address, 300_000);
    const much = await pay(network, poor, { receiver: payer.address, amount: 300_000 });
    const overspend = await send(much, poor);
    expect(overspend).toContain(
      `transaction ${much.txID()}: overspend (account ${poor.address}, data {AccountBaseData:{`,
    );
    expect(overspend).toContain(" MicroAlgos:299mA ");
    expect(overspend).toMatch(/\}, tried to spend 300mA\)$/);
    const most = await pay(network, poor, { receiver: payer.address, amount: 200_000 });
    expect(await send(most, poor)).toBe(
      `400 TransactionPool.Remember: transaction ${most.txID()}: account ${poor.address} balance 99000 below min 100000 (0 assets)`,
    );
    const tiny = await pay(network, payer, { receiver: makeAccount().address, amount: 99_999 });
    expect(await send(tiny)).toContain("balance 99999 below min 100000 (0 assets)");
  });

  test("is an overspend when one in the pool spends the same balance", async () => {
    const poor = makeAccount();
    await fund(network, poor.address, 1_000_000);
    const spend = () => pay(network, poor, { receiver: payer.address, amount: 600_000 });
    const first = await spend();
    expect(await send(first, poor)).toBe(first.txID());
    expect(await send(await spend(), poor)).toContain(": overspend (account ");
  });

  test("closes an account into another", async () => {
    const closing = makeAccount();
    await fund(network, closing.address, 700_000);
    const before = balance(payer.address);
    await send(await pay(network, closing, { closeRemainderTo: payer.address }), closing);
    network.ledger.advance();
    expect(balance(closing.address)).toBe(0n);
    expect(balance(payer.address)).toBe(before + 699_000n);
    const [hit] = (await network.indexer.searchForTransactions().address(closing.address).limit(1).do()).transactions;
    expect(hit?.closingAmount).toBe(699_000n);
  });

  test("cannot close an account that holds an asset, nor into itself", async () => {
    const holding = await pay(network, payer, { closeRemainderTo: network.accounts.payTo.address });
    expect(await send(holding)).toContain("cannot close: 1 outstanding assets");
    const itself = await pay(network, payer, { closeRemainderTo: payer.address });
    expect(await send(itself)).toContain(`transaction cannot close account to its sender ${payer.address}`);
  });

  test("of an unsupported type is rejected as by a node without it", async () => {
    const suggestedParams = await network.algod.getTransactionParams().do();
    const call = algosdk.makeApplicationNoOpTxnFromObject({ sender: payer.address, appIndex: 1, suggestedParams });
    expect(await send(call)).toContain("invalid : application transaction not supported");
    const offline = algosdk.makeKeyRegistrationTxnWithSuggestedParamsFromObject({
      sender: payer.address,
      nonParticipation: true,
      suggestedParams,
    });
    expect(await send(offline)).toContain("invalid : unknown tx type keyreg");
  });

  test("with members of another type is rejected", async () => {
    const payment = signTransaction(payer, await pay(network, payer));
    expect(
      await submit(
        network,
        forged(payment, (_, txn) => txn.set("xaid", 5)),
      ),
    ).toContain("transaction of type pay has non-zero fields for type axfer");
  });
});

describe("a signature", () => {
  const failed = "400 At least one signature didn't pass verification";

  test("must be exactly one", async () => {
    const payment = await pay(network, payer);
    const signed = signTransaction(payer, payment);
    const without = forged(signed, (envelope) => envelope.delete("sig"));
    expect(await submit(network, without)).toMatch(/^400 transaction \{.*\} invalid : signedtxn has no sig$/);
    const twice = forged(signed, (envelope) => envelope.set("lsig", new Map([["l", Uint8Array.of(1)]])));
    expect(await submit(network, twice)).toContain("signedtxn should have only one type of signature");
  });

  test("must be the sender's over exactly these bytes", async () => {
    const payment = await pay(network, payer);
    const signed = signTransaction(payer, payment);
    expect(
      await submit(
        network,
        forged(signed, (_, txn) => txn.set("fee", 1001)),
      ),
    ).toBe(failed);
    const flipped = forged(signed, (envelope) => {
      const sig = new Uint8Array(envelope.get("sig") as Uint8Array);
      sig[9] = (sig[9] ?? 0) ^ 1;
      envelope.set("sig", sig);
    });
    expect(await submit(network, flipped)).toBe(failed);
    // Bytes that an application may have signed with the same key are not a transaction.
    const sig = algosdk.signBytes(algosdk.encodeUnsignedTransaction(payment), payer.secretKey);
    expect(
      await submit(
        network,
        forged(signed, (envelope) => envelope.set("sig", sig)),
      ),
    ).toBe(failed);
  });

  test("by another key is rejected", async () => {
    const { attestor } = network.accounts;
    const payment = await pay(network, payer);
    expect(await send(payment, attestor)).toBe(
      `400 TransactionPool.Remember: transaction ${payment.txID()}: should have been authorized by ${payer.address} but was actually authorized by ${attestor.address}`,
    );
  });

  test("must be by the key to which the account is rekeyed, and no longer by its own", async () => {
    const spare = makeAccount();
    await send(await pay(network, payer, { rekeyTo: spare.address }));
    network.ledger.advance();
    const byOwn = await pay(network, payer);
    expect(await send(byOwn)).toContain(
      `should have been authorized by ${spare.address} but was actually authorized by ${payer.address}`,
    );
    const bySpare = await pay(network, payer, { rekeyTo: payer.address });
    expect(await send(bySpare, spare)).toBe(bySpare.txID());
    network.ledger.advance();
    const back = await pay(network, payer);
    expect(await send(back)).toBe(back.txID());
  });

  test("of a multisignature account needs the threshold of keys", async () => {
    const keys = [makeAccount(), makeAccount(), makeAccount()];
    const params = { version: 1, threshold: 2, addrs: keys.map(({ address }) => address) };
    const shared = { ...makeAccount(), address: algosdk.multisigAddress(params).toString() };
    await fund(network, shared.address, 1_000_000);
    const payment = await pay(network, shared);
    const sign = (count: number) =>
      algosdk.mergeMultisigTransactions(
        keys.slice(0, count).map(({ secretKey }) => algosdk.signMultisigTransaction(payment, params, secretKey).blob),
      );
    const one = algosdk.signMultisigTransaction(payment, params, (keys[0] as SandboxAccount).secretKey).blob;
    expect(await submit(network, one)).toContain("multisig validation failed: Invalid number of signatures");
    // The signer's own keys make another address.
    const stranger = { ...params, threshold: 1, addrs: [payer.address] };
    const own = decodeMsgpackMap(algosdk.signMultisigTransaction(payment, stranger, payer.secretKey).blob);
    own.delete("sgnr");
    expect(await submit(network, encodeMsgpack(own))).toContain("multisig validation failed: Invalid address");
    expect(await submit(network, sign(2))).toBe(payment.txID());
  });

  test("by a program is rejected, because programs are not run", async () => {
    const program = new algosdk.LogicSigAccount(Uint8Array.of(1, 32, 1, 1, 34));
    const sender = { ...payer, address: program.address().toString() };
    const { blob } = algosdk.signLogicSigTransactionObject(await pay(network, sender), program);
    expect(await submit(network, blob)).toContain("invalid : LogicSig not enabled");
  });
});

describe("the bytes of a submission", () => {
  test.each([
    ["nothing", new Uint8Array(), "400 empty txgroup"],
    [
      "bytes that are not msgpack",
      new TextEncoder().encode("{}"),
      "400 msgpack decode error [pos 1]: only encoded map",
    ],
    ["a truncated map", Uint8Array.of(0x82, 0xa3), "400 empty txgroup"],
    [
      "a map with unknown members",
      encodeMsgpack(new Map([["hello", 1]])),
      "400 msgpack decode error [pos 7]: no matching struct field",
    ],
  ])("%s", async (_, body, answer) => {
    expect(await submit(network, body)).toContain(answer);
  });

  test("need not be canonical, and what is signed and stored is", async () => {
    const payment = await pay(network, payer);
    const signed = signTransaction(payer, payment);
    const envelope = decodeMsgpackMap(signed);
    const txn = encodeMsgpack(envelope.get("txn") ?? null);
    const sig = encodeMsgpack(envelope.get("sig") ?? null);
    const member = (name: string, value: Uint8Array) => Buffer.concat([encodeMsgpack(name), value]);
    const unsorted = Buffer.concat([Uint8Array.of(0xde, 0, 2), member("txn", txn), member("sig", sig)]);
    expect(await submit(network, unsorted)).toBe(payment.txID());
    const zeros = forged(signTransaction(payer, await pay(network, payer)), (_, map) =>
      map
        .set("amt", 0)
        .set("close", new Uint8Array(32))
        .set("note", map.get("note") as Uint8Array),
    );
    expect(await submit(network, zeros)).toHaveLength(52);
    const { txids, bytes } = network.ledger.advance();
    expect(txids[0]).toBe(payment.txID());
    const stored = splitBlock(bytes).transactions.map((entry) => [...(entry.get("txn") as MsgpackMap).keys()]);
    expect(stored[1]).toEqual(["fee", "fv", "lv", "note", "rcv", "snd", "type"]);
  });

  test("may have a last transaction that is cut off, which counts as absent", async () => {
    const [first, second] = [await pay(network, payer), await pay(network, payer)];
    const cut = signTransaction(payer, second).subarray(0, -1);
    expect(await submit(network, signTransaction(payer, first), cut)).toBe(first.txID());
  });

  test("are at most sixteen transactions", async () => {
    const signed = signTransaction(payer, await pay(network, payer));
    expect(await submit(network, ...Array.from({ length: 17 }, () => signed))).toBe("400 max group size is 16");
  });
});

describe("a lease", () => {
  const lease = new Uint8Array(32).fill(7);
  const overlapping = (id: string) =>
    `400 TransactionPool.Remember: transaction ${id} using an overlapping lease (sender, lease):(${payer.address}, ${algosdk.encodeAddress(lease)})`;

  test("blocks another transaction until its last round, in the pool and in blocks", async () => {
    const last = network.ledger.round + 3;
    const holder = await pay(network, payer, { lease, lastValid: last });
    await send(holder);
    const other = await pay(network, payer, { lease });
    expect(await send(other)).toBe(overlapping(other.txID()));
    while (network.ledger.round + 1 <= last) {
      expect(await send(other)).toBe(overlapping(other.txID()));
      network.ledger.advance();
    }
    expect(await send(other)).toBe(other.txID());
  });

  test("is checked before the id once its transaction is confirmed", async () => {
    const holder = await pay(network, payer, { lease });
    await send(holder);
    expect(await send(holder)).toBe(`400 TransactionPool.Remember: transaction already in ledger: ${holder.txID()}`);
    network.ledger.advance();
    expect(await send(holder)).toBe(overlapping(holder.txID()));
  });

  test("does not block other senders", async () => {
    await send(await pay(network, payer, { lease }));
    const { attestor } = network.accounts;
    const same = await pay(network, attestor, { lease });
    expect(await send(same, attestor)).toBe(same.txID());
  });
});

describe("a group", () => {
  test("shares its fees, and is applied as a whole", async () => {
    const { payTo, attestor } = network.accounts;
    const group = algosdk.assignGroupID([
      await pay(network, attestor, { fee: 2000 }),
      await pay(network, payer, { fee: 0, receiver: payTo.address, amount: 1 }),
    ]);
    const signed = group.map((txn, index) => signTransaction(index === 0 ? attestor : payer, txn));
    expect(await submit(network, ...signed)).toBe(group[0]?.txID());
    const { txids } = network.ledger.advance();
    expect(txids).toEqual(group.map((txn) => txn.txID()));
  });

  test("is rejected as a whole when one member fails", async () => {
    const { payTo } = network.accounts;
    const poor = makeAccount();
    await fund(network, poor.address, 200_000);
    const before = balance(payTo.address);
    const group = algosdk.assignGroupID([
      await pay(network, payer, { receiver: payTo.address, amount: 7 }),
      await pay(network, poor, { receiver: payTo.address, amount: 900_000 }),
    ]);
    const signed = group.map((txn, index) => signTransaction(index === 0 ? payer : poor, txn));
    expect(await submit(network, ...signed)).toContain(`transaction ${group[1]?.txID()}: overspend (account`);
    expect(network.ledger.advance().txids).toEqual([]);
    expect(balance(payTo.address)).toBe(before);
    // Neither member has used up its id.
    const [alone] = [await pay(network, payer, { receiver: payTo.address, amount: 7 })];
    expect(await send(alone)).toBe(alone.txID());
  });

  test("needs the fees of all its members", async () => {
    const group = algosdk.assignGroupID([await pay(network, payer), await pay(network, payer, { fee: 0 })]);
    expect(await submit(network, ...group.map((txn) => signTransaction(payer, txn)))).toBe(
      "400 TransactionPool.Remember: txgroup with 1mA fees is less than 2mA (usage=2.000000 * base=1mA)",
    );
  });

  test("has its id in every member, complete and in order", async () => {
    const sign = (group: Transaction[]) => group.map((txn) => signTransaction(payer, txn));
    const loose = [await pay(network, payer), await pay(network, payer)];
    expect(await submit(network, ...sign(loose))).toContain(
      "400 transactionGroup: [0] had zero Group but was submitted in a group of 2",
    );
    const [first, second] = sign(algosdk.assignGroupID(loose)) as [Uint8Array, Uint8Array];
    for (const wrong of [[first], [second, first]])
      expect(await submit(network, ...wrong)).toContain("400 transactionGroup: incomplete group: ");
    const [third] = sign(algosdk.assignGroupID([await pay(network, payer)])) as [Uint8Array];
    expect(await submit(network, first, third)).toContain("400 transactionGroup: inconsistent group values: ");
    expect(await submit(network, first, second)).toHaveLength(52);
  });
});

describe("an asset", () => {
  test("is received only by accounts that have opted in", async () => {
    const guest = makeAccount();
    await fund(network, guest.address, 1_000_000);
    const early = await transfer(network, payer, { receiver: guest.address, amount: 5 });
    expect(await send(early)).toBe(
      `400 TransactionPool.Remember: transaction ${early.txID()}: receiver error: must optin, asset 31566704 missing from ${guest.address}`,
    );
    await send(await transfer(network, guest, {}), guest);
    await send(await transfer(network, payer, { receiver: guest.address, amount: 5 }));
    network.ledger.advance();
    expect(usdc(guest.address)).toBe(5n);
    await send(await transfer(network, guest, { receiver: payer.address, closeRemainderTo: payer.address }), guest);
    network.ledger.advance();
    expect(usdc(guest.address)).toBeUndefined();
    expect(usdc(payer.address)).toBe(1_000_000_000n);
  });

  test("cannot be overspent, and adds 100,000 to the minimum balance", async () => {
    const much = await transfer(network, payer, { receiver: network.accounts.payTo.address, amount: 1_000_000_001 });
    expect(await send(much)).toContain("underflow on subtracting 1000000001 from sender amount 1000000000");
    const none = makeAccount();
    await fund(network, none.address, 201_000);
    const unheld = await transfer(network, none, { receiver: payer.address, amount: 1 });
    expect(await send(unheld, none)).toContain(`asset 31566704 missing from ${none.address}`);
    await fund(network, none.address, 0);
    const late = await pay(network, none, { receiver: payer.address, amount: 1000 });
    await send(late, none);
    network.ledger.advance();
    const optIn = await transfer(network, none, {});
    expect(await send(optIn, none)).toContain("balance 198000 below min 200000 (1 assets)");
  });

  test("that does not exist cannot be opted in to", async () => {
    expect(await send(await transfer(network, payer, { assetIndex: 5 }))).toContain(
      "asset 5 does not exist or has been deleted",
    );
  });

  test("is created, frozen, clawed back and destroyed only by the addresses in its parameters", async () => {
    const { attestor } = network.accounts;
    const suggestedParams = await network.algod.getTransactionParams().do();
    const { address: sender } = payer;
    const creation = algosdk.makeAssetCreateTxnWithSuggestedParamsFromObject({
      sender,
      total: 10,
      decimals: 0,
      assetName: "Ten",
      manager: sender,
      freeze: sender,
      clawback: sender,
      suggestedParams,
    });
    await send(creation);
    network.ledger.advance();
    const { assetIndex } = await network.algod.pendingTransactionInformation(creation.txID()).do();
    const asset = Number(assetIndex);
    expect(asset).toBe(31566711);

    await send(await transfer(network, attestor, { assetIndex: asset }), attestor);
    await send(await transfer(network, payer, { assetIndex: asset, receiver: attestor.address, amount: 4 }));
    const freeze = (by: SandboxAccount) =>
      algosdk.makeAssetFreezeTxnWithSuggestedParamsFromObject({
        sender: by.address,
        assetIndex: asset,
        freezeTarget: attestor.address,
        frozen: true,
        suggestedParams,
      });
    expect(await send(freeze(attestor), attestor)).toContain("freeze not allowed: sender ");
    await send(freeze(payer));
    const back = { assetIndex: asset, receiver: sender, amount: 1 };
    expect(await send(await transfer(network, attestor, back), attestor)).toContain(`asset ${asset} frozen in `);
    const stolen = await transfer(network, attestor, { ...back, assetSender: sender });
    expect(await send(stolen, attestor)).toContain("clawback not allowed: sender ");
    const destroy = algosdk.makeAssetDestroyTxnWithSuggestedParamsFromObject({
      sender,
      assetIndex: asset,
      suggestedParams,
    });
    expect(await send(destroy)).toContain("cannot destroy asset: creator is holding only 6/10");
    await send(await transfer(network, payer, { ...back, amount: 4, assetSender: attestor.address }));
    expect(await send(destroy)).toBe(destroy.txID());
    network.ledger.advance();
    expect(network.ledger.state.asset(BigInt(asset))).toBeUndefined();
    expect(network.ledger.state.account(attestor.address).holdings.get(BigInt(asset))).toEqual({
      amount: 0n,
      frozen: true,
    });
  });
});

test("an account's secret key ends with the public key of its address", () => {
  expect(decodeAddress(payer.address)).toEqual(payer.secretKey.slice(32));
});
