import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { bundleId, type KeyHistory, signedPart } from "@attestd/proof";
import { rowOf, sortedRows, unreadableRow } from "../src/file-rows.ts";
import { isBundleOf, type Pointer } from "../src/pointer.ts";
import { receiptRow } from "../src/receipt-verdict.ts";
import { givenBeside, type KeyList } from "../src/trust-basis.ts";
import { UNREADABLE } from "../src/words.ts";
import { basisOf, type Checked, checkFile } from "./check-file.ts";
import { busy, download } from "./dom.ts";
import { type GivenFile, type GivenFiles, withBundlesOfBatches } from "./given-files.ts";
import type { Result, ResultActions } from "./result-view.ts";
import { bundleFileName, fetchBlob, type Site } from "./site.ts";
import type { Row, Table } from "./table-view.ts";
import { LOOKING, type State, showProgress, verifyView } from "./verify-views.ts";

const READING_SHOWN_AFTER_MS = 300;
/** The most bytes that are read at once of many files. */
const MAX_TOTAL_BYTES = 256 * 2 ** 20;

/** The most bytes of evidence, and the most checkpoints, that are kept; the last ones are. */
const MAX_EVIDENCE_KEPT = 64 * 2 ** 20;
const MAX_STAKE = 64;

/** What says nothing by itself, and counts for the other files. */
type Beside = { kind: "keys" | "evidence" | "stake" };

/** What was taken: key lists alone, or files; undefined when it was cancelled. */
type Taken = "keys" | "files" | undefined;

/** The view that checks files. */
export function createVerifyPage(site: Site) {
  let state: State = { name: "empty" };
  /** Counts the files checked and pointers followed: the result of an earlier one is not shown. */
  let turn = 0;
  /** Counts presses of Cancel: a file given before one is not judged any more. */
  let cancels = 0;
  /** Resolves at the next of them. */
  let cancelled = Promise.withResolvers<undefined>();
  /** How many of the files that are being read have been checked. */
  let done = 0;
  /** Resolves when every file given so far has been checked. */
  let allChecked: Promise<Taken> = Promise.resolve(undefined);

  return {
    /** Shows the last verdict, or asks for a file. */
    open: render,
    take,
    follow,
  };

  function enter(next: State, focus = true): void {
    state = next;
    render(focus);
  }

  function render(focus: boolean): void {
    const actions = {
      take: (given: GivenFiles) => void take(given),
      showExample: () => void showExample(),
      startOver: () => enter({ name: "empty" }),
      cancel,
      openRow: (table: Table, row: GivenFile) => void inTurn(() => takeOne(row, { table })),
      backTo: (table: Table) => enter({ name: "table", table }),
      ofResult: resultActions,
    };
    site.show(verifyView(state, site, actions), focus && state.name !== "reading");
  }

  /** Checks what was dropped, chosen or pasted, in order; a key list counts for the files after it, and beside it. */
  async function take(given: GivenFiles): Promise<void> {
    const { files, leftOut } = await withBundlesOfBatches(given);
    const [only, ...others] = files;
    if (only === undefined) return;
    const taken = inTurn(() => (others.length === 0 ? takeOne(only) : takeMany(files, leftOut)));
    const what = await taken;
    if (what === "keys" && taken === allChecked && state.name === "empty") location.hash = "#keys";
  }

  /** Each is judged by the key lists given before it. */
  function inTurn(work: () => Promise<Taken>): Promise<Taken> {
    const cancelsBefore = cancels;
    const taken = allChecked.then(() => (cancels === cancelsBefore ? work() : undefined));
    allChecked = taken;
    return taken;
  }

  /** @param with.keys to judge by; those of the page, unless given */
  async function takeOne(
    { blob }: Pick<GivenFile, "blob">,
    { keys, table, pointer = pointerNow() }: { keys?: KeyList; table?: Table; pointer?: Pointer | undefined } = {},
  ): Promise<Taken> {
    const mine = ++turn;
    const checked = await whileReading(mine, () => check(blob, keys));
    if (checked?.kind === "keys") {
      useKeys(checked.history, blob);
      return afterKeys(mine);
    }
    if (checked?.kind === "evidence" || checked?.kind === "stake") {
      useEvidence(checked, blob);
      await afterKeys(mine);
      return "files";
    }
    if (checked && mine === turn) enter(stateOf(checked, pointer, table));
    return "files";
  }

  /** @returns undefined when it was cancelled */
  function check(file: Blob, keys?: KeyList): Promise<Checked | undefined> {
    return Promise.race([checkFile(site, file, keys), cancelled.promise]);
  }

  function pointerNow(): Pointer | undefined {
    return state.name === "empty" ? state.pointer : undefined;
  }

  /** Shows after a moment that files are being read. @returns undefined when it was cancelled */
  async function whileReading<T>(mine: number, work: () => Promise<T>, total = 1): Promise<T | undefined> {
    const cancelsBefore = cancels;
    const slow = setTimeout(() => {
      if (mine === turn) enter({ name: "reading", done, total });
    }, READING_SHOWN_AFTER_MS);
    const result = await work();
    clearTimeout(slow);
    return cancels === cancelsBefore ? result : undefined;
  }

  function stateOf(checked: Exclude<Checked, Beside>, pointer: Pointer | undefined, table?: Table): State {
    if (checked.kind === "receipt") return { name: "receipt", receipt: checked.receipt, blob: checked.blob, table };
    if (checked.kind === "unreadable") return { name: "unreadable", why: checked.why, table };
    const { judged, bytes } = checked;
    if (pointer !== undefined && !(judged.bundle && isBundleOf(pointer, judged.bundle)))
      return { name: "unreadable", why: UNREADABLE.otherBundle };
    const result = { judged, bytes, isNamed: pointer !== undefined, service: location.host };
    return { name: "judged", result, table };
  }

  /** Judges what is shown again, by the key list that was given. */
  async function afterKeys(mine: number): Promise<Taken> {
    if (state.name === "judged") return takeOne({ blob: new Blob([state.result.bytes.slice()]) });
    if (state.name === "receipt") return takeOne(state);
    if (state.name === "table") return takeMany(state.table.rows, state.table.leftOut);
    if (mine === turn) enter({ name: "empty", hasEvidence: site.evidence.size + site.stake.length > 0 });
    return "keys";
  }

  /** Judges by a key list from now on. */
  function useKeys(history: KeyHistory, file: Blob): void {
    const current = givenBeside({ history, basis: basisOf(file) }, site.keys.served);
    site.keys.current = current;
    site.announce(
      current === site.keys.served ? "This site's own key list continues that one, and is used." : "Key list added.",
    );
  }

  /** Evidence and checkpoints count for every file from now on, in place of earlier ones of the same bundle or name. */
  function useEvidence(checked: Extract<Checked, { kind: "evidence" | "stake" }>, file: Blob): void {
    if (checked.kind === "stake") {
      const { name } = basisOf(file).name === "" ? { name: "a file" } : basisOf(file);
      site.stake.push({ name, ...checked.trust });
      site.stake.splice(0, site.stake.length - MAX_STAKE);
      site.announce("Checkpoint added.");
      return;
    }
    site.evidence.delete(checked.of);
    site.evidence.set(checked.of, checked.bytes);
    let bytes = 0;
    for (const [of, one] of [...site.evidence].reverse()) {
      bytes += one.length;
      if (bytes > MAX_EVIDENCE_KEPT) site.evidence.delete(of);
    }
    site.announce("Evidence added.");
  }

  /** Checks many files; a key list among them counts for all of them. One file beside key lists is shown by itself. */
  async function takeMany(files: readonly GivenFile[], leftOut: boolean): Promise<Taken> {
    const pointer = pointerNow();
    const mine = ++turn;
    const cancelsBefore = cancels;
    const rows: Row[] = [];
    const keysBefore = site.keys.current;
    let isLater = false;
    await whileReading(
      mine,
      async () => {
        isLater = await checkAll(files, rows, cancelsBefore);
        // Those before a key list, evidence or a checkpoint were judged without it.
        if ((site.keys.current !== keysBefore || isLater) && cancels === cancelsBefore)
          await checkAll(rows.splice(0), rows, cancelsBefore);
      },
      files.length,
    );
    const wasStopped = cancels !== cancelsBefore;
    const [only] = rows;
    if (only === undefined) return wasStopped ? undefined : afterKeys(mine);
    if (rows.length === 1 && !wasStopped && !leftOut) return takeOne(only, { pointer });
    if (wasStopped || mine === turn)
      enter({ name: "table", table: { rows: sortedRows(rows), leftOut, given: files.length, wasStopped } });
    return "files";
  }

  /** @returns whether evidence or a checkpoint was among them */
  async function checkAll(files: readonly GivenFile[], rows: Row[], cancelsBefore: number): Promise<boolean> {
    let bytes = 0;
    let isLater = false;
    for (const [index, { name, blob }] of files.entries()) {
      done = index;
      showProgress(done, files.length);
      bytes += blob.size;
      const checked: Checked | undefined =
        bytes > MAX_TOTAL_BYTES ? { kind: "unreadable", why: UNREADABLE.tooMany } : await check(blob);
      if (checked === undefined || cancels !== cancelsBefore) return isLater;
      if (checked.kind === "keys") useKeys(checked.history, blob);
      else if (checked.kind === "evidence" || checked.kind === "stake") {
        useEvidence(checked, blob);
        isLater = true;
      } else if (checked.kind === "judged") rows.push({ ...rowOf(name, checked.judged), blob });
      else if (checked.kind === "receipt") rows.push({ ...receiptRow(name, checked.receipt), blob });
      else rows.push({ ...unreadableRow(name, checked.why), blob });
    }
    return isLater;
  }

  function cancel(): void {
    cancels++;
    turn++;
    site.judging.cancel();
    cancelled.resolve(undefined);
    cancelled = Promise.withResolvers();
    enter({ name: "empty" });
  }

  /** Follows a certificate's QR code. */
  async function follow(pointer: Pointer): Promise<void> {
    state = { name: "empty", pointer, isLooking: true };
    render(false);
    const mine = ++turn;
    site.announce(LOOKING);
    const found = await fetchBlob(`/bundles/${pointer.id}`);
    if (mine !== turn) return;
    site.announce("");
    state = { name: "empty", pointer };
    if (found) await inTurn(() => takeOne({ blob: found }));
    else render(true);
  }

  async function showExample(): Promise<void> {
    const found = await fetchBlob("/example.json");
    if (!found) return enter({ name: "unreadable", why: UNREADABLE.gone });
    const { bundle, history } = JSON.parse(await found.text());
    const keys: KeyList = { history, basis: { basis: "example", name: "example.json", since: Date.now() } };
    await inTurn(() => takeOne({ blob: new Blob([JSON.stringify(bundle)]) }, { keys }));
  }

  function resultActions(result: Result): ResultActions {
    const { judged, bytes } = result;
    const { bundle } = judged;
    const file = bundle ? bundleFileName(bundleId(bundle), signedPart(bundle).attest.round) : "bundle.json";
    const name = file.replace(/\.json$/, "");
    return {
      take: (given) => void take(given),
      askLedger: (pressed) => void askLedger(result, pressed),
      saveCertificate: () =>
        import("./certificate.ts").then(
          ({ certificateOf }) => download(`${name}.pdf`, "application/pdf", certificateOf(judged, bytes, "pdf")),
          () => sayNoCertificates(result),
        ),
      printCertificate: () =>
        import("./certificate.ts").then(
          ({ printCertificate }) => printCertificate(judged, bytes),
          () => sayNoCertificates(result),
        ),
      saveBundle: () => download(`${name}.json`, "application/json", bytes.slice()),
      startOver: () => enter({ name: "empty" }),
    };
  }

  /** What makes certificates could not be loaded. */
  function sayNoCertificates(result: Result): void {
    if (state.name !== "judged" || state.result !== result) return;
    enter({ ...state, result: { ...result, hasNoCertificates: true } });
  }

  async function askLedger(result: Result, pressed: HTMLButtonElement): Promise<void> {
    busy(pressed, "Asking the ledger…");
    site.announce("Asking the ledger…");
    const mine = turn;
    const table = state.name === "judged" ? state.table : undefined;
    let asked: Result;
    try {
      const report = await withChainOf(location.origin, result.bytes, result.judged.report);
      asked = { ...result, judged: { ...result.judged, report, comparedBy: location.host }, ledgerTrouble: undefined };
    } catch (error) {
      if (!(error instanceof AttestError)) throw error;
      asked = { ...result, ledgerTrouble: error.message };
    }
    if (mine !== turn) return;
    site.announce("");
    enter({ name: "judged", result: asked, table });
  }
}
