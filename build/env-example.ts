// Writes .env.example from the table of settings in docs/operating/settings.md: `node build/env-example.ts`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const WIDTH = 100;

/** The text of .env.example: every setting with its meaning; those that are required, or have no default, are empty. */
export function envExample(): string {
  const page = readFileSync(at("docs/operating/settings.md"), "utf8");
  const [table = ""] = page.split("\n## ");
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  return [HEAD, ...rows.map(entry)].join("\n\n").concat("\n");
}

const HEAD = `# Settings of attestd. Copy to a file that only its user can read (chmod 600), fill in what is required,
# check it with \`attestd doctor --env FILE\`, and start with \`attestd serve --env FILE\`.
# A line that begins with # keeps the default.
# docs/operating/settings.md says more; docs/first-sale.md goes through them in order.
# A name that ends in _FILE names a file that has the value: use it for secrets.`;

/** A row of the table: its names, their defaults in the same order, their meaning. */
function entry(row: string): string {
  const [names = "", defaults = "", meaning = ""] = row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  // A default that is a name is that setting's value.
  const values = codes(defaults).filter((value) => !/^[A-Z_]+$/.test(value));
  const isRequired = meaning.includes("required");
  const lines = codes(names).flatMap((name, index) => {
    const value = values.length > index ? values[index] : "";
    const plain = name.replace("[_FILE]", "");
    // The first of a required row is what is required: a URL, and not its token.
    const line = `${isRequired && index === 0 ? "" : "# "}${plain}=${value}`;
    return name.endsWith("[_FILE]") ? [line, `# ${plain}_FILE=`] : [line];
  });
  const fallback = values.length === 0 && defaults !== "" ? ` Default: ${defaults.replaceAll("`", "")}.` : "";
  return [...comment(`${sentence(meaning)}${fallback}`), ...lines].join("\n");
}

function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
}

function sentence(meaning: string): string {
  const plain = meaning.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
  const isWord = /^[a-z]+[ ,]/.test(meaning);
  return `${isWord ? plain.charAt(0).toUpperCase() : plain.charAt(0)}${plain.slice(1)}.`;
}

/** Comment lines of at most `WIDTH` characters. */
function comment(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) as string;
    if (`# ${last} ${word}`.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `# ${line}`);
}

if (import.meta.main) writeFileSync(at(".env.example"), envExample());
