import { ProofError } from "@attestd/proof";
import { decodeAddress, encodeMsgpack, type MsgpackMap, txid } from "@attestd/proof/algorand";
import {
  address,
  anyText,
  bytes,
  digest,
  flag,
  integer,
  type Json,
  list,
  member,
  object,
  rebuilt,
  struct,
  text,
} from "./indexer-json.ts";
import { accessList, boxReferences } from "./rebuild-references.ts";

/** Reads the fields of one type. @param guess the choice where the JSON is ambiguous */
type OwnFields = (json: Json, guess: boolean) => MsgpackMap;

/**
 * Rebuilds a transaction's canonical msgpack from an indexer's JSON, for rounds whose block no algod keeps.
 *
 * The JSON is ambiguous in places, such as a heartbeat's discount: a rebuilt transaction is a guess until its id proves
 * it. Field names: go-algorand, `data/transactions`. JSON members: indexer 3.9, `api/`.
 * @returns the unsigned transaction's bytes, whose id is `txnId`; undefined when the JSON does not lead to that id
 */
export function rebuildTransaction(txnId: string, json: Json): Uint8Array | undefined {
  return rebuilt(() => {
    const type = text(json["tx-type"]);
    const own = OWN_FIELDS[type];
    if (!own) throw new ProofError("malformed", `no rebuild for transactions of type ${type}`);
    const guesses = [false, true].map((guess) => {
      return encodeMsgpack(new Map([["type", type], ...commonFields(json), ...own(json, guess)]));
    });
    return guesses.find((bytes) => txid(bytes) === txnId);
  });
}

const commonFields = struct({
  snd: ["sender", address],
  fee: ["fee", integer],
  fv: ["first-valid", integer],
  lv: ["last-valid", integer],
  note: ["note", bytes],
  gen: ["genesis-id", text],
  gh: ["genesis-hash", digest],
  grp: ["group", digest],
  lx: ["lease", digest],
  rekey: ["rekey-to", address],
});

const ON_COMPLETION = ["noop", "optin", "closeout", "clear", "update", "delete"];

const stateSchema = struct({ nui: ["num-uint", integer], nbs: ["num-byte-slice", integer] });

const merkleProof = struct({
  pth: ["path", list(bytes)],
  hsh: member("hash-factory", { t: ["hash-type", integer] }),
  td: ["tree-depth", integer],
});

const reveal = struct({
  s: member("sig-slot", {
    s: member("signature", {
      sig: ["falcon-signature", bytes],
      idx: ["merkle-array-index", integer],
      prf: ["proof", merkleProof],
      vkey: struct({ k: ["verifying-key", bytes] }),
    }),
    l: ["lower-sig-weight", integer],
  }),
  p: member("participant", {
    p: member("verifier", { cmt: ["commitment", bytes], lf: ["key-lifetime", integer] }),
    w: ["weight", integer],
  }),
});

const applicationFields = member("application-transaction", {
  apid: ["application-id", integer],
  apan: ["on-completion", (value) => ON_COMPLETION.indexOf(text(value))],
  apap: ["approval-program", bytes],
  apsu: ["clear-state-program", bytes],
  apaa: ["application-args", list(bytes)],
  apat: ["accounts", list((account) => decodeAddress(text(account)))],
  apfa: ["foreign-apps", list(integer)],
  apas: ["foreign-assets", list(integer)],
  apbx: boxReferences,
  apgs: ["global-state-schema", stateSchema],
  apls: ["local-state-schema", stateSchema],
  apep: ["extra-program-pages", integer],
  aprv: ["reject-version", integer],
});

/** Since v42 also `c`: whether a challenge discounts its fee, which the indexer leaves out. */
const heartbeatFields = member("heartbeat-transaction", {
  a: ["hb-address", address],
  kd: ["hb-key-dilution", integer],
  sd: ["hb-seed", digest],
  vid: ["hb-vote-id", digest],
  prf: member("hb-proof", {
    s: ["hb-sig", digest],
    p: ["hb-pk", digest],
    p2: ["hb-pk2", digest],
    p1s: ["hb-pk1sig", digest],
    p2s: ["hb-pk2sig", digest],
  }),
});

/** By type of transaction. */
const OWN_FIELDS: Readonly<Record<string, OwnFields>> = {
  pay: member("payment-transaction", {
    rcv: ["receiver", address],
    amt: ["amount", integer],
    close: ["close-remainder-to", address],
  }),
  axfer: member("asset-transfer-transaction", {
    xaid: ["asset-id", integer],
    aamt: ["amount", integer],
    asnd: ["sender", address],
    arcv: ["receiver", address],
    aclose: ["close-to", address],
  }),
  afrz: member("asset-freeze-transaction", {
    fadd: ["address", address],
    faid: ["asset-id", integer],
    afrz: ["new-freeze-status", flag],
  }),
  acfg: member("asset-config-transaction", {
    caid: ["asset-id", integer],
    apar: member("params", {
      t: ["total", integer],
      dc: ["decimals", integer],
      df: ["default-frozen", flag],
      un: anyText("unit-name"),
      an: anyText("name"),
      au: anyText("url"),
      am: ["metadata-hash", digest],
      m: ["manager", address],
      r: ["reserve", address],
      f: ["freeze", address],
      c: ["clawback", address],
    }),
  }),
  keyreg: member("keyreg-transaction", {
    votekey: ["vote-participation-key", digest],
    selkey: ["selection-participation-key", digest],
    sprfkey: ["state-proof-key", digest],
    votefst: ["vote-first-valid", integer],
    votelst: ["vote-last-valid", integer],
    votekd: ["vote-key-dilution", integer],
    nonpart: ["non-participation", flag],
  }),
  appl: (json, isListed) => {
    const call = applicationFields(json);
    const sender = text(json.sender);
    const access = accessList(object(json["application-transaction"]), sender, isListed);
    return access.length === 0 ? call : new Map(call).set("al", access);
  },
  hb: (json, hasDiscount) =>
    new Map([["hb", new Map([...heartbeatFields(json), ...(hasDiscount ? [["c", true] as const] : [])])]]),
  stpf: member("state-proof-transaction", {
    sptype: ["state-proof-type", integer],
    sp: member("state-proof", {
      c: ["sig-commit", bytes],
      w: ["signed-weight", integer],
      S: ["sig-proofs", merkleProof],
      P: ["part-proofs", merkleProof],
      v: ["salt-version", integer],
      r: ({ reveals }) => new Map(list(object)(reveals).map((item) => [integer(item.position), reveal(item)])),
      pr: ["positions-to-reveal", list(integer)],
    }),
    spmsg: member("message", {
      b: ["block-headers-commitment", bytes],
      v: ["voters-commitment", bytes],
      P: ["ln-proven-weight", integer],
      f: ["first-attested-round", integer],
      l: ["latest-attested-round", integer],
    }),
  }),
};
