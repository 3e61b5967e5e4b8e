import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { type Bundle, bundleId, parseBundle, parseJson } from "@attestd/proof";
import { MAX_FILE_BYTES } from "../src/bundle-file.ts";
import { subjectOf } from "../src/description.ts";
import type { Judgement } from "../src/judge.ts";
import { isBundleOf, type Pointer } from "../src/pointer.ts";
import { givenBeside, historyAge, type KeyList, writtenAt } from "../src/trust-basis.ts";
import { verdictOf } from "../src/verdict.ts";
import { SENTENCES, STATES, UNREADABLE } from "../src/words.ts";
import { certificateSvg, printCertificate } from "./certificate.ts";
import { busy, button, download, h } from "./dom.ts";
import { heading } from "./parts.ts";
import { type Result, resultView } from "./result-view.ts";
import type { Site } from "./site.ts";

/** After this time the page shows that it is still reading. */
const READING_SHOWN_AFTER_MS = 300;
const FETCH_TIMEOUT_MS = 15_000;

/** The view that checks files. */
export interface VerifyPage {
  /** Shows the last verdict, or asks for a file. */
  open(focus: boolean): void;
  /** Checks files that were dropped, chosen or pasted, in order; key lists count for the files after them. */
  take(files: readonly Blob[]): Promise<void>;
  /** Follows a certificate's QR code. */
  follow(pointer: Pointer): Promise<void>;
}

/** The state of the view. */
type State =
  /** `isLooking`: the bundle that the pointer names is being fetched. */
  | { name: "empty"; pointer?: Pointer; isLooking?: boolean }
  | { name: "reading" }
  | { name: "unreadable"; why: string }
  | { name: "judged"; result: Result };

export function createVerifyPage(site: Site): VerifyPage {
  let state: State = { name: "empty" };
  /** Counts the files checked and pointers followed: the result of an earlier one is not shown. */
  let turn = 0;
  /** Counts presses of Cancel: a file given before one is not judged any more. */
  let cancels = 0;
  /** Resolves when every file given so far has been checked. */
  let allChecked: Promise<unknown> = Promise.resolve();

  return {
    open: render,
    take,
    follow,
  };

  async function take(files: readonly Blob[]): Promise<void> {
    let areKeys = files.length > 0;
    let checking = allChecked;
    for (const file of files) {
      const kind = check(file);
      checking = kind;
      areKeys = (await kind) === "keys" && areKeys;
    }
    const isLast = checking === allChecked;
    if (areKeys && isLast && state.name !== "judged") location.hash = "#keys";
  }

  function enter(next: State, focus = true): void {
    state = next;
    render(focus);
  }

  function render(focus: boolean): void {
    const { view, title, isResult } = viewOf(state);
    site.show(view, { title, focus: focus && isResult });
  }

  function viewOf(shown: State): { view: Node[]; title: string; isResult: boolean } {
    switch (shown.name) {
      case "empty":
        return {
          view: emptyView(shown.pointer, shown.isLooking ?? false),
          title: STATES.empty.heading,
          isResult: true,
        };
      case "reading":
        return { view: readingView(), title: STATES.reading.heading, isResult: false };
      case "unreadable":
        return { view: unreadableView(shown.why), title: STATES.unreadable.heading, isResult: true };
      case "judged": {
        const { result } = shown;
        return { view: resultView(result, actions(result)), title: verdictOf(result.judged).heading, isResult: true };
      }
    }
  }

  /**
   * Checks files in the order in which they were given: each is judged by the key lists given before it.
   * @param keys to judge by; those of the page, unless given
   * @returns what the file was, where that is known
   */
  function check(file: Blob, keys?: KeyList): Promise<Judgement["kind"] | undefined> {
    const cancelsBefore = cancels;
    const checked = allChecked.then(() => (cancels === cancelsBefore ? checkNow(file, keys) : undefined));
    allChecked = checked;
    return checked;
  }

  async function checkNow(file: Blob, keys?: KeyList): Promise<Judgement["kind"] | undefined> {
    const pointer = state.name === "empty" ? state.pointer : undefined;
    const mine = ++turn;
    const cancelsBefore = cancels;
    if (file.size > MAX_FILE_BYTES) {
      enter({ name: "unreadable", why: UNREADABLE.tooLarge(file.size) });
      return "unreadable";
    }
    const slow = setTimeout(() => {
      if (mine === turn) enter({ name: "reading" });
    }, READING_SHOWN_AFTER_MS);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      await site.keysReady;
      const believed = keys ?? site.keys.current;
      const judgement = await site.judging.judge(bytes, optionsFor(believed));
      if (judgement === undefined || cancels !== cancelsBefore) return undefined;
      if (judgement.kind === "keys") await takeKeys(judgement.history, file, mine);
      else if (mine !== turn) return judgement.kind;
      else if (judgement.kind === "unreadable") enter({ name: "unreadable", why: judgement.why });
      else enter(judged(judgement, believed, pointer));
      return judgement.kind;
    } catch {
      if (mine === turn) enter({ name: "unreadable", why: UNREADABLE.gone });
      return "unreadable";
    } finally {
      clearTimeout(slow);
    }
  }

  /** Judges by a key list from now on: also what is shown, and whatever was asked for since. */
  async function takeKeys(history: KeyList["history"], file: Blob, mine: number): Promise<void> {
    const current = givenBeside({ history, basis: basisOf(file) }, site.keys.served);
    site.keys.current = current;
    site.say(current === site.keys.served ? SENTENCES.keysConfirmed : "Key list taken.");
    if (state.name === "judged") await checkNow(new Blob([state.result.bytes.slice()]));
    else if (mine === turn) enter({ name: "empty" });
  }

  async function follow(pointer: Pointer): Promise<void> {
    state = { name: "empty", pointer, isLooking: true };
    render(false);
    const mine = ++turn;
    site.say(SENTENCES.looking);
    const found = await fetchBytes(`/bundles/${pointer.id}`);
    if (mine !== turn) return;
    site.say("");
    state = { name: "empty", pointer };
    if (found) await check(new Blob([found]));
    else render(true);
  }

  async function showExample(): Promise<void> {
    const found = await fetchBytes("/example.json");
    if (!found) {
      enter({ name: "unreadable", why: UNREADABLE.gone });
      return;
    }
    const { bundle, history } = JSON.parse(new TextDecoder().decode(found));
    const keys: KeyList = { history, basis: { basis: "example", name: "example.json", since: Date.now() } };
    await check(new Blob([JSON.stringify(bundle)]), keys);
  }

  function actions(result: Result) {
    const { judged, bytes } = result;
    const name = () => (judged.bundle ? fileName(judged.bundle) : "bundle");
    return {
      askLedger: (pressed: HTMLButtonElement) => void askLedger(result, pressed),
      saveCertificate: () => download(`${name()}.svg`, "image/svg+xml", certificateSvg(judged, bytes)),
      printCertificate: () => printCertificate(certificateSvg(judged, bytes)),
      saveBundle: () => download(`${name()}.json`, "application/json", bytes.slice()),
      startOver: () => enter({ name: "empty" }),
    };
  }

  async function askLedger(result: Result, pressed: HTMLButtonElement): Promise<void> {
    busy(pressed, "Asking the ledger…");
    site.say("Asking the ledger…");
    const mine = turn;
    const { ledgerTrouble: _earlier, ...rest } = result;
    let asked: Result;
    try {
      const report = await withChainOf(location.origin, result.bytes, result.judged.report);
      asked = { ...rest, judged: { ...result.judged, report, comparedBy: location.host } };
    } catch (error) {
      if (!(error instanceof AttestError)) throw error;
      asked = { ...rest, ledgerTrouble: error.message };
    }
    if (mine !== turn) return;
    site.say("");
    enter({ name: "judged", result: asked });
  }

  function emptyView(pointer: Pointer | undefined, isLooking: boolean): Node[] {
    const input = h("input", { type: "file", hidden: true, tabindex: "-1", "aria-hidden": "true" });
    input.addEventListener("change", () => {
      const [file] = input.files ?? [];
      if (file) void take([file]);
    });
    return [
      h(
        "div",
        { class: "drop" },
        heading(STATES.empty.heading),
        h("p", {}, pointer === undefined ? SENTENCES.empty : isLooking ? SENTENCES.looking : SENTENCES.giveNamed),
        h(
          "div",
          { class: "actions" },
          button("Choose file", () => input.click(), { class: "primary" }),
          pointer === undefined && button("Example", () => void showExample()),
        ),
        input,
      ),
      h("footer", { class: "limits" }, h("p", {}, SENTENCES.limits)),
    ];
  }

  function readingView(): Node[] {
    const cancel = () => {
      cancels++;
      turn++;
      site.judging.cancel();
      enter({ name: "empty" });
    };
    site.say(STATES.reading.heading);
    return [
      h(
        "div",
        { class: "drop" },
        heading(STATES.reading.heading),
        h("div", { class: "actions" }, button("Cancel", cancel)),
      ),
    ];
  }

  function unreadableView(why: string): Node[] {
    return [
      h(
        "section",
        { class: "verdict", "data-tone": STATES.unreadable.tone, "data-state": "unreadable" },
        heading(STATES.unreadable.heading),
        h("p", {}, why),
        h(
          "div",
          { class: "actions" },
          button("Check another", () => enter({ name: "empty" })),
        ),
      ),
    ];
  }
}

function judged(
  { report, bytes, certificate }: Extract<Judgement, { kind: "judged" }>,
  keys: KeyList | undefined,
  pointer: Pointer | undefined,
): State {
  const bundle = report.checks.schema === "pass" ? parseBundle(parseJson(bytes)) : undefined;
  if (pointer !== undefined && !(bundle && isBundleOf(pointer, bundle)))
    return { name: "unreadable", why: UNREADABLE.otherBundle };
  const subject = bundle && subjectOf(bundle);
  const isNamed = pointer !== undefined;
  return {
    name: "judged",
    result: { judged: { report, bundle, subject, keys, certificate }, bytes, isNamed, service: location.host },
  };
}

function optionsFor(keys: KeyList | undefined) {
  if (keys === undefined) return { historyAge: 0 };
  return { history: keys.history, historyAge: historyAge(keys.basis) };
}

/** Pasted text has neither a name nor a date. */
function basisOf(file: Blob): KeyList["basis"] {
  if (!(file instanceof File)) return { basis: "file", name: "what was pasted" };
  const since = writtenAt(file.lastModified);
  return { basis: "file", name: file.name, ...(since !== undefined && { since }) };
}

/** @returns undefined when it cannot be fetched */
async function fetchBytes(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  } catch {
    return undefined;
  }
}

function fileName(bundle: Bundle): string {
  return `attestation-${bundleId(bundle).slice(0, 8)}-${bundle.attest.round}`;
}
