/** Advance widths of Helvetica (Adobe's core 14 metrics), of U+0020 to U+007E, in thousandths of the size. */
const HELVETICA = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];
/** Every character of Courier has this width. */
const COURIER = 600;

export type Font = "sans" | "mono";

/** Width of ASCII text in points. */
export function textWidth(text: string, font: Font, size: number): number {
  const units = [...text].reduce((sum, character) => {
    return sum + (font === "mono" ? COURIER : (HELVETICA[character.charCodeAt(0) - 0x20] ?? 556));
  }, 0);
  return (units * size) / 1000;
}

/** Breaks text at its spaces into lines no wider than `width`; a wider word gets its own line. */
export function wrap(text: string, font: Font, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer, font, size) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === "" ? lines : [...lines, line];
}
