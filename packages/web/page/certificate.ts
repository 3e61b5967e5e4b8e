import { utf8 } from "@attestd/proof/encoding";
import { type CertificateFormat, makeCertificate, makingOf, makingOfBatch } from "../src/certificate/certificate.ts";
import type { Paper } from "../src/certificate/making.ts";
import type { Judged } from "../src/verdict.ts";
import { h } from "./dom.ts";
import type { WholeBatch } from "./table-view.ts";

/** Regions that print on Letter instead of A4. */
const LETTER_REGIONS = new Set(["US", "CA", "MX", "PH", "CL", "CO", "CR", "GT", "PA", "SV", "VE", "DO", "PR"]);

/** @param bytes of the bundle @throws TypeError for a bundle that is not verified */
export function certificateOf(judged: Judged, bytes: Uint8Array, format: CertificateFormat): Uint8Array<ArrayBuffer> {
  const making = makingOf(judged, new Date(), paper());
  const { history } = judged.keys as NonNullable<Judged["keys"]>;
  return makeCertificate(format, bytes, history, making, judged.evidence).bytes;
}

/** The certificate of a whole batch as PDF, with a table of its items. */
export function certificateOfBatch({ answer, judged, history }: WholeBatch): Uint8Array<ArrayBuffer> {
  const making = makingOfBatch(judged, new Date(), paper());
  return makeCertificate("pdf", utf8(JSON.stringify(answer)), history, making, judged[0]?.evidence).bytes;
}

/** Prints the certificate on sheets of its own, without the page. */
export function printCertificate(judged: Judged, bytes: Uint8Array): void {
  const svg = new TextDecoder().decode(certificateOf(judged, bytes, "svg"));
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const sheet = h("div", { class: "certificate" }, ...pagesOf(document.importNode(parsed, true)));
  document.body.append(sheet);
  document.body.classList.add("printing-certificate");
  const remove = () => {
    document.body.classList.remove("printing-certificate");
    sheet.remove();
  };
  addEventListener("afterprint", remove, { once: true });
  print();
}

/** Each page of a certificate as an SVG of its own: a window on the whole. */
function pagesOf(whole: Node): Node[] {
  const pages = Number((whole as Element).getAttribute("data-pages"));
  return Array.from({ length: pages }, (_, page) => {
    const copy = whole.cloneNode(true) as Element;
    const [, , width = "", height = ""] = copy.getAttribute("viewBox")?.split(" ") ?? [];
    const high = Number(height) / pages;
    copy.setAttribute("viewBox", `0 ${page * high} ${width} ${high}`);
    copy.setAttribute("height", `${high}pt`);
    return copy;
  });
}

function paper(): Paper {
  const [, region = ""] = /[-_]([A-Z]{2})\b/.exec(navigator.language) ?? [];
  return LETTER_REGIONS.has(region) ? "letter" : "a4";
}
