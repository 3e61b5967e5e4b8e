import { AttestError, withChainOf } from "@attestd/client/chain-check";
import { type Bundle, bundleId, parseBundle, parseJson } from "@attestd/proof";
import { MAX_FILE_BYTES } from "../src/bundle-file.ts";
import type { Judgement } from "../src/judge.ts";
import { isBundleOf, type Pointer } from "../src/pointer.ts";
import { givenBeside, historyAge, type KeyList, writtenAt } from "../src/trust-basis.ts";
import { LIMITS, STATES, UNREADABLE } from "../src/words.ts";
import { certificateSvg, printCertificate } from "./certificate.ts";
import { actions, busy, button, type Child, download, h } from "./dom.ts";
import { heading } from "./parts.ts";
import { type Result, type ResultActions, resultView } from "./result-view.ts";
import { fetchBlob, type Site } from "./site.ts";

const READING_SHOWN_AFTER_MS = 300;

const EMPTY = "Drop, paste or choose a bundle or certificate. Nothing leaves this device.";
const LOOKING = "Looking for the attestation that the certificate names…";
const GIVE_NAMED =
  "This certificate names one attestation, which can't be fetched here. Drop, paste or choose its file, and it is compared with the certificate.";

type State =
  /** `isLooking`: the bundle that the pointer names is being fetched. */
  | { name: "empty"; pointer?: Pointer; isLooking?: boolean }
  | { name: "reading" }
  | { name: "unreadable"; why: string }
  | { name: "judged"; result: Result };

/** The view that checks files. */
export function createVerifyPage(site: Site) {
  let state: State = { name: "empty" };
  /** Counts the files checked and pointers followed: the result of an earlier one is not shown. */
  let turn = 0;
  /** Counts presses of Cancel: a file given before one is not judged any more. */
  let cancels = 0;
  /** Resolves when every file given so far has been checked. */
  let allChecked: Promise<unknown> = Promise.resolve();

  return {
    /** Shows the last verdict, or asks for a file. */
    open: render,
    take,
    follow,
  };

  /** Checks files that were dropped, chosen or pasted, in order; key lists count for the files after them. */
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
    site.show(viewOf(state), focus && state.name !== "reading");
  }

  function viewOf(shown: State): Child[] {
    switch (shown.name) {
      case "empty":
        return emptyView(shown);
      case "reading":
        return readingView();
      case "unreadable":
        return unreadableView(shown.why);
      case "judged":
        return resultView(shown.result, resultActions(shown.result));
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
      const trusted = keys ?? site.keys.current;
      const age = trusted ? historyAge(trusted.basis) : 0;
      const judgement = await site.judging.judge(bytes, { history: trusted?.history, historyAge: age });
      if (judgement === undefined || cancels !== cancelsBefore) return undefined;
      if (judgement.kind === "keys") await takeKeys(judgement.history, file, mine);
      else if (mine !== turn) return judgement.kind;
      else if (judgement.kind === "unreadable") enter({ name: "unreadable", why: judgement.why });
      else enter(judged(judgement, trusted, pointer));
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
    site.announce(
      current === site.keys.served ? "This site's own key list continues that one, and is used." : "Key list added.",
    );
    if (state.name === "judged") await checkNow(new Blob([state.result.bytes.slice()]));
    else if (mine === turn) enter({ name: "empty" });
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
    if (found) await check(found);
    else render(true);
  }

  async function showExample(): Promise<void> {
    const found = await fetchBlob("/example.json");
    if (!found) return enter({ name: "unreadable", why: UNREADABLE.gone });
    const { bundle, history } = JSON.parse(await found.text());
    const keys: KeyList = { history, basis: { basis: "example", name: "example.json", since: Date.now() } };
    await check(new Blob([JSON.stringify(bundle)]), keys);
  }

  function resultActions(result: Result): ResultActions {
    const { judged, bytes } = result;
    const name = judged.bundle ? fileName(judged.bundle) : "bundle";
    return {
      askLedger: (pressed) => void askLedger(result, pressed),
      saveCertificate: () => download(`${name}.svg`, "image/svg+xml", certificateSvg(judged, bytes)),
      printCertificate: () => printCertificate(certificateSvg(judged, bytes)),
      saveBundle: () => download(`${name}.json`, "application/json", bytes.slice()),
      startOver: () => enter({ name: "empty" }),
    };
  }

  async function askLedger(result: Result, pressed: HTMLButtonElement): Promise<void> {
    busy(pressed, "Asking the ledger…");
    site.announce("Asking the ledger…");
    const mine = turn;
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
    enter({ name: "judged", result: asked });
  }

  function emptyView({ pointer, isLooking }: Extract<State, { name: "empty" }>): Child[] {
    const input = h("input", { type: "file", hidden: true, tabindex: "-1", "aria-hidden": "true" });
    input.addEventListener("change", () => void take([...(input.files ?? [])]));
    return [
      h(
        "div",
        { class: "drop" },
        heading(STATES.empty.heading),
        h("p", {}, pointer === undefined ? EMPTY : isLooking ? LOOKING : GIVE_NAMED),
        actions(
          button("Choose file", () => input.click(), { class: "primary" }),
          pointer === undefined && button("Example", () => void showExample()),
        ),
        input,
      ),
      h("footer", { class: "limits" }, h("p", {}, LIMITS)),
    ];
  }

  function readingView(): Child[] {
    const cancel = () => {
      cancels++;
      turn++;
      site.judging.cancel();
      enter({ name: "empty" });
    };
    site.announce(STATES.reading.heading);
    return [h("div", { class: "drop" }, heading(STATES.reading.heading), actions(button("Cancel", cancel)))];
  }

  function unreadableView(why: string): Child[] {
    const again = button("Check another", () => enter({ name: "empty" }));
    const properties = { class: "verdict", "data-tone": STATES.unreadable.tone, "data-state": "unreadable" };
    return [h("section", properties, heading(STATES.unreadable.heading), h("p", {}, why), actions(again))];
  }
}

function judged(
  { report, bytes, subject, certificate }: Extract<Judgement, { kind: "judged" }>,
  keys: KeyList | undefined,
  pointer: Pointer | undefined,
): State {
  const bundle = report.checks.schema === "pass" ? parseBundle(parseJson(bytes)) : undefined;
  if (pointer !== undefined && !(bundle && isBundleOf(pointer, bundle)))
    return { name: "unreadable", why: UNREADABLE.otherBundle };
  const isNamed = pointer !== undefined;
  return {
    name: "judged",
    result: { judged: { report, bundle, subject, keys, certificate }, bytes, isNamed, service: location.host },
  };
}

/** Pasted text has neither a name nor a date. */
function basisOf(file: Blob): KeyList["basis"] {
  if (!(file instanceof File)) return { basis: "file", name: "what was pasted" };
  return { basis: "file", name: file.name, since: writtenAt(file.lastModified) };
}

function fileName(bundle: Bundle): string {
  return `attestation-${bundleId(bundle).slice(0, 8)}-${bundle.attest.round}`;
}
