import { priceText, type ServiceStatus } from "../src/service-status.ts";
import { type Child, h } from "./dom.ts";
import { contactLink, idValue, type Row, rowList } from "./parts.ts";
import type { Site } from "./site.ts";

const WHAT =
  "attestd records on the Algorand ledger that it saw a transaction or a block on its chain, and signs a file that says so: a bundle. Checking one is free, and needs nobody's leave.";
const PROVES =
  "A bundle proves that its signer saw exactly these bytes and recorded their fingerprint in one round of the ledger. It doesn't prove that a payment was wanted, lawful or irreversible.";

/** What this is, who runs it and what it costs, what it proves: for who comes here first. */
export function aboutView(site: Site): HTMLElement {
  const place = h("section", { class: "about", "aria-label": "About" }, about(undefined));
  void site.status.then((status) => status && place.replaceChildren(about(status)));
  return place;
}

function about(status: ServiceStatus | undefined): HTMLElement {
  const rows: Row[] = [
    { label: "What this is", value: [WHAT] },
    { label: "Who runs it", value: runsIt(status) },
    { label: "What it proves", value: [PROVES] },
  ];
  return rowList(rows, "facts about");
}

function runsIt(status: ServiceStatus | undefined): Child[] {
  if (status === undefined)
    return [`The operator of ${location.host}. What it costs is shown when the service answers.`];
  const { attestor, contact, origin } = status;
  const who = `The operator of ${new URL(origin).host}${contact === undefined ? ", who gives no contact" : ""}. `;
  return [
    h("p", {}, who, contact !== undefined && "Contact: ", contact !== undefined && contactLink(contact)),
    h("p", {}, `An attestation costs ${priceText(status)}.`),
    h("p", {}, "It signs as the account ", idValue(attestor.algorandAddress)),
  ];
}
