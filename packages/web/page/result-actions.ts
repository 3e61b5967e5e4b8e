import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { bundleId, signedPart } from "@attestd/proof";
import { evidenceOf } from "./beside.ts";
import { busy, download } from "./dom.ts";
import type { Result, ResultActions } from "./result-view.ts";
import { bundleFileName, type Site } from "./site.ts";
import type { WholeBatch } from "./table-view.ts";

/** What the actions of a result need of the view that shows it. */
export type ShowsResult = Pick<ResultActions, "take" | "startOver"> & {
  /** Whether the file of a result is still what is shown. */
  isShown(result: Result): boolean;
  /** Changes the shown result, if it still is that file's. */
  change(of: Result, by: (shown: Result) => Result): void;
};

/** What a reader can do with a judged file. */
export function resultActions(result: Result, site: Site, view: ShowsResult): ResultActions {
  const { judged, bytes } = result;
  const { bundle } = judged;
  const file = bundle ? bundleFileName(bundleId(bundle), signedPart(bundle).attest.round) : "bundle.json";
  const name = file.replace(/\.json$/, "");
  const sayNoCertificates = () => view.change(result, (shown) => ({ ...shown, hasNoCertificates: true }));
  return {
    take: view.take,
    startOver: view.startOver,
    askLedger: (pressed) => void askLedger(result, pressed, site, view),
    saveCertificate: () =>
      import("./certificate.ts").then(
        ({ certificateOf }) => download(`${name}.pdf`, "application/pdf", certificateOf(judged, bytes, "pdf")),
        sayNoCertificates,
      ),
    printCertificate: () =>
      import("./certificate.ts").then(({ printCertificate }) => printCertificate(judged, bytes), sayNoCertificates),
    fetchEvidence: (pressed) => void fetchEvidence(result, pressed, view),
    saveEvidence: (evidence) => download(`${name}.evidence.json`, "application/json", evidence.slice()),
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
