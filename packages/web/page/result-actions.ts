import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { bundleId, signedPart } from "@attestd/proof";
import type { Judged } from "../src/verdict.ts";
import { evidenceOf } from "./beside.ts";
import { busy, download } from "./dom.ts";
import type { GivenFiles } from "./given-files.ts";
import { bundleFileName, type Site } from "./site.ts";
import type { WholeBatch } from "./table-view.ts";

export type Result = {
  judged: Judged;
  /** UTF-8 of the bundle. */
  bytes: Uint8Array;
  /** Whether a certificate's QR code named this bundle. */
  isNamed: boolean;
  /** Why the ledger could not be asked. */
  ledgerTrouble?: string | undefined;
  /** Why there is no evidence of it. */
  evidenceTrouble?: string | undefined;
  /** Whether what makes certificates could not be loaded. */
  hasNoCertificates?: boolean;
  /** Host that the ledger check sends the file to. */
  service: string;
};

/** What the actions of a result need of the view that shows it. */
type ShowsResult = {
  /** Takes a key list, or another file. */
  take(given: GivenFiles): void;
  startOver(): void;
  /** Whether the file of a result is still what is shown. */
  isShown(result: Result): boolean;
  /** Changes the shown result, if it still is that file's. */
  change(of: Result, by: (shown: Result) => Result): void;
};

export type ResultActions = ReturnType<typeof resultActions>;

/** What a reader can do with a judged file. */
export function resultActions(result: Result, site: Site, view: ShowsResult) {
  const { judged, bytes } = result;
  const { bundle } = judged;
  const file = bundle ? bundleFileName(bundleId(bundle), signedPart(bundle).attest.round) : "bundle.json";
  const name = file.replace(/\.json$/, "");
  const sayNoCertificates = () => view.change(result, (shown) => ({ ...shown, hasNoCertificates: true }));
  return {
    take: view.take,
    startOver: view.startOver,
    askLedger: (pressed: HTMLButtonElement) => void askLedger(result, pressed, site, view),
    saveCertificate: () =>
      import("./certificate.ts").then(
        ({ certificateOf }) => download(`${name}.pdf`, "application/pdf", certificateOf(judged, bytes, "pdf")),
        sayNoCertificates,
      ),
    printCertificate: () =>
      import("./certificate.ts").then(({ printCertificate }) => printCertificate(judged, bytes), sayNoCertificates),
    fetchEvidence: (pressed: HTMLButtonElement) => void fetchEvidence(result, pressed, view),
    saveEvidence: (evidence: Uint8Array) => download(`${name}.evidence.json`, "application/json", evidence.slice()),
    saveBundle: () => download(`${name}.json`, "application/json", bytes.slice()),
  };
}

/** @returns whether what makes certificates could be loaded */
export async function saveBatchCertificate(batch: WholeBatch): Promise<boolean> {
  const { batch: head } = batch.answer;
  const name = bundleFileName(bundleId(head), head.attest.round).replace(/\.json$/, ".pdf");
  const make = await import("./certificate.ts").then(
    ({ certificateOfBatch }) => certificateOfBatch,
    () => undefined,
  );
  if (make) download(name, "application/pdf", make(batch));
  return make !== undefined;
}

async function fetchEvidence(result: Result, pressed: HTMLButtonElement, view: ShowsResult): Promise<void> {
  const { bundle } = result.judged;
  if (bundle === undefined) return;
  busy(pressed, "Fetching…");
  const found = await evidenceOf(bundleId(bundle));
  if (typeof found === "string") view.change(result, (shown) => ({ ...shown, evidenceTrouble: found }));
  else if (view.isShown(result)) view.take({ files: [{ name: "", blob: found }], leftOut: false });
}

async function askLedger(result: Result, pressed: HTMLButtonElement, site: Site, view: ShowsResult): Promise<void> {
  busy(pressed, "Asking the ledger…");
  site.announce("Asking the ledger…");
  try {
    const report = await withChainOf(location.origin, result.bytes, result.judged.report);
    const judged = { ...result.judged, report, comparedBy: location.host };
    view.change(result, (shown) => ({ ...shown, judged, ledgerTrouble: undefined }));
  } catch (error) {
    if (!(error instanceof AttestError)) throw error;
    view.change(result, (shown) => ({ ...shown, ledgerTrouble: error.message }));
  }
}
