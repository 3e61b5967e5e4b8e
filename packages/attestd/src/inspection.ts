import {
  type Bundle,
  bundleId,
  isProofError,
  type KeyEntry,
  type KeyHistory,
  keyStatusOf,
  noteOf,
  type ProofError,
  parseBundle,
  parseJson,
  parseKeyHistory,
  parseNote,
  signedPart,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { circumstancesOf, outcomeWords, sentenceOf, subjectOf } from "@attestd/proof/description";
import { fileText, fromBase64 } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import { excerpt, utcTime } from "@attestd/proof/text";
import { type FileContents, readFileContents } from "@attestd/web/bundle-file";
import { hostOf } from "@attestd/web/printable";
import { EXIT, Failure } from "./failure.ts";
import { inspectPayment } from "./inspection-payment.ts";
import { inspectReceipt } from "./inspection-receipt.ts";
import { type Inspection, noteRows } from "./inspection-rows.ts";
import { spanOf } from "./key-text.ts";

/** A header's name may stand before its value, as in a log. */
const HEADER = /^(?:payment-(?:required|signature|response)|x-payment(?:-response)?):\s*/i;

/**
 * Explains the content of a file: a bundle or a certificate, a receipt, a key history, a payment header or a note.
 * @throws Failure `unreadable` for anything else, and for one whose form is wrong
 */
export async function inspectBytes(bytes: Uint8Array): Promise<Inspection> {
  try {
    const text = attempt("malformed", () => fileText(bytes))
      ?.trim()
      .replace(HEADER, "");
    const inText = text === undefined ? undefined : inspectText(text);
    return inText ?? (await inspectContents(await readFileContents(bytes), bytes));
  } catch (error) {
    if (isProofError(error, "json")) throw new Failure(EXIT.unreadable, notJson(error, bytes), UNKNOWN);
    if (isProofError(error, "format"))
      throw new Failure(EXIT.unreadable, `Its form is wrong: ${[error.pointer, error.message].join(" ").trim()}.`);
    throw error;
  }
}

/** What follows the error about a file that is of none of the known kinds. */
export const UNKNOWN = [
  "inspect explains bundles, batches, certificates, receipts, key histories, evidence, checkpoints, payment headers and notes.",
];

function notJson({ fault, line, message }: ProofError, bytes: Uint8Array): string {
  if (bytes.length === 0) return "The file is empty.";
  if (fault === "encoding") return `${message[0]?.toUpperCase()}${message.slice(1)}.`;
  return fault === "syntax" ? `Nothing that is known here, and no JSON (line ${line}).` : `No good JSON: ${message}.`;
}

/** What is not JSON: a note, a compact JWS, or a payment header's base64. */
function inspectText(text: string): Inspection | undefined {
  if (text.startsWith("attestd/")) return inspectNote(text);
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return inspectReceipt(text);
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return undefined;
  const decoded = attempt("malformed", () => fromBase64(text));
  const payment = decoded && inspectPayment(parseJson(decoded));
  if (payment) return payment;
  throw new Failure(EXIT.unreadable, "Base64 of something that is not known here.", UNKNOWN);
}

async function inspectContents(contents: FileContents, bytes: Uint8Array): Promise<Inspection> {
  switch (contents.kind) {
    case "bundle":
    case "batch": {
      const inspect = contents.kind === "bundle" ? inspectBundle : (await import("./inspection-batch.ts")).inspectBatch;
      const inspection = inspect(contents.bytes);
      if (contents.from === "json") return inspection;
      const title = `Certificate (${contents.from.toUpperCase()}) of: ${inspection.title}`;
      return { ...inspection, kind: "certificate", title, value: { format: contents.from, ...inspection.value } };
    }
    case "evidence":
      return (await import("./inspection-evidence.ts")).inspectEvidence(contents.bytes);
    case "checkpoint":
      return (await import("./inspection-evidence.ts")).inspectCheckpoint(contents.value);
    case "keys":
      return inspectKeys(parseKeyHistory(contents.value));
    case "receipt":
      return inspectPayment(parseJson(bytes)) ?? inspectReceipt(contents.jws);
    case "broken":
      throw new Failure(EXIT.unreadable, contents.why);
    case "other": {
      const payment = inspectPayment(parseJson(bytes));
      if (payment) return payment;
      throw new Failure(EXIT.unreadable, "JSON of something that is not known here.", UNKNOWN);
    }
  }
}

const TITLES: Record<VerifyReport["type"], string> = {
  "transaction-attestation": "Attestation of a transaction",
  "block-attestation": "Attestation of a block",
  "tx-inclusion": "Proof that a transaction is in a block",
  "batch-item": "Attestation of a transaction, one of a batch",
};

/** @throws ProofError */
function inspectBundle(bytes: Uint8Array): Inspection {
  const bundle = parseBundle(bytes);
  // The report is used for what it reads, and for no result.
  const report = verify(bytes);
  const subject = subjectOf(bundle);
  const circumstances = circumstancesOf(subject, report);
  const { transaction, chain, batch } = subject;
  const { attest, attestor } = signedPart(bundle);
  const { block } = circumstances;
  const note = noteOf(bundle);
  const rows: Inspection["rows"] = [["chain", chain.label]];
  if (transaction) rows.push(["transaction", transaction.id]);
  if (block) {
    rows.push(["block", `${block.height}`], ["block hash", block.hash]);
    if (block.time !== undefined) rows.push(["block time", utcTime(block.time)]);
  }
  if (transaction) rows.push(["outcome", outcomeWords(subject, circumstances.outcome)]);
  for (const { label, value } of transaction?.fields ?? [])
    rows.push([`  ${label.toLowerCase()}`, excerpt(value, 200)]);
  rows.push([
    "fingerprint",
    `${subject.fingerprint} (SHA-256 of ${subject.block ? "the block's header" : "the transaction"})`,
  ]);
  if ("inclusion" in bundle) rows.push(["proof", inclusionWords(bundle.inclusion)]);
  if (batch) rows.push(["batch", `item ${batch.place} of ${batch.size}, under the root ${batch.root}`]);
  rows.push(["recorded", `in round ${attest.round}, by the transaction ${attest.txnId}`]);
  rows.push(...(note ? noteRows(note) : [["note", excerpt(attest.note, 200)] as [string, string]]));
  rows.push(["signed by", `key ${report.attestor.kid}`], ["account", attestor.algorandAddress]);
  rows.push(["bundle id", bundleId(bundle)]);
  return {
    kind: report.type,
    title: TITLES[report.type],
    rows,
    remarks: [`It states: ${sentenceOf(subject, circumstances)}`],
    value: { bundle, kid: report.attestor.kid, bundleId: bundleId(bundle), note: note ?? null, ...circumstances },
  };
}

function inclusionWords(inclusion: Extract<Bundle, { inclusion: unknown }>["inclusion"]): string {
  if (inclusion.kind === "mpt") {
    const receipt = inclusion.receipt ? `, and ${inclusion.receipt.nodes.length} of its receipt` : ", no receipt";
    return `place ${inclusion.index} in the block; ${inclusion.nodes.length} trie nodes${receipt}`;
  }
  const light = inclusion.lightHeader ? "; leads on to a state proof's commitment" : "";
  return `place ${inclusion.index} in the block; ${inclusion.siblings.length} siblings in the tree ${inclusion.tree}${light}`;
}

/** @throws ProofError `format` */
function inspectNote(text: string): Inspection {
  const note = parseNote(text);
  const kind = "k" in note ? "key" : "t" in note ? "transaction" : "r" in note ? "batch" : "block";
  const title = `Note of a ${kind}`;
  return { kind: "note", title, rows: noteRows(note), remarks: [], value: { note } };
}

function inspectKeys(history: KeyHistory): Inspection {
  const { ledger, keys } = history;
  const host = hostOf(keys.at(-1)?.origin ?? "");
  const rowsOf = (key: KeyEntry): Inspection["rows"] => [
    [`${keyStatusOf(key)} key`, key.kid],
    ["  valid", spanOf(key)],
    ["  origin", key.origin],
  ];
  return {
    kind: "key-history",
    title: `Key history of ${host}`,
    rows: [["ledger", ledger], ["account", keys[0]?.algorandAddress ?? ""], ...keys.toReversed().flatMap(rowsOf)],
    remarks: [
      "Each key but the first is endorsed by the one before, and none is missing between.",
      "Whether it is complete, only the ledger or an earlier copy shows: attestd keys history.",
    ],
    value: { history },
  };
}
