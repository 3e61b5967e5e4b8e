import { bundleId, signedPart } from "@attestd/proof";
import { fromBase64Url, toHex } from "@attestd/proof/encoding";
import { MAX_BATCH_FILE_BYTES } from "../src/bundle-file.ts";
import type { Judgement } from "../src/judge.ts";
import type { JudgedReceipt } from "../src/receipt-verdict.ts";
import { historyAge, type KeyList, writtenAt } from "../src/trust-basis.ts";
import type { Judged } from "../src/verdict.ts";
import { UNREADABLE } from "../src/words.ts";
import type { GivenFile } from "./given-files.ts";
import type { Site } from "./site.ts";

/** What a file is; `bytes` is the bundle, UTF-8. The bundles of a batch are still to be checked. */
export type Checked =
  | { kind: "judged"; judged: Judged; bytes: Uint8Array }
  | { kind: "receipt"; receipt: JudgedReceipt; blob: Blob }
  | Exclude<Judgement, { kind: "judged" | "receipt" }>;

/**
 * Checks one file, offline.
 * @param keys to judge by; those of the page, unless given
 * @returns undefined when it was cancelled
 */
export async function checkFile(
  site: Site,
  { blob, within }: Omit<GivenFile, "name">,
  keys?: KeyList,
): Promise<Checked | undefined> {
  if (blob.size > MAX_BATCH_FILE_BYTES) return { kind: "unreadable", why: UNREADABLE.tooLarge(blob.size) };
  try {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    await site.keysReady;
    const trusted = keys ?? site.keys.current;
    const age = trusted ? historyAge(trusted.basis) : 0;
    const stake = [...site.stake];
    const options = { history: trusted?.history, historyAge: age, stake };
    const first = await site.judging.judge(bytes, { ...options, evidence: within?.evidence });
    const evidence = site.evidence.size > 0 ? site.evidence.get(evidenceKey(first)) : undefined;
    // Its bundle had to be read before its evidence was known.
    const judgement = evidence ? await site.judging.judge(bytes, { ...options, evidence }) : first;
    if (judgement?.kind === "receipt")
      return { kind: "receipt", receipt: { findings: judgement.findings, keys: trusted }, blob };
    if (judgement?.kind !== "judged") return judgement;
    const { kind, bytes: bundleBytes, certificate = within?.certificate, ...found } = judgement;
    return { kind, judged: { ...found, certificate, keys: trusted, stake }, bytes: bundleBytes };
  } catch {
    return { kind: "unreadable", why: UNREADABLE.gone };
  }
}

/** The SHA-256 of the bundle, as evidence names it, lower-case hex; "" where there is none. */
function evidenceKey(judgement: Judgement | undefined): string {
  if (judgement?.kind !== "judged" || judgement.bundle === undefined) return "";
  return toHex(fromBase64Url(bundleId(signedPart(judgement.bundle))));
}

/** The basis of a key list that the reader gave. Pasted text has neither a name nor a date. */
export function basisOf(file: Blob): KeyList["basis"] {
  if (!(file instanceof File)) return { basis: "file", name: "what was pasted" };
  return { basis: "file", name: file.name, since: writtenAt(file.lastModified) };
}
