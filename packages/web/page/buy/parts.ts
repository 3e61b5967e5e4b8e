import { printable } from "../../src/printable.ts";
import { BUY } from "../../src/purchase-words.ts";
import { receiptFile, receiptFileName } from "../../src/receipt-file.ts";
import { button, type Child, download, h } from "../dom.ts";
import { idValue } from "../parts.ts";
import { bundleFileName } from "../site.ts";
import type { SavedBundle } from "./purchase.ts";

/** An error, or what has to be done first; the heading refers to it with `aria-describedby`. */
export function notice(trouble: string): HTMLElement {
  return h("p", { class: "notice", "data-tone": "caution", id: "trouble" }, printable(trouble));
}

/** How to buy with the command instead. */
export function commandLine(txids: readonly string[]): HTMLElement {
  const what = txids.length === 1 ? printable(txids[0] ?? "") : "--file list.txt";
  return h(
    "pre",
    {},
    `# in a clone of attestd, after npm ci\nnpx attestd attest ${what} --service ${location.origin} --wallet wallet.json --keys keys.json`,
  );
}

/** What is bought: the id of one transaction, or how many. */
export function bought(txids: readonly string[]): Child[] {
  return txids.length === 1
    ? ["one attestation of ", idValue(txids[0] ?? "")]
    : [`attestations of ${BUY.many(txids.length)}`];
}

/** Saves the answer of a batch, in which every bundle is. */
export function saveAnswer({ id, round, bytes }: SavedBundle): void {
  download(bundleFileName(id, round), "application/json", bytes.slice());
}

/** Saves the receipt of what was bought, to stand beside its bundle; nothing where the service signed none. */
export function saveReceipt({ receipt, id, round }: SavedBundle, label = "Save the receipt", name = label): Child {
  if (receipt === undefined) return undefined;
  const file = receiptFileName(bundleFileName(id, round));
  const save = () => download(file, "application/json", receiptFile(receipt));
  return button(label, save, { "aria-label": name });
}
