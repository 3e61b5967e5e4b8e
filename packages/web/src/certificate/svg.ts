import { escapeXml, SVG_BUNDLE_ID, SVG_MAKING_ID } from "../bundle-file.ts";
import { type Mark, type Sheet, textWidth } from "./layout.ts";

const FAMILIES = {
  sans: "Helvetica, Arial, 'Liberation Sans', sans-serif",
  mono: "Courier, 'Courier New', 'Liberation Mono', monospace",
} as const;
const STAMP = "#d8d8d8";

/** What a certificate carries beside its visible text. */
export type Carried = {
  /** UTF-8 of the bundle's JSON. */
  bundle: Uint8Array;
  /** From `writeMaking`. */
  making: string;
  title: string;
};

/** A sheet as SVG that carries its bundle. */
export function toSvg({ width, height, marks }: Sheet, { bundle, making, title }: Carried): string {
  const json = escapeXml(new TextDecoder().decode(bundle));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<metadata id="${SVG_BUNDLE_ID}">${json}</metadata>`,
    `<metadata id="${SVG_MAKING_ID}">${escapeXml(making)}</metadata>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...marks.map(element),
    "</svg>\n",
  ].join("\n");
}

function element(mark: Mark): string {
  switch (mark.kind) {
    case "text": {
      const { x, y, size, font, text } = mark;
      // A line keeps its length even when the viewer has another font.
      const length = round(textWidth(text, font, size));
      return `<text x="${round(x)}" y="${round(y)}" font-family="${FAMILIES[font]}" font-size="${size}" fill="#000" textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${escapeXml(text)}</text>`;
    }
    case "rule":
      return `<rect x="${round(mark.x)}" y="${round(mark.y)}" width="${round(mark.width)}" height="0.6"/>`;
    case "code": {
      const boxes = codeRectangles(mark).map((box) => box.map(round));
      const path = boxes.map(([x, y, width, height]) => `M${x} ${y}h${width}v${height}h-${width}z`).join("");
      return `<path transform="translate(${round(mark.x)} ${round(mark.y)})" d="${path}" shape-rendering="crispEdges"/>`;
    }
    case "stamp": {
      const { x, y, size, angle, text } = mark;
      return `<text x="${round(x)}" y="${round(y)}" font-family="${FAMILIES.sans}" font-size="${size}" fill="${STAMP}" textLength="${round(textWidth(text, "sans", size))}" lengthAdjust="spacingAndGlyphs" transform="rotate(${-angle} ${round(x)} ${round(y)})">${escapeXml(text)}</text>`;
    }
  }
}

/** The dark modules of a code: one rectangle for each run of modules, so that no seam is visible between two. */
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
