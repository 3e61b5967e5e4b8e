import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const STYLE = readFileSync(new URL("../style.css", import.meta.url), "utf8");

/** Pairs of colours, and the lowest contrast allowed in the light and in the dark theme. */
const CONTRASTS: [ink: string, paper: string, light: number, dark: number][] = [
  ["text", "page", 17.6, 15.6],
  ["muted", "page", 6.0, 6.5],
  ["accent", "page", 6.3, 6.8],
  ["passed", "passed-page", 5.9, 7.8],
  ["caution", "caution-page", 6.8, 8.7],
  ["failed", "failed-page", 6.4, 7.7],
  ["border", "page", 3.1, 4.3],
  ["on-accent", "accent", 4.5, 4.5],
  ["muted", "passed-page", 4.5, 4.5],
  ["muted", "caution-page", 4.5, 4.5],
  ["muted", "failed-page", 4.5, 4.5],
];

test.each(CONTRASTS)("%s on %s has enough contrast", (ink, paper, light, dark) => {
  for (const [theme, least] of [light, dark].entries()) {
    const found = contrast(colour(ink, theme), colour(paper, theme));
    expect(Math.round(found * 10) / 10, theme === 0 ? "light" : "dark").toBeGreaterThanOrEqual(least);
  }
});

test("the page has four font sizes", () => {
  const sizes = [...STYLE.matchAll(/font(?:-size)?: (\d+)px/g)].map(([, size]) => Number(size));
  expect([...new Set(sizes)].sort()).toEqual([14, 16, 18, 28]);
});

/** @param theme 0 light, 1 dark. @returns red, green and blue, 0 to 1 */
function colour(name: string, theme: number): number[] {
  const pair = new RegExp(`--${name}: light-dark\\((.+), (.+)\\);`).exec(STYLE);
  const hex = pair?.[theme + 1]?.slice(1) ?? "";
  const whole = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
  return [...Uint8Array.fromHex(whole)].map((byte) => byte / 255);
}

/** Contrast ratio of WCAG 2.2. */
function contrast(one: number[], other: number[]): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance of WCAG 2.2. */
function luminance(colour: number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
