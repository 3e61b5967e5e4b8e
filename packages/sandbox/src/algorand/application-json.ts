import { getInteger, getMap, type MsgpackMap, type MsgpackValue, RawString } from "@attestd/proof/algorand";
import { compareBytes, toBase64, utf8 } from "@attestd/proof/encoding";
import type { Json, JsonObject } from "../json.ts";
import { addressOf, asMap, bytesJson, listOf, part } from "./members.ts";

const ON_COMPLETION = ["noop", "optin", "closeout", "clear", "update", "delete"];

/** `application-transaction` in the indexer's JSON. Lists are present even if they are empty. */
export function applicationJson(txn: MsgpackMap): JsonObject {
  const apps = listOf(txn.get("apfa"));
  return {
    access: accessJson(txn),
    accounts: listOf(txn.get("apat")).map(addressOf),
    "application-args": listOf(txn.get("apaa")).map(bytesJson),
    "application-id": getInteger(txn, "apid"),
    "approval-program": bytesJson(txn.get("apap")) || undefined,
    "box-references": listOf(txn.get("apbx")).map((box) => boxJson(asMap(box), apps)),
    "clear-state-program": bytesJson(txn.get("apsu")) || undefined,
    "extra-program-pages": getInteger(txn, "apep") || undefined,
    "foreign-apps": apps as Json[],
    "foreign-assets": listOf(txn.get("apas")) as Json[],
    "global-state-schema": schemaJson(getMap(txn, "apgs")),
    "local-state-schema": schemaJson(getMap(txn, "apls")),
    "on-completion": ON_COMPLETION[Number(getInteger(txn, "apan"))] ?? "unknown",
    "reject-version": getInteger(txn, "aprv") || undefined,
  };
}

/**
 * Returns the effects of an application call besides its transaction: logs and changes of state, without its inner
 * transactions.
 * @param delta `dt` of the in-block map
 */
export function effectsJson(txn: MsgpackMap, delta: MsgpackMap): JsonObject {
  const logs = listOf(delta.get("lg")).map(bytesJson);
  const accounts = [txn.get("snd") ?? null, ...listOf(txn.get("apat")), ...listOf(delta.get("sa"))];
  const locals = [...(getMap(delta, "ld") ?? [])].map(([index, changes]) => ({
    address: addressOf(accounts[Number(index)]),
    delta: stateDeltaJson(changes),
  }));
  const globals = stateDeltaJson(delta.get("gd"));
  return {
    "global-state-delta": globals.length === 0 ? undefined : globals,
    "local-state-delta": locals.length === 0 ? undefined : locals,
    logs: logs.length === 0 ? undefined : logs,
  };
}

function stateDeltaJson(changes: MsgpackValue | undefined): JsonObject[] {
  if (!(changes instanceof Map)) return [];
  const keys = [...changes].map(
    ([key, value]) => [key instanceof RawString ? key.bytes : utf8(String(key)), value] as const,
  );
  return keys
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([key, value]) => {
      const change = asMap(value);
      const bytes = bytesJson(change.get("bs"));
      const delta = { action: getInteger(change, "at"), bytes: bytes || undefined, uint: getInteger(change, "ui") };
      return { key: toBase64(key), value: delta };
    });
}

/**
 * Returns the access list with its indices resolved: each counts from 1 in the list itself, 0 is the sender or this
 * application.
 */
function accessJson(txn: MsgpackMap): JsonObject[] {
  const access = listOf(txn.get("al")).map(asMap);
  const at = (map: MsgpackMap, key: string): MsgpackMap => access[Number(getInteger(map, key)) - 1] ?? new Map();
  const accountAt = (map: MsgpackMap) =>
    getInteger(map, "d") === 0n ? addressOf(txn.get("snd")) : addressOf(at(map, "d").get("d"));
  return access.map((resource) => {
    const [holding, local] = [getMap(resource, "h"), getMap(resource, "l")];
    if (resource.has("d")) return { address: addressOf(resource.get("d")) };
    if (resource.has("p")) return { "application-id": getInteger(resource, "p") };
    if (resource.has("s")) return { "asset-id": getInteger(resource, "s") };
    if (holding !== undefined)
      return { holding: { address: accountAt(holding), asset: getInteger(at(holding, "s"), "s") } };
    if (local !== undefined) return { local: { address: accountAt(local), app: getInteger(at(local, "p"), "p") } };
    return {
      box: boxJson(
        part(resource, "b"),
        access.map((item) => item.get("p") ?? 0),
      ),
    };
  });
}

/** @param apps the applications that a box's index refers to, from 1 */
function boxJson(box: MsgpackMap, apps: MsgpackValue[]): JsonObject {
  const app = apps[Number(getInteger(box, "i")) - 1] ?? 0;
  return { app: app as Json, name: box.has("n") ? bytesJson(box.get("n")) : null };
}

function schemaJson(schema: MsgpackMap = new Map()): JsonObject {
  return { "num-byte-slice": getInteger(schema, "nbs"), "num-uint": getInteger(schema, "nui") };
}
