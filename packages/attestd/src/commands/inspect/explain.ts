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
import { fileText, fromBase64, toHex } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import { excerpt, utcTime } from "@attestd/proof/text";
import { bundlesInBatch } from "@attestd/web/batch-file";
import { type FileContents, readFileContents } from "@attestd/web/bundle-file";
import { hostOf } from "@attestd/web/printable";
import { spanOf } from "../../trust/keys.ts";
import { inspectPayment } from "./payment.ts";
import { type Inspection, inspectReceipt, noteRows, type Unexplained } from "./rows.ts";

/** The name of a header may precede its value, as in a log. */
const HEADER = /^(?:payment-(?:required|signature|response)|x-payment(?:-response)?):\s*/i;

/** Explains the content of a file: a bundle or a certificate, a receipt, a key history, a payment header, a note, and so on. */
export async function explain(bytes: Uint8Array): Promise<Inspection | Unexplained> {
  try {
    const text = attempt("malformed", () => fileText(bytes))
      ?.trim()
      .replace(HEADER, "");
    const inText = text === undefined ? undefined : inspectText(text);
    return inText ?? (await inspectContents(await readFileContents(bytes), bytes));
  } catch (error) {
    if (isProofError(error, "json")) return unknown(notJson(error, bytes));
    if (!isProofError(error, "format")) throw error;
    return { kind: "broken", why: `Its form is wrong: ${[error.pointer, error.message].join(" ").trim()}.` };
  }
}

function unknown(why: string): Unexplained {
  return { kind: "unknown", why };
}

function notJson({ fault, line, message }: ProofError, bytes: Uint8Array): string {
  if (bytes.length === 0) return "The file is empty.";
  if (fault === "encoding") return `${message[0]?.toUpperCase()}${message.slice(1)}.`;
  return fault === "syntax"
    ? `Not JSON (line ${line}), and nothing else that inspect knows.`
    : `Not valid JSON: ${message}.`;
}

/** Explains text that is not JSON: a note, a compact JWS, or a payment header in base64. @returns undefined for other text */
function inspectText(text: string): Inspection | Unexplained | undefined {
  if (text.startsWith("attestd/")) return inspectNote(text);
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return inspectReceipt(text);
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return undefined;
  const decoded = attempt("malformed", () => fromBase64(text));
  const payment = decoded && inspectPayment(parseJson(decoded));
  return payment ?? unknown("Base64, but of no kind that inspect knows.");
}

async function inspectContents(contents: FileContents, bytes: Uint8Array): Promise<Inspection | Unexplained> {
  switch (contents.kind) {
    case "bundle":
    case "batch": {
      const inspection = (contents.kind === "bundle" ? inspectBundle : inspectBatch)(contents.bytes);
      if (contents.from === "json") return inspection;
      const title = `Certificate (${contents.from.toUpperCase()}) of: ${inspection.title}`;
      return { ...inspection, kind: "certificate", title, value: { format: contents.from, ...inspection.value } };
    }
    case "evidence":
      return (await import("./evidence.ts")).inspectEvidence(contents.bytes);
    case "checkpoint":
      return (await import("./evidence.ts")).inspectCheckpoint(contents.value);
    case "keys":
      return inspectKeys(parseKeyHistory(contents.value));
    case "receipt":
      return inspectPayment(parseJson(bytes)) ?? inspectReceipt(contents.jws);
    case "broken":
      return contents;
    case "other":
      return inspectPayment(parseJson(bytes)) ?? unknown("JSON, but of no kind that inspect knows.");
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
  // The report is used for what it decodes, not for its verdict.
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
      "Each key but the first is endorsed by the key before it, and no key is missing between them.",
      "Only the ledger or an earlier copy shows whether it is complete: attestd keys history.",
    ],
    value: { history },
  };
}

/** Explains the answer of a batch: its head, and the number of its items. @throws ProofError */
function inspectBatch(bytes: Uint8Array): Inspection {
  const bundles = bundlesInBatch(bytes).map((item) => parseBundle(parseJson(item.bytes)));
  const head = signedPart(bundles[0] as (typeof bundles)[number]);
  const { attest, attestor } = head;
  const chains = Map.groupBy(bundles, (bundle) => subjectOf(bundle).chain.label);
  const statements = bundles.flatMap((bundle) => ("statement" in bundle ? [bundle.statement] : []));
  const times = statements.map(({ block }) => block.time).toSorted((a, b) => a - b);
  const failed = statements.filter(({ outcome }) => outcome === "failed").length;
  return {
    kind: "batch",
    title: "Attestation of a batch of transactions",
    rows: [
      ["transactions", [...chains].map(([label, of]) => `${of.length} on ${label}`).join(", ")],
      ["failed", String(failed)],
      ["first block", utcTime(times[0] ?? 0)],
      ["last block", utcTime(times.at(-1) ?? 0)],
      ...("root" in head ? [["root", toHex(fromBase64(head.root))] satisfies [string, string]] : []),
      ["recorded", `in round ${attest.round}, by the transaction ${attest.txnId}`],
      ...noteRows(parseNote(attest.note)),
      ["account", attestor.algorandAddress],
      ["bundle id", bundleId(head)],
    ],
    remarks: ["`attestd export` writes a row for each item."],
    value: { batch: head, items: bundles.length, bundleId: bundleId(head) },
  };
}
