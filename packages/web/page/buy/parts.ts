import { RAILS } from "@attestd/proof/rails";
import { printable } from "../../src/printable.ts";
import { h } from "../dom.ts";
import type { PayingWallet } from "./paying-wallet.ts";

/** An error, or what has to be done first; the heading refers to it with `aria-describedby`. */
export function notice(trouble: string): HTMLElement {
  return h("p", { class: "notice", "data-tone": "caution", id: "trouble" }, printable(trouble));
}

/** How to buy with the command instead. */
export function commandLine(txid: string): HTMLElement {
  return h(
    "pre",
    {},
    `# in a clone of attestd, after npm ci\nnpx attestd attest ${printable(txid)} --service ${location.origin} --wallet wallet.json --keys keys.json`,
  );
}

export function railLabel({ rail }: PayingWallet): string {
  return RAILS[rail].label;
}
