/** Strokes on a grid of 16 by 16 for each character: not every font has these characters. */
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

/** An icon beside a word with the same meaning, hidden from screen readers. @param sign one character, or several side by side */
export function icon(sign: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const shapes = [...sign];
  const attributes = { viewBox: `0 0 ${16 * shapes.length} 16`, class: "icon", "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  if (shapes.length > 1) svg.classList.add("wide");
  for (const [index, shape] of shapes.entries()) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", SHAPES[shape as keyof typeof SHAPES] ?? "");
    path.setAttribute("transform", `translate(${16 * index} 0)`);
    svg.append(path);
  }
  return svg;
}
