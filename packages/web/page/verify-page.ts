import { type KeyHistory, parseBundle } from "@attestd/proof";
import { sortedRows } from "../src/file-rows.ts";
import { isBundleOf, type Pointer } from "../src/pointer.ts";
import type { KeyList } from "../src/trust-basis.ts";
import { UNREADABLE } from "../src/words.ts";
import { type Beside, useBeside } from "./beside.ts";
import { type Checked, checkFile } from "./check-file.ts";
import { busy } from "./dom.ts";
import { filesAsGiven, filesInBatch, type GivenFile, type GivenFiles } from "./given-files.ts";
import { type CheckedFiles, checkFiles, wholeBatchOf } from "./many-files.ts";
import { type Result, type ResultActions, resultActions, saveBatchCertificate } from "./result-actions.ts";
import { fetchBlob, fetchJson, type Site } from "./site.ts";
import type { Table } from "./table-view.ts";
import { LOOKING, type State, showProgress, verifyView } from "./verify-views.ts";

const READING_SHOWN_AFTER_MS = 300;
/** What was taken: key lists alone, or files; undefined when it was cancelled. */
type Taken = "keys" | "files" | undefined;

/** The view that checks files. */
export function createVerifyPage(site: Site) {
  let state: State = { name: "empty" };
  /** Counts the files checked and pointers followed: the result of an earlier one is not shown. */
  let turn = 0;
  /** Resolves at the next press of Cancel, which makes another: a file given before one is not judged any more. */
  let cancelled = Promise.withResolvers<undefined>();
  /** How many of the files that are being read have been checked. */
  let done = 0;
  let total = 1;
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
      saveBatchCertificate: (table: Table, pressed: HTMLButtonElement) => void saveCertificateOf(table, pressed),
      backTo: (table: Table) => enter({ name: "table", table }),
      ofResult: actionsOf,
    };
    site.show(verifyView(state, site, actions), focus && state.name !== "reading");
  }

  /** Checks what was dropped, chosen or pasted, in order; a key list counts for the files after it, and beside it. */
  async function take(given: GivenFiles): Promise<void> {
    const { files, leftOut } = given;
    const [only, ...others] = files;
    if (only === undefined) return;
    const taken = inTurn(() => (others.length === 0 ? takeOne(only) : takeMany(files, leftOut)));
    const what = await taken;
    if (what === "keys" && taken === allChecked && state.name === "empty") location.hash = "#keys";
  }

  /** Each is judged by the key lists given before it. */
  function inTurn(work: () => Promise<Taken>): Promise<Taken> {
    const cancelledBefore = cancelled;
    const taken = allChecked.then(() => (cancelled === cancelledBefore ? work() : undefined));
    allChecked = taken;
    return taken;
  }

  /** @param given.keys to judge by; those of the page, unless given */
  async function takeOne(
    file: GivenFile,
    given: { keys?: KeyList; table?: Table | undefined; pointer?: Pointer | undefined } = {},
  ): Promise<Taken> {
    const { keys, table, pointer = pointerNow() } = given;
    const mine = ++turn;
    const checked = await whileReading(mine, () => check(file, keys));
    if (checked?.kind === "batch") {
      if (mine !== turn) return "files";
      if (!pointer || isNamed(pointer, checked))
        return takeMany(filesInBatch(file, checked), false, pointer !== undefined);
      enter({ name: "unreadable", why: UNREADABLE.otherBundle });
      return "files";
    }
    if (checked?.kind === "keys" || checked?.kind === "evidence" || checked?.kind === "stake") {
      useBeside(site, checked, file.blob);
      const taken = await afterKeys(mine);
      return checked.kind === "keys" ? taken : "files";
    }
    if (checked && mine === turn) enter(stateOf(checked, pointer, table));
    return "files";
  }

  /** @returns undefined when it was cancelled */
  function check(file: GivenFile, keys?: KeyList): Promise<Checked | undefined> {
    return Promise.race([checkFile(site, file, keys), cancelled.promise]);
  }

  function pointerNow(): Pointer | undefined {
    return state.name === "empty" ? state.pointer : undefined;
  }

  /** Shows after a moment that files are being read. @returns undefined when it was cancelled */
  async function whileReading<T>(mine: number, work: () => Promise<T>, files = 1): Promise<T | undefined> {
    const cancelledBefore = cancelled;
    total = files;
    const slow = setTimeout(() => {
      if (mine === turn) enter({ name: "reading", done, total });
    }, READING_SHOWN_AFTER_MS);
    const result = await work();
    clearTimeout(slow);
    return cancelled === cancelledBefore ? result : undefined;
  }

  function stateOf(
    checked: Exclude<Checked, Beside | { kind: "batch" }>,
    pointer: Pointer | undefined,
    table?: Table,
  ): State {
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
    if (state.name === "judged")
      return takeOne({ name: "", blob: new Blob([state.result.bytes.slice()]) }, { table: state.table });
    if (state.name === "receipt") return takeOne({ name: "", blob: state.blob });
    if (state.name === "table")
      return takeMany(filesAsGiven(state.table.rows), state.table.leftOut, state.table.isNamed);
    if (mine === turn) enter({ name: "empty", hasEvidence: site.evidence.size + site.stake.length > 0 });
    return "keys";
  }

  /** Checks many files; a key list among them counts for all of them. One file beside key lists is shown by itself. */
  async function takeMany(files: readonly GivenFile[], moreGiven: boolean, isNamed = false): Promise<Taken> {
    const pointer = pointerNow();
    const mine = ++turn;
    const cancelledBefore = cancelled;
    const keysBefore = site.keys.current;
    let found: CheckedFiles = { rows: [], isLater: false, leftOut: false };
    const whole = async () => {
      found = await checkFiles(site, files, { check, progress });
      // Those before a key list, evidence or a checkpoint were judged without it.
      if ((site.keys.current !== keysBefore || found.isLater) && cancelled === cancelledBefore)
        found = await checkFiles(site, filesAsGiven(found.rows), { check, progress });
    };
    await whileReading(mine, whole, files.length);
    const { rows } = found;
    const leftOut = moreGiven || found.leftOut;
    const wasStopped = cancelled !== cancelledBefore;
    const [only] = rows;
    if (only === undefined) return wasStopped ? undefined : afterKeys(mine);
    if (rows.length === 1 && !wasStopped && !leftOut) return takeOne(only, { pointer });
    const table = { rows: sortedRows(rows), leftOut, given: total, wasStopped, isNamed, batch: wholeBatchOf(rows) };
    if (wasStopped || mine === turn) enter({ name: "table", table });
    return "files";
  }

  function progress(checked: number, of: number): void {
    [done, total] = [checked, of];
    showProgress(done, total);
  }

  function cancel(): void {
    turn++;
    site.judging.cancel();
    cancelled.resolve(undefined);
    cancelled = Promise.withResolvers();
    enter({ name: "empty" });
  }

  /** Follows a certificate's QR code. */
  async function follow(pointer: Pointer): Promise<void> {
    enter({ name: "empty", pointer, isLooking: true }, false);
    const mine = ++turn;
    site.announce(LOOKING);
    const found = await fetchBlob(`/bundles/${pointer.id}`);
    if (mine !== turn) return;
    site.announce("");
    state = { name: "empty", pointer };
    if (found) await inTurn(() => takeOne({ name: "", blob: found }));
    else render(true);
  }

  async function showExample(): Promise<void> {
    const found = await fetchJson<{ bundle: object; history: KeyHistory }>("/example.json");
    if (!found) return enter({ name: "unreadable", why: UNREADABLE.gone });
    const { bundle, history } = found;
    const keys: KeyList = { history, basis: { basis: "example", name: "example.json", since: Date.now() } };
    await inTurn(() => takeOne({ name: "", blob: new Blob([JSON.stringify(bundle)]) }, { keys }));
  }

  function actionsOf(result: Result): ResultActions {
    return resultActions(result, site, {
      take: (given) => void take(given),
      startOver: () => enter({ name: "empty" }),
      isShown,
      change(of, by) {
        if (!isShown(of) || state.name !== "judged") return;
        site.announce("");
        enter({ ...state, result: by(state.result) });
      },
    });
  }

  /** A file that is judged again has other bytes. */
  function isShown({ bytes }: Result): boolean {
    return state.name === "judged" && state.result.bytes === bytes;
  }

  /** Of a batch whose items are all in the table. */
  async function saveCertificateOf(table: Table, pressed: HTMLButtonElement): Promise<void> {
    if (table.batch === undefined) return;
    busy(pressed, "Making it…");
    const isMade = await saveBatchCertificate(table.batch);
    if (state.name === "table" && state.table === table)
      enter({ name: "table", table: { ...table, hasNoCertificates: !isMade } });
  }
}

/** Whether a pointer identifies this batch, or an item of it. */
function isNamed(pointer: Pointer, { bundles }: Extract<Checked, { kind: "batch" }>): boolean {
  try {
    return bundles.some(({ bytes }) => isBundleOf(pointer, parseBundle(bytes)));
  } catch {
    return false;
  }
}
