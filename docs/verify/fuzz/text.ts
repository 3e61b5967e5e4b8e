import type { Random } from "./random.ts";
import type { Json } from "./values.ts";

/* Spellings of JSON: what the text says stays mostly as it is. */

/** How a value is written. Each is used at one or more places by chance. */
type Style = { order: boolean; space: string; escape: boolean; twice: boolean; number: boolean };

const SPACES = [" ", "\n", "\t", "\r\n", " \t ", "\f", "\v", "\u00a0", "\ufeff", "\u2028", "/**/", "\u0000"];
const NUMBERS: ((digits: string) => string)[] = [
  (digits) => `${digits}.0`,
  (digits) => `${digits}e0`,
  (digits) => `${digits}E+0`,
  (digits) => `${digits}0e-1`,
  (digits) => `${digits}.00000000000000000001`,
  (digits) => `0${digits}`,
  (digits) => `+${digits}`,
  (digits) => `-${digits}`,
  (digits) => `${digits}.`,
  (digits) => `0x${digits}`,
  (digits) => `${digits}n`,
  (digits) => `${digits[0]}_${digits.slice(1)}`,
  (digits) => `${Number(digits) / 1000}e3`,
  (digits) => `${digits}e-400`,
  () => "-0",
  () => "-0.0",
  () => "0e5",
  () => "1e400",
  () => "9007199254740992",
  () => "9007199254740993",
  () => "9007199254740991.4",
  () => "18446744073709551616",
  () => "NaN",
  () => "Infinity",
  () => "-Infinity",
  () => "1".repeat(5000),
  () => "-",
];

/** The text of a value, spelled by chance. */
export function spell(random: Random, value: Json): string {
  const style: Style = { order: false, space: "", escape: false, twice: false, number: false };
  for (let times = 1 + random.below(2); times > 0; times--) {
    random.weigh<() => unknown>([
      [2, () => Object.assign(style, { order: true })],
      [
        2,
        () =>
          Object.assign(style, {
            space: random.weigh([
              [4, random.pick(SPACES.slice(0, 5))],
              [1, random.pick(SPACES)],
            ]),
          }),
      ],
      [3, () => Object.assign(style, { escape: true })],
      [2, () => Object.assign(style, { twice: true })],
      [3, () => Object.assign(style, { number: true })],
    ])();
  }
  return write(random, value, style, { left: 1 + random.below(12) });
}

/** @param turns counts down to the place where what is wrong is put */
function write(random: Random, value: Json, style: Style, turns: { left: number }): string {
  const space = () => (style.space && random.once(4) ? style.space : "");
  const isTurn = () => --turns.left === 0;
  if (typeof value === "number") {
    const digits = JSON.stringify(value);
    return style.number && random.once(2) ? random.pick(NUMBERS)(digits) : digits;
  }
  if (typeof value === "string") return style.escape ? escaped(random, value) : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item) => `${space()}${write(random, item, style, turns)}${space()}`).join(",")}]`;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = () =>
      `${space()}${style.escape ? escaped(random, name) : JSON.stringify(name)}${space()}:${space()}${write(random, member, style, turns)}${space()}`;
    return style.twice && isTurn() ? [another(random, name, text()), text()] : [text()];
  });
  return `{${(style.order ? random.shuffle(members) : members).join(",")}}`;
}

/** The member once more, by the same name, an escaped one or another. */
function another(random: Random, name: string, text: string): string {
  const escapedName = `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"`;
  const other = random.pick(["null", "1", '"a"', "{}", "[]", '{"a":1}', '"\\":"']);
  return random.pick([
    text,
    `"${name}":${other}`,
    `${escapedName}:${other}`,
    `"__proto__":${other}`,
    `"x":${other}`,
    `"${name}\\u0000":${other}`,
  ]);
}

function escaped(random: Random, text: string): string {
  const unit = (character: string) => {
    const digits = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${random.once(2) ? digits : digits.toUpperCase()}`;
  };
  const one = (character: string) => {
    if (character === "/" && random.once(3)) return "\\/";
    if (random.once(40)) return unit(character);
    if (random.once(3000))
      return random.pick([
        "\\x41",
        "\\'",
        "\\a",
        "\\0",
        "\n",
        "\t",
        "\u007f",
        "\\u12",
        "\\uD800",
        "\\ud83d\\ude00",
        "\\U0041",
      ]);
    return JSON.stringify(character).slice(1, -1);
  };
  return `"${text.split("").map(one).join("")}"`;
}

const BYTES = [
  "efbbbf",
  "ff",
  "fe",
  "80",
  "c0af",
  "c080",
  "eda080",
  "eda080edb080",
  "f4908080",
  "f8808080",
  "e282",
  "00",
  "c2a0",
  "0c",
  "7f",
  "e2808b",
];
const INSERTS = ["{", "}", "[", "]", ",", ":", '"', "\\", "null", "0", " ", "//", "\u0000"];

/** The text's bytes, wrong where no attestor has a say: in their encoding, their end or their middle. */
export function spoil(random: Random, text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length + 1);
  const insert = (what: Uint8Array) => Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);
  const odd = Buffer.from(random.pick(BYTES), "hex");
  if (random.once(200))
    return Buffer.from(text.replace("{", `{${" ".repeat(2 ** 21 - bytes.length - 1 + random.below(3))}`));
  const deep = random.pick([15, 16, 17, 200, 20_000]);
  return random.weigh<() => Uint8Array>([
    [3, () => insert(odd)],
    [2, () => insert(Buffer.from(random.pick(INSERTS)))],
    [2, () => Buffer.from(bytes).fill(random.below(256), at, Math.min(at + 1, bytes.length))],
    [1, () => bytes.subarray(0, at)],
    [1, () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])],
    [1, () => Buffer.concat([odd, bytes])],
    [1, () => Buffer.concat([bytes, odd])],
    [1, () => Buffer.concat([bytes, Buffer.from(random.pick([" ", "\n", ",", "}", "{}", "null", "\u0000", "\n\n"]))])],
    [1, () => Buffer.from(text.replace("{", `{"x":${"[".repeat(deep)}${"]".repeat(deep)},`))],
    [
      1,
      () =>
        Buffer.from(
          text.replace(
            /"note":"/,
            `"note":"${random.pick(["\\ud800", "\\udc00", "\\ud83d\\ude00", "\\u0000", "\\ufeff"])}`,
          ),
        ),
    ],
    [1, () => Buffer.from(text.replace('"', "'"))],
    [1, () => Buffer.from(text, "utf16le")],
    [1, () => Buffer.concat([bytes, bytes])],
  ])();
}
