import {
  algorandCaip2,
  encodeAddress,
  encodeMsgpack,
  type MsgpackValue,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { keyNotePrefix } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { afterEach, describe, expect, test } from "vitest";
import { GENESIS, GENESIS_HASH } from "../../../../test/fakes/algorand-providers.ts";
import { all, testReading } from "../../../../test/fakes/audit-reading.ts";
import { type Handler, json, Upstream } from "../../../../test/fakes/providers.ts";
import type { LedgerTransaction } from "../../../chains/algorand/source.ts";
import { attestorNotes, keyNotes, type LedgerReading } from "../../../ledger/search.ts";
import { ServiceError } from "../../../lib/errors.ts";
import { IndexerSearch } from "../../../providers/indexer-search.ts";
import { algorandReader } from "./payment-reader.ts";

const account = (byte: number) => new Uint8Array(32).fill(byte);
const [PAYER, PAYEE, ATTESTOR] = [account(1), account(2), account(3)];
const payee = encodeAddress(PAYEE);
const USDC = 31566704;
const PAGE = 1_000;

type Fields = Record<string, MsgpackValue>;
type Placed = { id: string; round: number; bytes: Uint8Array; record: Record<string, unknown> };

let made = 0;
/** A transaction in a round, as bytes and as the indexer's JSON. */
function placed(round: number, type: string, own: Fields, body: object, common: Fields = {}): Placed {
  const fields: Fields = { type, snd: PAYER, fv: 1, lv: 900 + made++, gen: "test-v1", gh: GENESIS, ...own, ...common };
  const bytes = encodeMsgpack(structMap(fields));
  const id = txid(bytes);
  const text = (value: MsgpackValue | undefined) => (value instanceof Uint8Array ? toBase64(value) : undefined);
  const record = {
    id,
    "confirmed-round": round,
    "tx-type": type,
    sender: encodeAddress(fields.snd as Uint8Array),
    fee: fields.fee ?? 0,
    "first-valid": fields.fv,
    "last-valid": fields.lv,
    "genesis-id": "test-v1",
    "genesis-hash": text(fields.gh),
    group: text(fields.grp),
    note: text(fields.note),
    signature: { sig: toBase64(new Uint8Array(64).fill(5)) },
    ...body,
  };
  return { id, round, bytes, record };
}

function transfer(round: number, own: Fields = {}, common: Fields = {}): Placed {
  const fields: Fields = { xaid: USDC, aamt: 1000, arcv: PAYEE, ...own };
  const body = {
    "asset-transfer-transaction": {
      "asset-id": fields.xaid,
      amount: fields.aamt,
      receiver: encodeAddress(fields.arcv as Uint8Array),
      ...(fields.asnd ? { sender: encodeAddress(fields.asnd as Uint8Array) } : {}),
      ...(fields.aclose ? { "close-to": encodeAddress(fields.aclose as Uint8Array) } : {}),
    },
  };
  return placed(round, "axfer", fields, body, common);
}

function noted(round: number, note: string, own: Fields = {}): Placed {
  const fields: Fields = { snd: ATTESTOR, rcv: ATTESTOR, ...own };
  const amount = own.amt === undefined ? {} : { amount: own.amt };
  const body = { "payment-transaction": { receiver: encodeAddress(fields.rcv as Uint8Array), ...amount } };
  return placed(round, "pay", fields, body, { fee: 1000, note: new TextEncoder().encode(note) });
}

/** Parameters of a search that an indexer refuses by default (indexer 3.9.0, `api/disabled_parameters.go`). */
const DISABLED = (
  "note-prefix tx-type sig-type asset-id before-time after-time currency-greater-than currency-less-than " +
  "address-role exclude-close-to rekey-to application-id group-id"
).split(" ");

/** An indexer with default settings that gives a test's answers, a page at a time. */
class FakeIndexer {
  round = 1_000;
  transactions: Placed[] = [];
  searches = 0;
  /** `--enable-all-parameters`. */
  enablesAll = false;
  /** The largest page of transactions. */
  page = PAGE;

  readonly handler: Handler = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://indexer");
    if (pathname === "/health") return json(response, { round: this.round });
    const header = /^\/v2\/blocks\/(\d+)$/.exec(pathname)?.[1];
    if (header !== undefined)
      return Number(header) > 100
        ? json(response, { timestamp: 5_000 + Number(header) * 3 })
        : json(response, { message: "block not found" }, 404);
    this.searches += 1;
    const disabled = DISABLED.find((name) => searchParams.has(name) && !this.enablesAll);
    if (disabled !== undefined) return json(response, { message: `provided disabled parameter: ${disabled}` }, 400);
    const number = (name: string) => Number(searchParams.get(name));
    const prefix = Buffer.from(searchParams.get("note-prefix") ?? "", "base64");
    const begins = ({ record }: Placed) => Buffer.from(String(record.note ?? ""), "base64").indexOf(prefix) === 0;
    const sender = searchParams.get("address-role") === "sender" ? searchParams.get("address") : null;
    const isSent = ({ record }: Placed) => sender === null || record.sender === sender;
    const found = this.transactions.filter(
      (one) => one.round >= number("min-round") && one.round <= number("max-round") && begins(one) && isSent(one),
    );
    const start = number("next");
    const page = found.slice(start, start + this.page);
    json(response, {
      "current-round": this.round,
      ...(page.length > 0 && { "next-token": String(start + page.length) }),
      transactions: page.map(({ record }) => record),
    });
  };
}

const started: Upstream[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((upstream) => upstream.close()));
});

async function reading(...indexers: FakeIndexer[]) {
  const upstreams = await Promise.all(indexers.map(({ handler }) => Upstream.start(handler)));
  started.push(...upstreams);
  const { rules, ask, conflicts, pauses } = testReading();
  const ofBlocks = new Map<string, Placed>();
  const source = {
    async find(id: string): Promise<LedgerTransaction> {
      const found = ofBlocks.get(id);
      if (!found) throw new ServiceError("source_not_found", "no such transaction");
      const { bytes, round } = found;
      return { txnId: id, bytes, height: round };
    },
  };
  const options: LedgerReading = {
    indexers: upstreams.map(({ url }) => new IndexerSearch({ url })),
    rules,
    genesisHash: GENESIS_HASH,
    source,
    ask,
  };
  return { options, reader: algorandReader(options), conflicts, pauses, ofBlocks };
}

describe("payments on Algorand", () => {
  test("are all found, once each, however many there are in a round", async () => {
    const indexer = new FakeIndexer();
    for (let i = 0; i < 2_500; i++) indexer.transactions.push(transfer(1 + (i % 50)));
    for (let i = 0; i < 1_700; i++) indexer.transactions.push(transfer(777));
    const { reader } = await reading(indexer);
    const payments = await all(reader.payments([payee], { from: 1, to: 1_000 }));
    expect(new Set(payments.map(({ transaction }) => transaction)).size).toBe(4_200);
    expect(payments).toHaveLength(4_200);
    expect(indexer.searches).toBeLessThan(100);
    expect(await all(reader.payments([payee], { from: 50, to: 776 }))).toHaveLength(50);
  });

  test("are found among all that names us, also by an application, and a few at a time", async () => {
    const indexer = new FakeIndexer();
    indexer.page = 7;
    const paid = transfer(3);
    const call = placed(
      5,
      "appl",
      { apid: 9 },
      {
        "application-transaction": { "application-id": 9, "on-completion": "noop" },
        "inner-txns": [{ "inner-txns": [transfer(5).record] }],
      },
    );
    const [other, outgoing] = [transfer(4, { xaid: 5 }), transfer(4, { arcv: PAYER })];
    const notes = Array.from({ length: 30 }, (_, i) => noted(2, `${i}`, { rcv: PAYEE }));
    indexer.transactions.push(...notes, paid, other, outgoing, call);
    const { reader, conflicts } = await reading(indexer, indexer);
    const payments = await all(reader.payments([payee], { from: 1, to: 10 }));
    expect(payments.map(({ transaction, key }) => [transaction, key !== undefined])).toEqual([
      [paid.id, true],
      [call.id, false],
    ]);
    expect(conflicts).toEqual([]);
  });

  test("cannot be read where the indexer allows no search by address: its reason is in the error", async () => {
    const indexer = new FakeIndexer();
    const { options } = await reading(indexer);
    for (const upstream of started)
      upstream.handler = (_, response) => json(response, { message: "provided disabled parameter: address" }, 400);
    await expect(all(algorandReader(options).payments([payee], { from: 1, to: 1 }))).rejects.toThrow(
      "answered HTTP 400: provided disabled parameter: address",
    );
  });

  test("have the key that the rail gives them, and are relayed when another pays their fee", async () => {
    const indexer = new FakeIndexer();
    const grp = new Uint8Array(32).fill(4);
    const relayed = transfer(10, {}, { grp });
    const byHand = transfer(11, {}, { fee: 1000 });
    const grouped = transfer(12, {}, { fee: 1000, grp });
    indexer.transactions = [relayed, byHand, grouped];
    const { reader } = await reading(indexer);
    const payments = await all(reader.payments([payee], { from: 1, to: 1_000 }));
    const ledger = `algorand:${GENESIS_HASH.replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}`;
    expect(payments).toEqual([
      {
        rail: "algorand",
        key: `${ledger}/${relayed.id}`,
        aliases: [`${ledger}/group/${Buffer.from(grp).toString("base64url")}`],
        transaction: relayed.id,
        height: 10,
        payer: encodeAddress(PAYER),
        payTo: payee,
        amount: 1000n,
        relayed: true,
      },
      expect.objectContaining({ transaction: byHand.id, relayed: false, aliases: [] }),
      expect.objectContaining({ transaction: grouped.id, relayed: false }),
    ]);
  });

  test("are nothing of another network, asset or amount of nothing; other ways to us have no key", async () => {
    const indexer = new FakeIndexer();
    const clawback = transfer(13, { asnd: account(7) });
    const remainder = transfer(14, { arcv: account(7), aclose: PAYEE });
    indexer.transactions = [
      transfer(10, {}, { gh: account(9) }),
      transfer(11, { xaid: 1 }),
      transfer(12, { aamt: 0, arcv: PAYEE }),
      clawback,
      remainder,
    ];
    const { reader } = await reading(indexer);
    const payments = await all(reader.payments([payee], { from: 1, to: 1_000 }));
    expect(payments.map(({ transaction, key, amount }) => [transaction, key, amount])).toEqual([
      [clawback.id, undefined, undefined],
      [remainder.id, undefined, undefined],
    ]);
  });

  test("are believed by their bytes: what an indexer says otherwise is read from the block", async () => {
    const indexer = new FakeIndexer();
    const true_ = transfer(10);
    const lie = structuredClone(true_.record) as { "asset-transfer-transaction": { amount: number } };
    lie["asset-transfer-transaction"].amount = 9_999_999;
    indexer.transactions = [{ ...true_, record: lie as never }];
    const { reader, ofBlocks, pauses } = await reading(indexer);
    await expect(all(reader.payments([payee], { from: 1, to: 1_000 }))).rejects.toThrow("no node has transaction");
    expect(pauses).toEqual([]);
    ofBlocks.set(true_.id, true_);
    expect(await all(reader.payments([payee], { from: 1, to: 1_000 }))).toMatchObject([{ amount: 1000n }]);
  });

  test("that one of two indexers leaves out are a conflict; of three it is outvoted", async () => {
    const [honest, liar, third] = [new FakeIndexer(), new FakeIndexer(), new FakeIndexer()];
    honest.transactions = third.transactions = [transfer(10), transfer(20)];
    liar.transactions = honest.transactions.slice(1);
    const two = await reading(honest, liar);
    await expect(all(two.reader.payments([payee], { from: 1, to: 1_000 }))).rejects.toMatchObject({
      code: "providers_conflict",
    });
    const three = await reading(honest, liar, third);
    expect(await all(three.reader.payments([payee], { from: 1, to: 1_000 }))).toHaveLength(2);
    expect(three.conflicts).not.toEqual([]);
  });

  test("are asked of indexers that have come so far", async () => {
    const [fast, other, slow] = [new FakeIndexer(), new FakeIndexer(), new FakeIndexer()];
    const sent = transfer(990);
    for (const indexer of [fast, other]) indexer.transactions = [sent];
    slow.round = 980;
    const { reader } = await reading(fast, slow, other);
    expect((await reader.heads()).latest).toBeGreaterThanOrEqual(980);
    expect(await all(reader.payments([payee], { from: 1, to: 1_000 }))).toHaveLength(1);
    fast.round = 980;
    await expect(all(reader.payments([payee], { from: 999, to: 1_000 }))).rejects.toThrow(
      "has not indexed round 999 yet",
    );
  });

  test("can be read from a time on, also where the indexer does not go back to the beginning", async () => {
    const { reader } = await reading(new FakeIndexer());
    expect(await reader.heightAt(5_000 + 3 * 500, 1_000)).toBe(500);
    expect(await reader.heightAt(5_000 + 3 * 500 + 1, 1_000)).toBe(501);
    expect(await reader.heightAt(0, 1_000)).toBe(101);
    expect(await reader.heightAt(1e12, 1_000)).toBe(1_000);
  });

  test("in one transaction are read from its bytes", async () => {
    const { reader, ofBlocks } = await reading(new FakeIndexer());
    const one = transfer(10);
    ofBlocks.set(one.id, one);
    expect(await reader.inTransaction(one.id, [encodeAddress(PAYER), payee])).toMatchObject([
      { amount: 1000n, payTo: payee },
    ]);
    expect(await reader.inTransaction(one.id, [encodeAddress(PAYER)])).toEqual([]);
    expect(await reader.inTransaction(noted(1, "gm").id, [payee])).toEqual([]);
  });
});

test("notes on the ledger come with their sender, what they move, and the bytes of the attempt", async () => {
  const indexer = new FakeIndexer();
  const attest = noted(10, "attestd/v1:j{}");
  const moving = noted(11, "attestd/v1:j{}", { amt: 1 });
  const rekeying = placed(
    12,
    "pay",
    { rcv: ATTESTOR, rekey: PAYER },
    {
      "payment-transaction": { receiver: encodeAddress(ATTESTOR) },
      "rekey-to": encodeAddress(PAYER),
    },
  );
  const binary = placed(
    13,
    "pay",
    { rcv: ATTESTOR },
    { "payment-transaction": { receiver: encodeAddress(ATTESTOR) } },
    {
      note: new Uint8Array([0xff, 0xfe]),
    },
  );
  indexer.transactions = [attest, moving, rekeying, binary];
  const { options } = await reading(indexer);
  const notes = await all(attestorNotes(options, [encodeAddress(ATTESTOR)], { from: 1, to: 1_000 }));
  expect(notes.map(({ txid, sender, note, movesNothing }) => [txid, sender, note, movesNothing])).toEqual([
    [attest.id, encodeAddress(ATTESTOR), "attestd/v1:j{}", true],
    [moving.id, encodeAddress(ATTESTOR), "attestd/v1:j{}", false],
    [rekeying.id, encodeAddress(PAYER), undefined, false],
    [binary.id, encodeAddress(PAYER), undefined, true],
  ]);
  const { attempt } = notes[0] ?? {};
  expect(attempt).toMatchObject({ txid: attest.id, firstValid: 1 });
  expect(attempt?.raw).toEqual(signedBytes(attest.bytes));
});

test.each([
  ["searches by notes and senders", true, 2],
  ["has its default settings", false, 60],
])("an account's own key notes alone are read of an indexer that %s", async (_, enablesAll, most) => {
  const indexer = new FakeIndexer();
  indexer.enablesAll = enablesAll;
  const begin = keyNotePrefix(algorandCaip2(GENESIS));
  const [first, second] = [noted(40, `${begin}1"}`), noted(900, `${begin}2"}`)];
  const others = Array.from({ length: 3_000 }, (_, i) => noted(1 + (i % 1_000), "attestd/v1:j{}"));
  const strangers = Array.from({ length: 2_500 }, (_, i) => noted(1 + (i % 1_000), `${begin}3"}`, { snd: PAYER }));
  indexer.transactions = [first, ...others, ...strangers, second];
  const { options } = await reading(indexer);
  const notes = await keyNotes(options, encodeAddress(ATTESTOR), { from: 0, to: 1_000 });
  expect(notes.map(({ txid, round }) => [txid, round])).toEqual([
    [first.id, 40],
    [second.id, 900],
  ]);
  expect(indexer.searches).toBeLessThanOrEqual(most);
});

/** Builds the signed transaction's msgpack by hand: {"sig": …, "txn": <bytes>}. */
function signedBytes(bytes: Uint8Array): Uint8Array {
  const head = [
    0x82,
    0xa3,
    ...Buffer.from("sig"),
    0xc4,
    64,
    ...new Uint8Array(64).fill(5),
    0xa3,
    ...Buffer.from("txn"),
  ];
  return new Uint8Array([...head, ...bytes]);
}
