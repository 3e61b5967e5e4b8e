/**
 * Makes what every certificate embeds: three fonts with the characters of ASCII alone, and a colour profile. Run after a
 * change of their packages, and commit what it writes; the bytes of every certificate follow from it, so `LAYOUT` increases:
 *
 *     node packages/web/fonts/embed.ts
 *
 * Arimo and Cousine (SIL Open Font License 1.1) are as wide as Arial and Courier New, so that an SVG without them looks
 * alike. `sRGB-v2-micro.icc` is saucecontrol's (CC0 1.0).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { deflateSync } from "node:zlib";

const FONTS = {
  sans: "@fontsource/arimo/files/arimo-latin-400-normal.woff2",
  bold: "@fontsource/arimo/files/arimo-latin-700-normal.woff2",
  mono: "@fontsource/cousine/files/cousine-latin-400-normal.woff2",
} as const;
const NAMES = { sans: "Arimo-Regular", bold: "Arimo-Bold", mono: "Cousine-Regular" } as const;
const ASCII = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join("");
/** Copyright, family, style, id, full name, version, PostScript name, licence and its address (OpenType, `name`). */
const NAME_IDS = [0, 1, 2, 3, 4, 5, 6, 13, 14];

/** The TrueType file of a font with the characters of ASCII. */
export async function subsetOf(font: keyof typeof FONTS): Promise<Buffer> {
  // @ts-expect-error: it has no types
  const { default: subset } = await import("subset-font");
  const file = createRequire(import.meta.url).resolve(FONTS[font]);
  return subset(readFileSync(file), ASCII, { targetFormat: "truetype", preserveNameIds: NAME_IDS });
}

/** Reads a font's measures (OpenType 1.9), in thousandths of its size, as PDF has them (ISO 32000-1, 9.8). */
export function embedded(name: string, file: Buffer) {
  const table = (tag: string) => {
    for (let at = 12; at < 12 + file.readUInt16BE(4) * 16; at += 16)
      if (file.toString("latin1", at, at + 4) === tag) return file.subarray(file.readUInt32BE(at + 8));
    throw new Error(`${name} has no table ${tag}`);
  };
  const [head, hhea, os2, hmtx, post] = ["head", "hhea", "OS/2", "hmtx", "post"].map(table) as Buffer[] & { length: 5 };
  const thousandths = (units: number) => Math.round((units * 1000) / (head as Buffer).readUInt16BE(18));
  const metrics = (hhea as Buffer).readUInt16BE(34);
  const advance = (glyph: number) => (hmtx as Buffer).readUInt16BE(Math.min(glyph, metrics - 1) * 4);
  const glyphs = glyphsOf(table("cmap"));
  return {
    name,
    // Of U+0020 to U+007E.
    widths: [...ASCII].map((character) => thousandths(advance(glyphs(character.charCodeAt(0))))),
    box: [36, 38, 40, 42].map((at) => thousandths((head as Buffer).readInt16BE(at))),
    ascent: thousandths((hhea as Buffer).readInt16BE(4)),
    descent: thousandths((hhea as Buffer).readInt16BE(6)),
    capHeight: thousandths((os2 as Buffer).readInt16BE(88)),
    isFixedPitch: (post as Buffer).readUInt32BE(12) !== 0,
    length: file.length,
    // The TrueType file: zlib, base64.
    deflated: deflateSync(file, { level: 9 }).toString("base64"),
  };
}

/** The glyph of a character, by the subtable of format 4 for Windows that PDF readers use too. */
function glyphsOf(cmap: Buffer): (code: number) => number {
  for (let at = 4; at < 4 + cmap.readUInt16BE(2) * 8; at += 8) {
    if (cmap.readUInt32BE(at) !== 0x0003_0001) continue;
    const subtable = cmap.subarray(cmap.readUInt32BE(at + 4));
    const doubled = subtable.readUInt16BE(6);
    return (code) => {
      for (let segment = 0; segment < doubled; segment += 2) {
        if (subtable.readUInt16BE(14 + segment) < code) continue;
        const start = subtable.readUInt16BE(16 + doubled + segment);
        const delta = subtable.readUInt16BE(16 + 2 * doubled + segment);
        const place = 16 + 3 * doubled + segment;
        const offset = subtable.readUInt16BE(place);
        if (start > code) break;
        const glyph = offset === 0 ? code : subtable.readUInt16BE(place + offset + 2 * (code - start));
        return (glyph + delta) & 0xffff;
      }
      throw new Error(`no glyph of ${code}`);
    };
  }
  throw new Error("no Unicode cmap");
}

if (import.meta.main) {
  const entries = Object.keys(FONTS).map(async (font) => {
    const key = font as keyof typeof FONTS;
    return [key, embedded(NAMES[key], await subsetOf(key))] as const;
  });
  const profile = readFileSync(new URL("sRGB-v2-micro.icc", import.meta.url)).toString("base64");
  const contents = { fonts: Object.fromEntries(await Promise.all(entries)), profile };
  writeFileSync(new URL("embedded.compiled.json", import.meta.url), `${JSON.stringify(contents, null, 1)}\n`);
}
