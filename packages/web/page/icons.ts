/** Strokes on a grid of 16 by 16: not every font has these characters. */
const SHAPES = {
  "✓": "m3 8.5 3.5 3.5L13 4.5",
  "✕": "m4 4 8 8m0-8-8 8",
  "⚠": "M8 2 1.5 13.5h13zM8 6.5v3.2m0 2v.1",
  "?": "M5.2 5.8A2.8 2.8 0 1 1 8 8.6v1.6m0 2.6v.1",
  "–": "M4 8h8",
  "›": "m6 4 4 4-4 4",
  "·": "M8 8v.1",
} as const;

const SVG = "http://www.w3.org/2000/svg";

/** An icon beside a word with the same meaning, hidden from screen readers. */
export function icon(sign: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }))
    svg.setAttribute(name, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", SHAPES[sign as keyof typeof SHAPES] ?? "");
  svg.append(path);
  return svg;
}
