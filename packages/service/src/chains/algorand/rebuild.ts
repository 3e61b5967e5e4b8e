import { isProofError, ProofError } from "@attestd/proof";
import {
  decodeAddress,
  encodeMsgpack,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { fromBase64, fromUtf8, utf8 } from "@attestd/proof/encoding";

/** A JSON object as an indexer writes it, with lossless integers. */
type Json = Readonly<Record<string, unknown>>;
/** Reads a JSON value. It throws ProofError `malformed` for a value of another type. */
type Read<T = MsgpackValue | undefined> = (value: unknown) => T;
/** The JSON member that a field comes from, and its reader; or a reader of the JSON object that has the members. */
type Field = readonly [member: string, read: Read] | ((json: Json) => MsgpackValue | undefined);
type Fields = Readonly<Record<string, Field>>;

/**
 * Rebuilds a transaction's canonical msgpack from an indexer's JSON, for rounds whose block no algod keeps.
 *
 * The JSON lacks resource access lists and some box references: a rebuild is a guess until its id proves it. Names of
 * fields: go-algorand, `data/transactions`; of JSON members: indexer, `api/`.
 *
 * @returns the unsigned transaction's bytes, whose id is `txnId`; undefined when the JSON does not lead to that id
 */
export function rebuildTransaction(txnId: string, json: Json): Uint8Array | undefined {
  try {
    const type = text(json["tx-type"]);
    const own = OWN_FIELDS[type];
    if (!own) throw new ProofError("malformed", `no rebuild for transactions of type ${type}`);
    const bytes = encodeMsgpack(new Map([["type", type], ...commonFields(json), ...own(json)]));
    return txid(bytes) === txnId ? bytes : undefined;
  } catch (error) {
    if (isProofError(error, "malformed") || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Makes a reader of a JSON object; an absent one has no members. */
function struct(fields: Fields): Read<MsgpackMap> {
  return (value) => {
    const json = object(value ?? {});
    const values = Object.entries(fields).map(([name, field]) => {
      return [name, typeof field === "function" ? field(json) : field[1](json[field[0]])];
    });
    return structMap(Object.fromEntries(values));
  };
}

/** Makes a reader of the JSON object that is this member of another. */
function member(name: string, fields: Fields): (json: Json) => MsgpackMap {
  const read = struct(fields);
  return (json) => read(json[name]);
}

function object(value: unknown): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new ProofError("malformed", "not an object");
}

// An absent member is read as the empty value of its type, which `structMap` leaves out.

function list<T>(read: Read<T>): Read<T[]> {
  return (value = []) => {
    if (Array.isArray(value)) return value.map(read);
    throw new ProofError("malformed", "not a list");
  };
}

function integer(value: unknown = 0): number | bigint {
  if (typeof value === "bigint" || typeof value === "number") return value;
  throw new ProofError("malformed", "not an integer");
}

function flag(value: unknown = false): boolean {
  if (typeof value === "boolean") return value;
  throw new ProofError("malformed", "not a boolean");
}

function text(value: unknown = ""): string {
  if (typeof value === "string") return value;
  throw new ProofError("malformed", "not a text");
}

/** Base64. */
function bytes(value: unknown): Uint8Array {
  return fromBase64(text(value));
}

/** Base64 of a fixed number of bytes. @returns undefined for all zeros, which Go leaves out */
function digest(value: unknown): Uint8Array | undefined {
  return unlessZero(bytes(value));
}

function address(value: unknown): Uint8Array | undefined {
  return value === undefined ? undefined : unlessZero(decodeAddress(text(value)));
}

function unlessZero(fixed: Uint8Array): Uint8Array | undefined {
  return fixed.some((byte) => byte !== 0) ? fixed : undefined;
}

/** Text for which the ledger prescribes no encoding. The plain member is missing or mangled where it is not UTF-8. */
function anyText(name: string): Field {
  return (json) => {
    const base64 = json[`${name}-b64`];
    const raw = base64 === undefined ? utf8(text(json[name])) : bytes(base64);
    try {
      return fromUtf8(raw);
    } catch {
      return new RawString(raw);
    }
  };
}

/** A box names its application by its index in the foreign applications, from 1; 0 is the called one. */
function boxReferences(call: Json): MsgpackMap[] {
  const called = integer(call["application-id"]);
  const applications = list(integer)(call["foreign-apps"]);
  return list((value) => {
    const box = object(value);
    const application = integer(box.app);
    const index = applications.indexOf(application) + 1;
    if (index === 0 && application !== 0 && application !== called)
      throw new ProofError("malformed", "box of an unlisted application");
    return structMap({ i: index, n: bytes(box.name) });
  })(call["box-references"]);
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

/** By type of transaction. */
const OWN_FIELDS: Readonly<Record<string, (json: Json) => MsgpackMap>> = {
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
  appl: member("application-transaction", {
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
  }),
  hb: member("heartbeat-transaction", {
    hb: struct({
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
    }),
  }),
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
