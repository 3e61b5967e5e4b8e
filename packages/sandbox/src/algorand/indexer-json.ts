import { getInteger, getMap, getString, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";
import type { Json, JsonObject } from "../json.ts";
import { assetParamsJson } from "./account-json.ts";
import { applicationJson, effectsJson } from "./application-json.ts";
import type { BlockTransaction } from "./block.ts";
import { addressOf, asMap, base64, bytesJson, listOf, part } from "./members.ts";
import { stateProofJson } from "./state-proof-json.ts";
import { getAddress, ZERO_ADDRESS } from "./transaction.ts";

/**
 * Returns a transaction in the indexer's JSON, with its inner ones. For an unknown type it has the members that every
 * type has.
 */
export function transactionJson(transaction: BlockTransaction): JsonObject {
  const { id, inBlock } = transaction;
  return {
    ...bodyJson(transaction),
    id,
    signature: {
      logicsig: logicsigJson(getMap(inBlock, "lsig")),
      multisig: multisigJson(getMap(inBlock, "msig")),
      sig: base64(inBlock, "sig"),
    },
  };
}

/** Returns the members that inner transactions also have; they have no id. */
function bodyJson(transaction: Omit<BlockTransaction, "id">): JsonObject {
  const { txn, inBlock, round, index, timestamp } = transaction;
  const type = getString(txn, "type") ?? "";
  const delta = part(inBlock, "dt");
  const inner = maps(delta.get("itx")).map((entry) =>
    bodyJson({ ...transaction, inBlock: entry, txn: part(entry, "txn") }),
  );
  return {
    "auth-addr": getAddress(inBlock, "sgnr"),
    "close-rewards": getInteger(inBlock, "rc"),
    "closing-amount": getInteger(inBlock, "ca"),
    "confirmed-round": round,
    "created-asset-index": type === "acfg" && !txn.has("caid") ? getInteger(inBlock, "caid") : undefined,
    "created-application-index": type === "appl" && !txn.has("apid") ? getInteger(inBlock, "apid") : undefined,
    fee: getInteger(txn, "fee"),
    "first-valid": getInteger(txn, "fv"),
    "genesis-hash": base64(txn, "gh"),
    "genesis-id": getString(txn, "gen"),
    group: base64(txn, "grp"),
    "inner-txns": inner.length === 0 ? undefined : inner,
    "intra-round-offset": index,
    "last-valid": getInteger(txn, "lv"),
    lease: base64(txn, "lx"),
    note: base64(txn, "note"),
    "receiver-rewards": getInteger(inBlock, "rr"),
    "rekey-to": getAddress(txn, "rekey"),
    "round-time": timestamp,
    sender: getAddress(txn, "snd") ?? ZERO_ADDRESS,
    "sender-rewards": getInteger(inBlock, "rs"),
    "tx-type": type,
    ...TYPES.get(type)?.(txn, inBlock),
    ...effectsJson(txn, delta),
  };
}

/** By type of transaction, its additional member. */
const TYPES: ReadonlyMap<string, (txn: MsgpackMap, inBlock: MsgpackMap) => JsonObject> = new Map(
  Object.entries({
    pay: (txn, inBlock) => ({
      "payment-transaction": {
        amount: getInteger(txn, "amt"),
        "close-amount": getInteger(inBlock, "ca"),
        "close-remainder-to": getAddress(txn, "close"),
        receiver: getAddress(txn, "rcv") ?? ZERO_ADDRESS,
      },
    }),
    axfer: (txn, inBlock) => ({
      "asset-transfer-transaction": {
        amount: getInteger(txn, "aamt"),
        "asset-id": getInteger(txn, "xaid"),
        "close-amount": getInteger(inBlock, "aca"),
        "close-to": getAddress(txn, "aclose"),
        receiver: getAddress(txn, "arcv") ?? ZERO_ADDRESS,
        sender: getAddress(txn, "asnd"),
      },
    }),
    acfg: (txn) => {
      const parameters = getMap(txn, "apar");
      const creator = getAddress(txn, "snd") ?? ZERO_ADDRESS;
      return {
        "asset-config-transaction": {
          "asset-id": getInteger(txn, "caid"),
          params: parameters && assetParamsJson(creator, parameters),
        },
      };
    },
    afrz: (txn) => ({
      "asset-freeze-transaction": {
        address: getAddress(txn, "fadd") ?? ZERO_ADDRESS,
        "asset-id": getInteger(txn, "faid"),
        "new-freeze-status": txn.get("afrz") === true,
      },
    }),
    keyreg: (txn) => ({
      "keyreg-transaction": {
        "non-participation": txn.get("nonpart") === true,
        "selection-participation-key": base64(txn, "selkey"),
        "state-proof-key": base64(txn, "sprfkey"),
        "vote-first-valid": getInteger(txn, "votefst"),
        "vote-key-dilution": getInteger(txn, "votekd"),
        "vote-last-valid": getInteger(txn, "votelst"),
        "vote-participation-key": base64(txn, "votekey"),
      },
    }),
    hb: (txn) => ({ "heartbeat-transaction": heartbeatJson(part(txn, "hb")) }),
    appl: (txn) => ({ "application-transaction": applicationJson(txn) }),
    stpf: (txn) => ({ "state-proof-transaction": stateProofJson(txn) }),
  } satisfies Record<string, (txn: MsgpackMap, inBlock: MsgpackMap) => JsonObject>),
);

function heartbeatJson(heartbeat: MsgpackMap): JsonObject {
  const proof = part(heartbeat, "prf");
  return {
    "hb-address": getAddress(heartbeat, "a") ?? ZERO_ADDRESS,
    "hb-key-dilution": getInteger(heartbeat, "kd"),
    "hb-proof": {
      "hb-pk": base64(proof, "p"),
      "hb-pk1sig": base64(proof, "p1s"),
      "hb-pk2": base64(proof, "p2"),
      "hb-pk2sig": base64(proof, "p2s"),
      "hb-sig": base64(proof, "s"),
    },
    "hb-seed": base64(heartbeat, "sd"),
    "hb-vote-id": base64(heartbeat, "vid"),
  };
}

function multisigJson(multisig: MsgpackMap | undefined): Json | undefined {
  return (
    multisig && {
      subsignature: maps(multisig.get("subsig")).map((part) => ({
        "public-key": base64(part, "pk"),
        signature: base64(part, "s"),
      })),
      threshold: getInteger(multisig, "thr"),
      version: getInteger(multisig, "v"),
    }
  );
}

function logicsigJson(logicsig: MsgpackMap | undefined): Json | undefined {
  return (
    logicsig && {
      args: listOf(logicsig.get("arg")).map(bytesJson),
      logic: base64(logicsig, "l"),
      "logic-multisig-signature": multisigJson(getMap(logicsig, "lmsig")),
      "multisig-signature": multisigJson(getMap(logicsig, "msig")),
      signature: base64(logicsig, "sig"),
    }
  );
}

/** A block in the indexer's JSON. */
export function blockJson(header: MsgpackMap, transactions: Json[]): JsonObject {
  const tracking = getMap(header, "spt") ?? new Map<number, MsgpackValue>();
  return {
    bonus: getInteger(header, "bi") || undefined,
    "fees-collected": getInteger(header, "fc") || undefined,
    "genesis-hash": base64(header, "gh"),
    "genesis-id": getString(header, "gen") ?? "",
    "participation-updates": {
      "absent-participation-accounts": listOf(header.get("partupdabs")).map(addressOf),
      "expired-participation-accounts": listOf(header.get("partupdrmv")).map(addressOf),
    },
    "previous-block-hash": base64(header, "prev") ?? toBase64(new Uint8Array(32)),
    "previous-block-hash-512": base64(header, "prev512"),
    proposer: getAddress(header, "prp"),
    "proposer-payout": getInteger(header, "pp") || undefined,
    rewards: {
      "fee-sink": getAddress(header, "fees") ?? ZERO_ADDRESS,
      "rewards-calculation-round": getInteger(header, "rwcalr"),
      "rewards-level": getInteger(header, "earn"),
      "rewards-pool": getAddress(header, "rwd") ?? ZERO_ADDRESS,
      "rewards-rate": getInteger(header, "rate"),
      "rewards-residue": getInteger(header, "frac"),
    },
    round: getInteger(header, "rnd"),
    seed: base64(header, "seed"),
    "state-proof-tracking": [...tracking].map(([type, data]) => trackingJson(Number(type), data)),
    timestamp: getInteger(header, "ts"),
    transactions,
    "transactions-root": base64(header, "txn") ?? toBase64(new Uint8Array(32)),
    "transactions-root-sha256": base64(header, "txn256") ?? toBase64(new Uint8Array(32)),
    "transactions-root-sha512": base64(header, "txn512"),
    "txn-counter": getInteger(header, "tc"),
    "upgrade-state": {
      "current-protocol": getString(header, "proto") ?? "",
      "next-protocol": getString(header, "nextproto"),
      "next-protocol-approvals": getInteger(header, "nextyes"),
      "next-protocol-switch-on": getInteger(header, "nextswitch"),
      "next-protocol-vote-before": getInteger(header, "nextbefore"),
    },
    "upgrade-vote": {
      "upgrade-approve": header.get("upgradeyes") === true,
      "upgrade-delay": getInteger(header, "upgradedelay"),
      "upgrade-propose": getString(header, "upgradeprop"),
    },
  };
}

function trackingJson(type: number, data: MsgpackValue): JsonObject {
  const state = asMap(data);
  return {
    "next-round": getInteger(state, "n"),
    "online-total-weight": getInteger(state, "t"),
    type,
    "voters-commitment": base64(state, "v"),
  };
}

function maps(value: MsgpackValue | undefined): MsgpackMap[] {
  return listOf(value).filter((item) => item instanceof Map);
}
