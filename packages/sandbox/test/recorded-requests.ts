import { decodeMsgpackMap, encodeMsgpack, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { concatBytes, utf8 } from "@attestd/proof/encoding";
import algosdk, { type Transaction } from "algosdk";
import { signBytes, signTransaction } from "../src/algorand/account.ts";
import { type PaymentFields, pay, type TestNetwork, transfer } from "./algorand-network.ts";
import { makeAccount } from "./make-account.ts";

type Send = (path: string, init?: RequestInit) => Promise<Response>;
type Requests = Record<string, () => Promise<Response>>;

const POST = "/v2/transactions";
const PENDING = "/v2/transactions/pending";
const UNKNOWN_ID = "A".repeat(52);
const FUTURE = 99_999_999;

/**
 * The requests of the recordings by their names, in their order: later ones need what earlier ones did. The network is new.
 * @param early an empty round
 */
export function recordedRequests(network: TestNetwork, early: number): Requests {
  const { ledger, accounts } = network;
  const { payer } = accounts;
  const send: Send = (path, init) => fetch(network.algodUrl + path, init);
  const get = (path: string) => () => send(path);
  const empty = (rest = "") => get(`/v2/blocks/${early}${rest}`);
  const post = (...bodies: Uint8Array[]) =>
    send(POST, { method: "POST", body: new Uint8Array(concatBytes(...bodies)) });
  const stranger = makeAccount();

  const payment = (fields: PaymentFields = {}) =>
    pay(network, payer, { receiver: accounts.payTo.address, amount: 1000, ...fields });
  const signed = async (fields?: PaymentFields, by = payer) => signTransaction(by, await payment(fields));
  const posting = (fields?: PaymentFields) => async () => post(await signed(fields));
  const axfer = (fields: Parameters<typeof transfer>[2]) => async () =>
    post(signTransaction(payer, await transfer(network, payer, fields)));
  /** A payment with its map changed, and signed as it then is. */
  const changed = (change: (txn: MsgpackMap) => void) => async () => {
    const txn = decodeMsgpackMap((await payment()).toByte());
    change(txn);
    return post(envelope(txn));
  };
  const envelope = (txn: MsgpackMap, more: Record<string, MsgpackValue> = {}) => {
    const sig = signBytes(payer, concatBytes(utf8("TX"), encodeMsgpack(txn)));
    return encodeMsgpack(new Map<string, MsgpackValue>([["sig", sig], ["txn", txn], ...Object.entries(more)]));
  };
  const grouped = (...members: Transaction[]) => algosdk.assignGroupID(members);
  const two = async (fields: PaymentFields = {}) =>
    [await payment(fields), await payment(fields)] as [Transaction, Transaction];
  const signAll = (members: Transaction[]) => members.map((member) => signTransaction(payer, member));

  const simulate = (request: Record<string, MsgpackValue>, query = "") =>
    send(`${POST}/simulate${query}`, {
      method: "POST",
      body: new Uint8Array(encodeMsgpack(new Map(Object.entries(request)))),
    });
  const simulating =
    (member: () => Promise<Uint8Array> | Uint8Array, allow = true, query = "") =>
    async () => {
      const txns = [decodeMsgpackMap(await member())];
      return simulate(
        { ...(allow && { "allow-empty-signatures": true }), "txn-groups": [new Map([["txns", txns]])] },
        query,
      );
    };
  const unsigned = async (fields?: PaymentFields) =>
    encodeMsgpack(new Map([["txn", decodeMsgpackMap((await payment(fields)).toByte())]]));

  let good: Uint8Array;
  let goodId = "";
  let goodRound = 0;
  let lease: Uint8Array;
  const pendingGood =
    (format = "") =>
    () =>
      send(`${PENDING}/${goodId}${format}`);
  const inBlock = (rest: string) => () => send(`/v2/blocks/${goodRound}${rest}`);
  const proof = (rest: string, id?: string) => () =>
    send(`/v2/blocks/${goodRound}/transactions/${id ?? goodId}/proof${rest}`);
  const LEASE = new Uint8Array(32).fill(9);
  const WRONG = new Uint8Array(32).fill(1);

  return {
    "GET params": get("/v2/transactions/params"),
    "GET status": get("/v2/status"),
    "GET health": get("/health"),
    "GET ready": get("/ready"),
    "GET versions": get("/versions"),
    "GET genesis": get("/genesis"),
    "GET unknown path": get("/v2/unknown"),
    "GET block 0 msgpack": get("/v2/blocks/0?format=msgpack"),
    "GET block 1 json": empty(),
    "GET block future json": get(`/v2/blocks/${FUTURE}`),
    "GET block future msgpack": get(`/v2/blocks/${FUTURE}?format=msgpack`),
    "GET block -1": get("/v2/blocks/-1"),
    "GET block abc": get("/v2/blocks/abc"),
    "GET block format=xml": empty("?format=xml"),
    "GET block 2^64": get("/v2/blocks/18446744073709551616"),
    "GET block header-only": empty("?header-only=true"),
    "GET block hash": empty("/hash"),
    "GET block hash future": get(`/v2/blocks/${FUTURE}/hash`),
    "GET txids empty block": empty("/txids"),
    "GET txids future": get(`/v2/blocks/${FUTURE}/txids`),
    "GET lightheader 1": get("/v2/blocks/1/lightheader/proof"),
    "GET lightheader future": get(`/v2/blocks/${FUTURE}/lightheader/proof`),
    "GET stateproofs 1": get("/v2/stateproofs/1"),
    "GET stateproofs future": get(`/v2/stateproofs/${FUTURE}`),
    "GET account exclude=all": get(`/v2/accounts/${payer.address}?exclude=all`),
    "GET account": get(`/v2/accounts/${payer.address}`),
    "GET account unknown": get(`/v2/accounts/${stranger.address}?exclude=all`),
    "GET account bad": get("/v2/accounts/ABC"),
    // The recorded request put an A at the end of an address that ended so.
    "GET account bad checksum": get(`/v2/accounts/${payer.address}`),
    "GET account asset": get(`/v2/accounts/${payer.address}/assets/31566704`),
    "GET account asset not opted in": get(`/v2/accounts/${stranger.address}/assets/31566704`),
    "GET account asset unknown": get(`/v2/accounts/${payer.address}/assets/77777`),
    "GET asset": get("/v2/assets/31566704"),
    "GET asset unknown": get("/v2/assets/77777"),
    "GET asset abc": get("/v2/assets/abc"),
    "pending bad id": get(`${PENDING}/abc`),
    "pending unknown": get(`${PENDING}/${UNKNOWN_ID}?format=msgpack`),
    "pending unknown json": get(`${PENDING}/${UNKNOWN_ID}`),
    "pending pool list": get(PENDING),
    "pending pool list msgpack": get(`${PENDING}?format=msgpack`),
    "wait-for-block-after 0": get("/v2/status/wait-for-block-after/0"),
    "wait-for-block-after abc": get("/v2/status/wait-for-block-after/abc"),
    "POST good": async () => {
      const sent = await payment();
      goodId = sent.txID();
      good = signTransaction(payer, sent);
      return post(good);
    },
    "POST duplicate in pool": () => post(good),
    "pending in pool json": pendingGood(),
    "pending in pool msgpack": pendingGood("?format=msgpack"),
    "pending confirmed json": () => {
      goodRound = ledger.advance().round;
      return pendingGood()();
    },
    "pending confirmed msgpack": pendingGood("?format=msgpack"),
    "POST duplicate confirmed": () => post(good),
    "txids of block": inBlock("/txids"),
    "proof sha512_256": proof(""),
    "proof sha256": proof("?hashtype=sha256"),
    "proof bad hashtype": proof("?hashtype=md5"),
    "proof unknown txid": proof("", UNKNOWN_ID),
    "proof bad txid": proof("", "abc"),
    "proof future": () => send(`/v2/blocks/${FUTURE}/transactions/${goodId}/proof`),
    "block json with txn": inBlock(""),
    "block msgpack with txn": inBlock("?format=msgpack"),
    "block format=msgp": inBlock("?format=msgp"),
    "POST lease first": async () => {
      lease = await signed({ lease: LEASE });
      return post(lease);
    },
    "POST lease same txn in pool": () => post(lease),
    "POST lease conflict in pool": posting({ lease: LEASE }),
    "POST lease same txn confirmed": () => {
      ledger.advance();
      return post(lease);
    },
    "POST lease conflict confirmed": posting({ lease: LEASE }),
    "POST overspend": posting({ amount: 9_000_000_000_000_000 }),
    "POST overspend by fee, unfunded account": async () =>
      post(signTransaction(stranger, await pay(network, stranger))),
    "POST below min balance": () => {
      ledger.advance();
      const { balance } = ledger.state.account(payer.address);
      return posting({ amount: balance - 50_000n })();
    },
    "POST receiver below min balance": posting({ receiver: makeAccount().address, amount: 10 }),
    "POST wrong genesis hash": changed((txn) => txn.set("gh", WRONG)),
    "POST wrong genesis id": changed((txn) => txn.set("gen", "mainnet-v1.0")),
    "POST fee 0": posting({ fee: 0 }),
    "POST fee 999": posting({ fee: 999 }),
    "POST expired": posting({ firstValid: 1, lastValid: 2 }),
    "POST early": () => posting({ firstValid: ledger.round + 500, lastValid: ledger.round + 600 })(),
    "POST window >1000": () => changed((txn) => txn.set("lv", ledger.round + 1001).set("fv", ledger.round))(),
    "POST lv<fv": () => changed((txn) => txn.set("lv", ledger.round - 1).set("fv", ledger.round))(),
    "POST note 1025": posting({ note: "n".repeat(1025), fee: 1000 }),
    "POST note 5000": changed((txn) => txn.set("note", new Uint8Array(5000).fill(1))),
    "POST empty body": () => post(),
    "POST garbage": () => post(Buffer.from("garbage")),
    "POST json": () => post(Buffer.from('{"txn":{}}')),
    "POST truncated": async () => post((await signed()).subarray(0, 100)),
    "POST trailing byte": async () => post(await signed(), Uint8Array.of(0)),
    "POST unknown field in txn": changed((txn) => txn.set("zzz", 1)),
    "POST unknown field in envelope": async () =>
      post(envelope(decodeMsgpackMap((await payment()).toByte()), { zzz: 1 })),
    "POST stray field": changed((txn) => txn.set("xaid", 5)),
    "POST unsigned": async () => post(await unsigned()),
    "POST bad signature": async () => post(forged(await signed(), (map) => map.set("sig", new Uint8Array(64).fill(7)))),
    "POST signature of other key": async () => post(signTransaction(stranger, await payment())),
    "POST explicit zero amount": changed((txn) => txn.set("amt", 0)),
    "POST non-canonical map order": async () => post(reversed(await signed())),
    "POST group ok": async () => post(...signAll(grouped(...(await two())))),
    "POST group incomplete": async () => post(...signAll(grouped(...(await two())).slice(0, 1))),
    "POST group without id": async () => post(...signAll(await two())),
    "POST group reordered": async () => post(...signAll(grouped(...(await two())).toReversed())),
    "POST 17 txns": async () => post(...new Array<Uint8Array>(17).fill(await signed())),
    "POST group one overspends": async () =>
      post(...signAll(grouped(await payment(), await payment({ amount: 9_000_000_000_000_000 })))),
    "POST group fee pooled too low": async () =>
      post(...signAll(grouped(await payment({ fee: 1000 }), await payment({ fee: 999 })))),
    "POST axfer not opted in": axfer({ receiver: stranger.address, amount: 1 }),
    "POST axfer underflow": axfer({ receiver: accounts.payTo.address, amount: 10n ** 18n }),
    "POST axfer unknown asset": axfer({ receiver: accounts.payTo.address, amount: 1, assetIndex: 77777 }),
    "POST axfer optin unknown asset": axfer({ assetIndex: 77777 }),
    "POST sgnr = sender": async () =>
      post(forged(await signed(), (map) => map.set("sgnr", algosdk.decodeAddress(payer.address).publicKey))),
    "POST sgnr not authorized": async () => post(signTransaction(stranger, await payment())),
    "POST zero sender": changed((txn) => txn.delete("snd")),
    "POST no type": changed((txn) => txn.delete("type")),
    "POST type foo": changed((txn) => txn.set("type", "foo")),
    "POST self close": posting({ closeRemainderTo: payer.address }),
    "POST close w/ assets": posting({ closeRemainderTo: accounts.payTo.address }),
    "SIM ok": simulating(() => signed()),
    "SIM unsigned": simulating(() => unsigned()),
    "SIM overspend": simulating(() => signed({ amount: 9_000_000_000_000_000 })),
    "SIM bad signature": simulating(async () =>
      forged(await signed(), (map) => map.set("sig", new Uint8Array(64).fill(7))),
    ),
    "SIM already confirmed": simulating(() => good),
    "SIM expired": simulating(() => unsigned({ firstValid: 1, lastValid: 2 })),
    "SIM wrong signer of rekeyed": simulating(async () =>
      forged(await unsigned(), (map) => map.set("sgnr", algosdk.decodeAddress(stranger.address).publicKey)),
    ),
    "SIM two unsigned w/ group": async () => {
      const txns = grouped(...(await two())).map((member) => new Map([["txn", decodeMsgpackMap(member.toByte())]]));
      return simulate({ "allow-empty-signatures": true, "txn-groups": [new Map([["txns", txns]])] });
    },
    "SIM empty": () => simulate({ "txn-groups": [] }),
    "SIM garbage": () => send(`${POST}/simulate`, { method: "POST", body: "garbage" }),
    "SIM not allowed empty": simulating(() => unsigned(), false),
    "SIM msgpack answer": simulating(() => signed(), true, "?format=msgpack"),
    "SIM wrong genesis": simulating(async () =>
      forged(await unsigned(), (map) => (map.get("txn") as MsgpackMap).set("gh", WRONG)),
    ),
    "HEAD status": () => send("/v2/status", { method: "HEAD" }),
    "OPTIONS status": () => send("/v2/status", { method: "OPTIONS" }),
    "POST status": () => send("/v2/status", { method: "POST" }),
  };
}

function forged(signed: Uint8Array, change: (envelope: MsgpackMap) => void): Uint8Array {
  const map = decodeMsgpackMap(signed);
  change(map);
  return encodeMsgpack(map);
}

/** The same map with its members in the opposite order. */
function reversed(signed: Uint8Array): Uint8Array {
  const { sig, txn } = Object.fromEntries(decodeMsgpackMap(signed)) as { sig: Uint8Array; txn: MsgpackMap };
  const members = [
    ["txn", txn],
    ["sig", sig],
  ] as const;
  return concatBytes(
    Uint8Array.of(0x82),
    ...members.flatMap(([name, value]) => [encodeMsgpack(name), encodeMsgpack(value)]),
  );
}
