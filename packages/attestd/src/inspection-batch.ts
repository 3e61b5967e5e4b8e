import { bundleId, parseBundle, parseJson, parseNote, signedPart } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { fromBase64, toHex } from "@attestd/proof/encoding";
import { utcTime } from "@attestd/proof/text";
import { bundlesInBatch } from "@attestd/web/batch-file";
import { type Inspection, noteRows } from "./inspection-rows.ts";

/** Explains the answer of a batch by its head and how many items there are. @throws ProofError */
export function inspectBatch(bytes: Uint8Array): Inspection {
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
    remarks: ["`attestd export` has a row of each item."],
    value: { batch: head, items: bundles.length, bundleId: bundleId(head) },
  };
}
