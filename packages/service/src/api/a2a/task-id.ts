import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { JsonObject } from "@attestd/proof/json";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { LongList } from "../../catalogue/long-list.ts";
import type { Sale } from "../../payment/sale.ts";
import type { Subject, SubjectOf } from "../../subjects/subject.ts";
import type { PaidOperation } from "../endpoints/operations.ts";

type Single = Exclude<Subject, SubjectOf<"batch">>;
/** The batch part of a task's id, which has no room for the items (`requestedHash`). */
type BatchTask = { hash: string; sale: Sale };

/** The contents of an unpaid task. */
export type UnpaidTask = { skill: string } & (
  | { subject: Single; batch?: undefined }
  | { subject?: undefined; batch: BatchTask }
);

/** Reads the subject of a paid skill. @throws Problem `body_invalid`, `body_not_json` */
export function taskFor(skill: string, { endpoint, operation }: PaidSkill, args: JsonObject): UnpaidTask {
  if (!endpoint.isBatch) return { skill, subject: operation.subject(args) as Single };
  const sale = operation.sale(args);
  return { skill, batch: { hash: requestedHash(args), sale } };
}

type PaidSkill = { endpoint: Endpoint; operation: PaidOperation };

/** Hashes a batch's ids, as spelled, and its required outcome. @param args checked */
export function requestedHash({ items, require }: JsonObject): string {
  const list: unknown = items;
  const txids = list instanceof LongList ? list.txids : (list as { txid: string }[]).map(({ txid }) => txid);
  return hash("sha256", JSON.stringify([txids, require]));
}

/**
 * Ids of tasks: `<JSON, base64url>.<nonce>.<MAC>`, with `.<context, base64url>` before the MAC if the caller named a
 * context. Replicas can read one another's ids; nobody else can make one. The nonce makes the ids of two purchases of
 * one subject different.
 */
export type TaskIds = ReturnType<typeof createTaskIds>;

const NONCE_BYTES = 12;
const MAC_BYTES = 16;

/** @param secret 32 bytes that only the replicas have; ids do not reveal it (HKDF, RFC 5869) */
export function createTaskIds(secret: Uint8Array) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "attestd/a2a-task/v1", 32));
  const mac = (text: string) =>
    createHmac("sha256", key).update(text).digest().subarray(0, MAC_BYTES).toString("base64url");
  return {
    /** @param context the caller's own, which the task's answers repeat */
    issue(task: UnpaidTask, context?: string): string {
      const parts = [toBase64Url(JSON.stringify(task)), randomBytes(NONCE_BYTES).toString("base64url")];
      if (context) parts.push(toBase64Url(context));
      const text = parts.join(".");
      return `${text}.${mac(text)}`;
    },
    /** @returns undefined when the id was not issued under this key */
    read(id: string): UnpaidTask | undefined {
      const end = id.lastIndexOf(".");
      const text = id.slice(0, Math.max(end, 0));
      // Comparing texts, not bytes, leaves an id only one spelling.
      const [stated, right] = [Buffer.from(id.slice(end + 1)), Buffer.from(mac(text))];
      if (stated.length !== right.length || !timingSafeEqual(stated, right)) return undefined;
      // The MAC is right, so `issue` wrote the content.
      const [content = ""] = text.split(".", 1);
      return JSON.parse(Buffer.from(content, "base64url").toString()) as UnpaidTask;
    },
  };
}

/**
 * Returns a task's context: the caller's own, or else the task's nonce.
 * @param id issued by this service, under any key
 */
export function contextOf(id: string): string {
  const [, nonce = id, ...more] = id.split(".");
  const [context] = more.length > 1 ? more : [];
  return context === undefined ? nonce : Buffer.from(context, "base64url").toString();
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
