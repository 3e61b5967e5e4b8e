import { certificateContents } from "../src/certificate/contents.ts";
import { layOut, type Paper } from "../src/certificate/layout.ts";
import { toSvg } from "../src/certificate/svg.ts";
import type { Judged } from "../src/verdict.ts";
import { h } from "./dom.ts";

/** Where people print on Letter rather than A4. */
const LETTER_REGIONS = new Set(["US", "CA", "MX", "PH", "CL", "CO", "CR", "GT", "PA", "SV", "VE", "DO", "PR"]);

export function certificateSvg(judged: Judged, bytes: Uint8Array): string {
  const contents = certificateContents(judged, new Date());
  return toSvg(layOut(contents, paper()), bytes, `Certificate of attestation: ${contents.title}`);
}

/** Prints the certificate alone, on a sheet of its own. */
export function printCertificate(svg: string): void {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const sheet = h("div", { class: "certificate" }, document.importNode(parsed, true));
  document.body.append(sheet);
  document.body.classList.add("printing-certificate");
  addEventListener(
    "afterprint",
    () => {
      document.body.classList.remove("printing-certificate");
      sheet.remove();
    },
    { once: true },
  );
  print();
}

function paper(): Paper {
  const [, region = ""] = /[-_]([A-Z]{2})\b/.exec(navigator.language) ?? [];
  return LETTER_REGIONS.has(region) ? "letter" : "a4";
}
