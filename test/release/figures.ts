import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aligned } from "../crash/table.ts";
import { ROOT, run } from "./files.ts";
import type { sizes } from "./size.ts";
import type { startFigures } from "./start.ts";

const PAGE = join(ROOT, "docs/installing.md");
const SECTION = /(<!-- the last figures -->)[\s\S]*(<!-- end of the figures -->)/;

/** What the archive takes beside the sources, as a page has it. */
export function figuresTable(size: ReturnType<typeof sizes>, start: Awaited<ReturnType<typeof startFigures>>): string {
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  const ms = (time: number) => `${Math.round(time)} ms`;
  const row = (what: string, packed: string, sources: string) => [what, packed, sources];
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const revision = run("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT }).trim();
  return [
    `\`npm run test:dist\`, ${new Date().toISOString().slice(0, 10)}, attestd ${version}, revision ${revision}, ${process.platform}-${process.arch}:`,
    "",
    ...aligned(
      ["", "Release archive", "Clone, `npm ci --omit=dev`"],
      [
        row("on disk, Node in it", `${mb(size.packed.bytes)}, of which ${mb(size.ours)} ours`, mb(size.sources.bytes)),
        row("files", `${size.packed.files}`, `${size.sources.files}`),
        row("start of `attestd serve` until it listens, the fastest of ten", ms(start.packed.ms), ms(start.sources.ms)),
        row("the same in CPU time, the median", ms(start.packed.cpuMs), ms(start.sources.cpuMs)),
        row("resident memory, idle for 10 s", mb(start.packed.rss), mb(start.sources.rss)),
      ],
    ),
  ].join("\n");
}

/** Puts a table into docs/installing.md. */
export function record(text: string): void {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(SECTION, (_, from, to) => `${from}\n\n${text}\n\n${to}`),
  );
}
