import { makeCertificate, makingOf } from "../src/certificate/certificate.ts";
import type { Paper } from "../src/certificate/making.ts";
import type { Judged } from "../src/verdict.ts";
import { h } from "./dom.ts";

/** Regions that print on Letter instead of A4. */
const LETTER_REGIONS = new Set(["US", "CA", "MX", "PH", "CL", "CO", "CR", "GT", "PA", "SV", "VE", "DO", "PR"]);

/** @param bytes of the bundle @throws TypeError for a bundle that is not verified */
export function certificateSvg(judged: Judged, bytes: Uint8Array): string {
  const making = makingOf(judged, new Date(), paper());
  const { history } = judged.keys as NonNullable<Judged["keys"]>;
  return new TextDecoder().decode(makeCertificate("svg", bytes, history, making).bytes);
}

/** Prints the certificate on its own sheet, without the page. */
export function printCertificate(svg: string): void {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const sheet = h("div", { class: "certificate" }, document.importNode(parsed, true));
  document.body.append(sheet);
  document.body.classList.add("printing-certificate");
  const remove = () => {
    document.body.classList.remove("printing-certificate");
    sheet.remove();
  };
  addEventListener("afterprint", remove, { once: true });
  print();
}

function paper(): Paper {
  const [, region = ""] = /[-_]([A-Z]{2})\b/.exec(navigator.language) ?? [];
  return LETTER_REGIONS.has(region) ? "letter" : "a4";
}
