import { isProofError, ProofError } from "@attestd/proof";
import {
  decodeAddress,
  encodeMsgpack,
  type MsgpackMap,
  type MsgpackValue,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { address, anyText, bytes, digest, flag, integer, type Json, list, object, text } from "./indexer-json.ts";

type Fields = Record<string, MsgpackValue | undefined>;

/**
 * Rebuilds a transaction's canonical msgpack from an indexer's JSON, for rounds whose block no algod keeps.
 *
 * The JSON lacks resource access lists and some box references, so that a rebuild is a guess until its id proves it. Field names: go-algorand, `data/transactions`; JSON names: indexer `api/`.
 *
 * @returns the unsigned transaction's bytes, whose id is `txnId`; undefined when the JSON does not lead to that id
 */
export function rebuildTransaction(txnId: string, json: Json): Uint8Array | undefined {
  try {
    const bytes = encodeMsgpack(transaction(json));
    return txid(bytes) === txnId ? bytes : undefined;
  } catch (error) {
    if (isProofError(error, "malformed") || error instanceof TypeError) return undefined;
    throw error;
  }
}

function transaction(json: Json): MsgpackMap {
  const type = text(json["tx-type"]);
  const own = OWN_FIELDS[type];
  if (own === undefined) throw new ProofError("malformed", `no rebuild for transactions of type ${type}`);
  return structMap({
    type,
    snd: address(json.sender),
    fee: integer(json.fee),
    fv: integer(json["first-valid"]),
    lv: integer(json["last-valid"]),
    note: bytes(json.note),
    gen: text(json["genesis-id"]),
    gh: digest(json["genesis-hash"]),
    grp: digest(json.group),
    lx: digest(json.lease),
    rekey: address(json["rekey-to"]),
    ...own(json),
  });
}

const OWN_FIELDS: Readonly<Record<string, (json: Json) => Fields>> = {
  pay: (json) => payment(object(json["payment-transaction"])),
  axfer: (json) => assetTransfer(object(json["asset-transfer-transaction"])),
  afrz: (json) => assetFreeze(object(json["asset-freeze-transaction"])),
  acfg: (json) => assetConfig(object(json["asset-config-transaction"])),
  keyreg: (json) => keyRegistration(object(json["keyreg-transaction"])),
  appl: (json) => applicationCall(object(json["application-transaction"])),
  hb: (json) => heartbeat(object(json["heartbeat-transaction"])),
  stpf: (json) => stateProofTransaction(object(json["state-proof-transaction"])),
};

function payment(json: Json): Fields {
  return {
    rcv: address(json.receiver),
    amt: integer(json.amount),
    close: address(json["close-remainder-to"]),
  };
}

function assetTransfer(json: Json): Fields {
  return {
    xaid: integer(json["asset-id"]),
    aamt: integer(json.amount),
    asnd: address(json.sender),
    arcv: address(json.receiver),
    aclose: address(json["close-to"]),
  };
}

function assetFreeze(json: Json): Fields {
  return {
    fadd: address(json.address),
    faid: integer(json["asset-id"]),
    afrz: flag(json["new-freeze-status"]),
  };
}

function assetConfig(json: Json): Fields {
  const params = object(json.params ?? {});
  return {
    caid: integer(json["asset-id"]),
    apar: structMap({
      t: integer(params.total),
      dc: integer(params.decimals),
      df: flag(params["default-frozen"]),
      // The plain members are missing or mangled where the name is not UTF-8.
      un: anyText(params["unit-name-b64"], params["unit-name"]),
      an: anyText(params["name-b64"], params.name),
      au: anyText(params["url-b64"], params.url),
      am: digest(params["metadata-hash"]),
      m: address(params.manager),
      r: address(params.reserve),
      f: address(params.freeze),
      c: address(params.clawback),
    }),
  };
}

function keyRegistration(json: Json): Fields {
  return {
    votekey: digest(json["vote-participation-key"]),
    selkey: digest(json["selection-participation-key"]),
    sprfkey: digest(json["state-proof-key"]),
    votefst: integer(json["vote-first-valid"]),
    votelst: integer(json["vote-last-valid"]),
    votekd: integer(json["vote-key-dilution"]),
    nonpart: flag(json["non-participation"]),
  };
}

const ON_COMPLETION = ["noop", "optin", "closeout", "clear", "update", "delete"];

function applicationCall(json: Json): Fields {
  const application = integer(json["application-id"]);
  const applications = list(json["foreign-apps"], integer);
  return {
    apid: application,
    apan: ON_COMPLETION.indexOf(text(json["on-completion"])),
    apap: bytes(json["approval-program"]),
    apsu: bytes(json["clear-state-program"]),
    apaa: list(json["application-args"], bytes),
    apat: list(json.accounts, (account) => decodeAddress(text(account))),
    apfa: applications,
    apas: list(json["foreign-assets"], integer),
    apbx: list(json["box-references"], (box) => boxReference(object(box), application, applications)),
    apgs: stateSchema(json["global-state-schema"]),
    apls: stateSchema(json["local-state-schema"]),
    apep: integer(json["extra-program-pages"]),
    aprv: integer(json["reject-version"]),
  };
}

/** A box names its application by its index in the foreign applications, from 1; 0 is the called one. */
function boxReference(json: Json, called: number | bigint, applications: readonly (number | bigint)[]): MsgpackMap {
  const application = integer(json.app);
  const index = applications.indexOf(application) + 1;
  if (index === 0 && application !== 0 && application !== called)
    throw new ProofError("malformed", "box of an unlisted application");
  return structMap({ i: index, n: bytes(json.name) });
}

function stateSchema(value: unknown): MsgpackMap {
  const json = object(value ?? {});
  return structMap({ nui: integer(json["num-uint"]), nbs: integer(json["num-byte-slice"]) });
}

function heartbeat(json: Json): Fields {
  const proof = object(json["hb-proof"]);
  return {
    hb: structMap({
      a: address(json["hb-address"]),
      kd: integer(json["hb-key-dilution"]),
      sd: digest(json["hb-seed"]),
      vid: digest(json["hb-vote-id"]),
      prf: structMap({
        s: digest(proof["hb-sig"]),
        p: digest(proof["hb-pk"]),
        p2: digest(proof["hb-pk2"]),
        p1s: digest(proof["hb-pk1sig"]),
        p2s: digest(proof["hb-pk2sig"]),
      }),
    }),
  };
}

function stateProofTransaction(json: Json): Fields {
  const message = object(json.message);
  return {
    sptype: integer(json["state-proof-type"]),
    sp: stateProof(object(json["state-proof"])),
    spmsg: structMap({
      b: bytes(message["block-headers-commitment"]),
      v: bytes(message["voters-commitment"]),
      P: integer(message["ln-proven-weight"]),
      f: integer(message["first-attested-round"]),
      l: integer(message["latest-attested-round"]),
    }),
  };
}

function stateProof(json: Json): MsgpackMap {
  const reveals = list(json.reveals, object);
  return structMap({
    c: bytes(json["sig-commit"]),
    w: integer(json["signed-weight"]),
    S: merkleProof(json["sig-proofs"]),
    P: merkleProof(json["part-proofs"]),
    v: integer(json["salt-version"]),
    r: new Map(reveals.map((reveal) => [integer(reveal.position), stateProofReveal(reveal)])),
    pr: list(json["positions-to-reveal"], integer),
  });
}

function stateProofReveal(json: Json): MsgpackMap {
  const slot = object(json["sig-slot"]);
  const participant = object(json.participant);
  const verifier = object(participant.verifier);
  const signature = object(slot.signature ?? {});
  return structMap({
    s: structMap({
      s: structMap({
        sig: bytes(signature["falcon-signature"]),
        idx: integer(signature["merkle-array-index"]),
        prf: merkleProof(signature.proof),
        vkey: structMap({ k: bytes(signature["verifying-key"]) }),
      }),
      l: integer(slot["lower-sig-weight"]),
    }),
    p: structMap({
      p: structMap({ cmt: bytes(verifier.commitment), lf: integer(verifier["key-lifetime"]) }),
      w: integer(participant.weight),
    }),
  });
}

function merkleProof(value: unknown): MsgpackMap {
  const json = object(value ?? {});
  const factory = object(json["hash-factory"] ?? {});
  return structMap({
    pth: list(json.path, bytes),
    hsh: structMap({ t: integer(factory["hash-type"]) }),
    td: integer(json["tree-depth"]),
  });
}
