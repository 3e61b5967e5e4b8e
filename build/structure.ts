import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { COMMAND_FLOORS, FLOORS, type Floors } from "./floors.ts";

/*
 * Writes the floors into docs/architecture.md, from the rules that `npm run check` holds every import to:
 * `node build/structure.ts`.
 */

const PAGE = fileURLToPath(new URL("../docs/architecture.md", import.meta.url));
const SECTION = /(<!-- drawn by build\/structure\.ts -->\n)[\s\S]*?(<!-- end of the drawing -->)/;

/** Returns the page with the floors of now. @param page Markdown */
export function withStructure(page: string): string {
  const drawing = [
    "`packages/service/src`:\n",
    drawn(FLOORS),
    "\n`packages/attestd/src`:\n",
    drawn(COMMAND_FLOORS),
  ].join("\n");
  return page.replace(SECTION, (_, head, end) => `${head}\n${drawing}\n${end}`);
}

/** The parts with what they hold, top floor first, with a blank line between floors. */
function drawn(floors: Floors): string {
  const width = Math.max(...floors.flatMap(Object.keys).map((name) => name.length));
  const lines = floors.map((floor) =>
    Object.entries(floor)
      .map(([name, what]) => `${name.padEnd(width)}  ${what}`)
      .join("\n"),
  );
  return `\`\`\`text\n${lines.join("\n\n")}\n\`\`\``;
}

if (import.meta.main) writeFileSync(PAGE, withStructure(readFileSync(PAGE, "utf8")));
