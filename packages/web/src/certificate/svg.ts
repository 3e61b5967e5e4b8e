import { escapeXml, SVG_BUNDLE_ID, SVG_EVIDENCE_ID, SVG_MAKING_ID } from "../bundle-file.ts";
import { present } from "../present.ts";
import type { CertificateContents } from "./sections.ts";
import { type Font, fontSize, type Leaf, type Mark, type Node, type Run, runsWidth, type Sheet } from "./sheet.ts";

/** Font families. A viewer takes the first one that it has. All fonts of one line have the same widths. */
const FAMILIES: Readonly<Record<Font, string>> = {
  sans: "Arimo, Arial, 'Liberation Sans', Helvetica, sans-serif",
  bold: "Arimo, Arial, 'Liberation Sans', Helvetica, sans-serif",
  mono: "Cousine, 'Courier New', 'Liberation Mono', Courier, monospace",
};
const STAMP = "#d8d8d8";

/** Roles of WAI-ARIA 1.2 for the tags of PDF. */
const ROLES: Readonly<Record<Node["tag"], string>> = {
  Document: "document",
  H1: 'heading" aria-level="1',
  H2: 'heading" aria-level="2',
  P: "paragraph",
  Table: "table",
  TR: "row",
  TH: "rowheader",
  TD: "cell",
  L: "list",
  LI: "listitem",
  Lbl: "none",
  LBody: "none",
  Link: "none",
  Figure: "img",
};

/** The parts of a certificate besides its visible text: its contents and its description. */
export type Carried = Pick<CertificateContents, "kind" | "sentence" | "attestor" | "id"> & {
  /** UTF-8 of the bundle's or batch's JSON. */
  bundle: Uint8Array;
  /** UTF-8 of the evidence. */
  evidence?: Uint8Array | undefined;
  /** From `writeMaking`. */
  making: string;
  title: string;
};

/** Writes a sheet as SVG with its bundle inside: the pages one below the other, the text in reading order. */
export function toSvg(
  { width, height, document, artifacts }: Sheet,
  { bundle, evidence, making, title, sentence }: Omit<Carried, "kind" | "attestor" | "id">,
): string {
  const json = escapeXml(new TextDecoder().decode(bundle));
  const whole = round(height * artifacts.length);
  const decoration = artifacts.flatMap((marks, page) => marks.map((mark) => element(mark, page * height)));
  return present([
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}pt" height="${whole}pt" viewBox="0 0 ${width} ${whole}" xml:lang="en" data-pages="${artifacts.length}">`,
    `<title>${escapeXml(title)}</title>`,
    `<desc>${escapeXml(sentence)}</desc>`,
    `<metadata id="${SVG_BUNDLE_ID}">${json}</metadata>`,
    `<metadata id="${SVG_MAKING_ID}">${escapeXml(making)}</metadata>`,
    evidence && `<metadata id="${SVG_EVIDENCE_ID}">${escapeXml(new TextDecoder().decode(evidence))}</metadata>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<g aria-hidden="true">\n${decoration.join("\n")}\n</g>`,
    group(document, height),
    "</svg>\n",
  ]).join("\n");
}

function group(node: Node, height: number): string {
  const role = `<g role="${"isOfColumn" in node ? "columnheader" : ROLES[node.tag]}"`;
  if ("kids" in node) return `${role}>\n${node.kids.map((kid) => group(kid, height)).join("\n")}\n</g>`;
  const drawn = node.marks.map((mark) => element(mark, node.page * height)).join("\n");
  return `${role}${node.tag === "Figure" ? ` aria-label="${escapeXml(node.alt ?? "")}"` : ""}>\n${linked(node, drawn)}\n</g>`;
}

function linked({ url }: Leaf, drawn: string): string {
  return url === undefined ? drawn : `<a href="${escapeXml(url)}">\n${drawn}\n</a>`;
}

function element(mark: Mark, top: number): string {
  const at = `x="${round(mark.x)}" y="${round(top + mark.y)}"`;
  switch (mark.kind) {
    case "text": {
      const { size, runs } = mark;
      let x = mark.x;
      const spans = runs.map((run) => {
        const attributes = `x="${round(x)}" ${styleOf(run, size)}`;
        x += runsWidth([run], size);
        return { attributes, text: escapeXml(run.text) };
      });
      const [only, ...more] = spans;
      if (only && more.length === 0)
        return `<text ${only.attributes.replace(/^x="[^"]*"/, at)} xml:space="preserve">${only.text}</text>`;
      const inner = spans.map(({ attributes, text }) => `<tspan ${attributes}>${text}</tspan>`).join("");
      return `<text ${at} xml:space="preserve">${inner}</text>`;
    }
    case "rule":
      return `<rect ${at} width="${round(mark.width)}" height="0.6"/>`;
    case "code": {
      const boxes = codeRectangles(mark).map((box) => box.map(round));
      const path = boxes.map(([x, y, width, height]) => `M${x} ${y}h${width}v${height}h-${width}z`).join("");
      return `<path transform="translate(${round(mark.x)} ${round(top + mark.y)})" d="${path}" shape-rendering="crispEdges"/>`;
    }
    case "stamp": {
      const { x, y, size, angle, text } = mark;
      const style = styleOf({ text, font: "sans" }, size);
      return `<text ${at} ${style} fill="${STAMP}" transform="rotate(${-angle} ${round(x)} ${round(top + y)})">${escapeXml(text)}</text>`;
    }
  }
}

/** Sets a line's length, so that it stays the same in another font. */
function styleOf(run: Run, size: number): string {
  const weight = run.font === "bold" ? ' font-weight="700"' : "";
  const length = round(runsWidth([run], size));
  const scaled = round(fontSize(run.font, size));
  return `font-family="${FAMILIES[run.font]}" font-size="${scaled}"${weight} textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
}

/**
 * Returns the dark modules of a code as rectangles, one for each horizontal run, so that no seam shows between two
 * modules.
 */
export function codeRectangles({ module, dark }: Extract<Mark, { kind: "code" }>): [number, number, number, number][] {
  return dark.flatMap((row, line) => {
    const runs = row
      .map((isDark) => (isDark ? "#" : " "))
      .join("")
      .matchAll(/#+/g);
    return Array.from(runs, ({ index, 0: run }) => [index * module, line * module, run.length * module, module]);
  });
}

/** Rounds to a thousandth of a point. */
export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
