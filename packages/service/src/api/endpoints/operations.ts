import { type BundleType, type KeyHistory, MIN_BATCH_ITEMS } from "@attestd/proof";
import { z } from "zod";
import type { Bundles, FoundBundle } from "../../calls/bundles.ts";
import type { KeptJournal } from "../../calls/journal-failures.ts";
import { NAME, VERSION } from "../../catalogue/about.ts";
import { CATALOGUE, type EndpointId } from "../../catalogue/catalogue.ts";
import type { DocumentId } from "../../catalogue/documents.ts";
import { invalid, parseLongList, validate } from "../../catalogue/input.ts";
import { LongList } from "../../catalogue/long-list.ts";
import type { Status } from "../../catalogue/schemas/reports.ts";
import type { SourceChains } from "../../chains/chain.ts";
import { revisionOf } from "../../config/revision.ts";
import { SCHEMA_VERSION } from "../../journal/open.ts";
import type { TableWatch } from "../../ledger/checkpoints/table-watch.ts";
import { evidenceFileOf } from "../../ledger/evidence/evidence-file.ts";
import { hasCode } from "../../lib/errors.ts";
import { PROBLEMS, Problem, type ProblemCode, problemFor } from "../../lib/problems.ts";
import { ANY_SALE, type Sale } from "../../payment/sale.ts";
import { blockCapabilities } from "../../subjects/block-capabilities.ts";
import {
  attestSubject,
  batchSubject,
  blockSubject,
  inclusionSubject,
  longListSale,
  type Subject,
  saleOf,
} from "../../subjects/subject.ts";
import type { Verdict, Verifier } from "../../verification/verifier.ts";
import { jwks } from "../documents/well-known.ts";
import type { createNetworks } from "./networks.ts";
import type { Readiness } from "./readiness.ts";

/** The operation of an endpoint, the same for every transport. */
export type Operation = PaidOperation | FreeOperation;
export type FreeOperation = VerifyOperation | ReadOperation | DocumentOperation;

/** The transport gives the subject and the payment to `admit`. */
export type PaidOperation = {
  kind: "paid";
  /**
   * Checks a parsed body against the endpoint's schema.
   * @returns its subject, normalised
   * @throws Problem `body_invalid`; `body_not_json` for a long list that is not valid JSON
   */
  subject(body: unknown): Subject;
  /** Returns what determines the price of a parsed body; a long list is not parsed. @throws Problem `body_invalid` */
  sale(body: unknown): Sale;
  /** What is priced for a request without a body. */
  probe: Sale;
};

export type VerifyOperation = {
  kind: "verify";
  /**
   * Verifies a bundle.
   * @param bundle its JSON, UTF-8, at most the endpoint's `maxBytes`
   * @param options.chain whether it is also compared with the chains
   * @throws Problem `over_capacity`, `providers_unavailable`, `providers_conflict`
   */
  verify(bundle: Uint8Array, options: { chain: boolean }): Promise<Verdict>;
};

/** An operation whose result is looked up at each call. */
export type ReadOperation = {
  kind: "read";
  /**
   * Looks something up.
   * @param params the path's parameters, valid by the endpoint's schema
   * @param query the query's, likewise
   * @throws Problem `not_found`
   */
  read(params: Readonly<Record<string, string>>, query: Readonly<Record<string, string>>): Found | Promise<Found>;
};

/** A representation, or a bundle whose text is read only if needed. */
type Found = Representation | FoundBundle;

/** Returns the same text until its source changes. */
export type DocumentOperation = { kind: "document"; text(): string };

/** One of the endpoint's replies, with the catalogue's media type for it. `retryAfter`: seconds. */
export type Representation = {
  status: number;
  text: string | Uint8Array;
  retryAfter?: number;
  /** Whether a later answer may differ, whatever the endpoint says about its answers. */
  mayChange?: boolean;
};

export type Operations = Readonly<Record<string, Operation>>;

export type OperationsOptions = {
  verifier: Verifier;
  /** The chains whose transactions and blocks are attested. */
  sources: SourceChains;
  /** The limit of items in a batch. */
  maxBatch: number;
  /** Delivered bundles' evidence. */
  kept: Pick<KeptJournal, "evidence" | "stateProof">;
  bundles: Pick<Bundles, "find">;
  /** The checkpoint table. */
  table: Pick<TableWatch, "current" | "rest">;
  readiness: () => Readiness;
  status: () => z.infer<typeof Status>;
  /** Returns the current key history; the same object until it changes. */
  keyHistory: () => KeyHistory;
  networks: ReturnType<typeof createNetworks>;
  /** By the name of their endpoint. */
  documents: Record<DocumentId, DocumentOperation>;
};

/** When to ask again for incomplete evidence, in seconds: on MainNet a state proof comes every 12 minutes. */
const EVIDENCE_RETRY_S = 15;
const NO_BUNDLE = "No delivered bundle has this id.";
const CHAIN_UNREAD = { detail: "The chain cannot be read now. You can verify the bundle offline.", retryAfter: 10 };

export function createOperations(options: OperationsOptions): Record<EndpointId, Operation> {
  const { verifier, sources, maxBatch, kept, bundles, table: checkpoints } = options;
  const revision = revisionOf();
  const version = { name: NAME, version: VERSION, ...(revision && { revision }), schema: SCHEMA_VERSION };
  const capabilities = blockCapabilities(sources);
  return {
    attest: selling(CATALOGUE.attest.body.schema, (body) => attestSubject(body, sources)),
    attestBlock: selling(CATALOGUE.attestBlock.body.schema, (body) => blockSubject(body, sources)),
    proveInclusion: selling(CATALOGUE.proveInclusion.body.schema, (body) => inclusionSubject(body, sources)),
    attestBatch: sellingBatches(sources, maxBatch),
    verify: verifying(verifier, "transaction-attestation", "batch-item"),
    verifyBlock: verifying(verifier, "block-attestation"),
    verifyInclusion: verifying(verifier, "tx-inclusion"),
    health: reading(() => found({ status: "pass" })),
    ready: reading(() => {
      const { ready, reasons } = options.readiness();
      return { status: ready ? 200 : 503, text: JSON.stringify({ status: ready ? "pass" : "fail", reasons }) };
    }),
    status: reading(() => found(options.status())),
    version: reading(() => found(version)),
    blockCapabilities: derived(() => capabilities, JSON.stringify),
    bundle: reading(async ({ id = "" }) => present(await bundles.find(id), NO_BUNDLE)),
    evidence: reading(async ({ id = "" }, { detached, table }) => {
      const evidenceFile = present(await evidenceFileOf(kept, id, { isDetached: detached !== undefined }), NO_BUNDLE);
      if (!evidenceFile.isWhole) {
        const pending = JSON.stringify({ status: "pending", round: evidenceFile.round });
        return { status: 202, text: pending, retryAfter: EVIDENCE_RETRY_S };
      }
      const evidence =
        table === undefined ? evidenceFile.evidence : await checkpoints.rest(evidenceFile.evidence, Number(table));
      const absent = `The first ${table} checkpoints of this service's table do not contain this evidence's.`;
      return { ...found(present(evidence, absent)), mayChange: evidenceFile.mayGrow };
    }),
    stateProof: reading(async ({ sha256 = "" }) => {
      const text = present(await kept.stateProof(sha256), "No state proof with this hash is kept here.");
      return { status: 200, text };
    }),
    network: reading(async ({ network = "" }) => found(await options.networks.parameters(network))),
    balance: reading(async ({ network = "", address = "" }) => found(await options.networks.balance(network, address))),
    keys: derived(options.keyHistory, JSON.stringify),
    jwks: derived(options.keyHistory, (history) => JSON.stringify(jwks(history))),
    checkpoints: reading(async () => {
      return found(present(await checkpoints.current(), "This service has no table of checkpoints."));
    }),
    problem: reading(({ code }) => {
      const [status, title, advice] = PROBLEMS[code as ProblemCode];
      return found({ code, status, title, advice });
    }),
    ...options.documents,
  };
}

function selling<T>(schema: z.ZodType<T>, subjectOf: (body: T) => Subject, probe = ANY_SALE): PaidOperation {
  const subject = reader(schema, subjectOf);
  return { kind: "paid", probe, subject, sale: (body) => saleOf(subject(body)) };
}

function sellingBatches(sources: SourceChains, maxBatch: number): PaidOperation {
  const { schema } = CATALOGUE.attestBatch.body;
  const read = selling(schema, (body) => batchSubject(body, sources, maxBatch), {
    ...ANY_SALE,
    items: MIN_BATCH_ITEMS,
  });
  const unread = schema.extend({ items: z.instanceof(LongList) });
  const price = reader(unread, ({ items }) => longListSale(items, sources, maxBatch));
  return {
    ...read,
    subject: (body) => read.subject(hasLongList(body) ? { ...body, items: parseLongList(body.items) } : body),
    sale: (body) => (hasLongList(body) ? price(body) : read.sale(body)),
  };
}

function hasLongList(body: unknown): body is { items: LongList } {
  return typeof body === "object" && body !== null && "items" in body && body.items instanceof LongList;
}

/** Makes a function that reads something from a body that fits a schema. It throws Problem `body_invalid`. */
function reader<T, R>(schema: z.ZodType<T>, read: (body: T) => R): (body: unknown) => R {
  return (value) => {
    const body = validate(schema, value);
    try {
      return read(body);
    } catch (error) {
      if (!hasCode(error, "request_unfit")) throw error;
      const { member, more = [] } = error.details;
      const faults = [{ member, message: error.message }, ...more];
      throw invalid(...faults.map(({ member, message }) => ({ pointer: `/${member}`, detail: message })));
    }
  };
}

function verifying(verifier: Verifier, ...types: BundleType[]): VerifyOperation {
  const verify: VerifyOperation["verify"] = (bundle, options) =>
    verifier.verify(bundle, types, options).catch((error: unknown) => {
      throw problemFor(error, CHAIN_UNREAD) ?? error;
    });
  return { kind: "verify", verify };
}

function reading(read: ReadOperation["read"]): ReadOperation {
  return { kind: "read", read };
}

function derived<T extends object>(source: () => T, textOf: (value: T) => string): DocumentOperation {
  return { kind: "document", text: remade(source, textOf) };
}

/** Makes something again only when its source has changed. */
export function remade<S, T>(source: () => S, make: (value: S) => T): () => T {
  let last: { value: S; made: T } | undefined;
  return () => {
    const value = source();
    if (last?.value !== value) last = { value, made: make(value) };
    return last.made;
  };
}

/** @throws Problem `not_found` with the detail if the value is undefined */
function present<T>(value: T | undefined, detail: string): T {
  if (value === undefined) throw new Problem("not_found", detail);
  return value;
}

function found(value: unknown): Representation {
  return { status: 200, text: JSON.stringify(value) };
}
