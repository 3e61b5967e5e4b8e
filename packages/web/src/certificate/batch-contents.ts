import type { BatchItem, KeyEntry } from "@attestd/proof";
import { circumstancesOf, type Subject, subjectLine, subjectOf } from "@attestd/proof/description";
import { fromBase64, toHex } from "@attestd/proof/encoding";
import { groupedUnits, utcTime } from "@attestd/proof/text";
import { ascii } from "../printable.ts";
import { type CertificateLine, type CertificateRow, type CertificateTable, idLine, idRow, line, row } from "./lines.ts";
import type { Making } from "./making.ts";
import { allContents, type CertificateContents, type Own } from "./sections.ts";

const COLUMNS = [
  { label: "No.", share: 0.06 },
  { label: "Transaction", share: 0.4 },
  { label: "What", share: 0.29 },
  { label: "Block and time", share: 0.25 },
] as const;

/** An item, described. */
type Described = { item: BatchItem; subject: Subject };

/**
 * Returns the text of a batch's certificate. Pure, like `certificateContents`.
 * @param items all of one batch, in their order
 * @param shown the checks in an item's report
 * @param entry of the key that signed it, in a trusted history
 */
export function batchContents(
  items: readonly [BatchItem, ...BatchItem[]],
  { checks, hasEvidence }: Pick<Own, "checks" | "hasEvidence">,
  entry: KeyEntry,
  making: Making,
): CertificateContents {
  const { batch } = items[0];
  const described = items.map((item) => ({ item, subject: subjectOf(item) }));
  const failed = items.filter(({ statement }) => statement.outcome === "failed").length;
  const times = timesOf(items);
  const sentence = sentenceAbout(described, failed, times);
  const own: Own = {
    checks,
    hasEvidence,
    kind: "batch",
    lead: `${count(items.length)} transactions, recorded together`,
    statement: [...(failed === 0 ? [] : [[line(`${count(failed)} of them failed on their chain`)]]), [line(sentence)]],
    sentence,
    subject: summaryRows(described, failed, times),
    batch: [
      row("Batch", `${count(items.length)} items, recorded by their common root`),
      idRow("Root", toHex(fromBase64(batch.root))),
    ],
    isOfBatch: true,
    isIncludedOnly: items.some(({ statement }) => statement.level === "included"),
    source: [line("Find each transaction by its id in any explorer of its chain.")],
    table: tableOf(described),
  };
  return allContents(batch, own, entry, making);
}

/** Counts the items per chain: `600 on Base and 400 on Algorand`. */
function byChain(described: readonly Described[]): string {
  const chains = [...Map.groupBy(described, ({ subject }) => subject.place)];
  return chains.map(([place, of]) => `${count(of.length)} on ${place}`).join(" and ");
}

function sentenceAbout(described: readonly Described[], failed: number, { first, last }: Times): string {
  const when = first === last ? `at ${first}` : `between ${first} and ${last}`;
  const outcome = failed === 0 ? "None of them failed." : `${count(failed)} of them failed; the table names each.`;
  return ascii(
    `These ${count(described.length)} transactions went into blocks of their chains ${when}: ${byChain(described)}. ${outcome}`,
  );
}

function summaryRows(described: readonly Described[], failed: number, { first, last }: Times): CertificateRow[] {
  return [
    row("Transactions", `${count(described.length)}: ${byChain(described)}`),
    row(
      "Outcome",
      failed === 0 ? "None failed" : `${count(failed)} failed, ${count(described.length - failed)} did not`,
    ),
    row("First block", first),
    row("Last block", last),
  ];
}

type Times = ReturnType<typeof timesOf>;

/** Returns the times of the earliest and the latest block. */
function timesOf(items: readonly BatchItem[]): { first: string; last: string } {
  const times = items.map(({ statement }) => statement.block.time);
  return { first: utcTime(Math.min(...times)), last: utcTime(Math.max(...times)) };
}

function tableOf(described: readonly Described[]): CertificateTable {
  const rows = described.map(({ item, subject }): CertificateLine[][] => {
    const { outcome } = circumstancesOf(subject, item);
    const { height, time } = item.statement.block;
    return [
      [line(String(item.proof.index + 1))],
      [idLine(item.statement.txnId)],
      [line(subjectLine(subject, outcome))],
      [line(`${height} of ${subject.chain.label}`), line(utcTime(time))],
    ];
  });
  return { heading: "The transactions", columns: COLUMNS, rows };
}

function count(n: number): string {
  return groupedUnits(BigInt(n), 0);
}
