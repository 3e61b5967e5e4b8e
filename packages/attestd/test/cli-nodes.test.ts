import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testBundle, testHistory } from "../../../test/bundles/bundles.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { everyCommand, pathOf, program } from "../src/program.ts";
import { environmentOf } from "../src/terminal/environment.ts";

const PROGRAM = program({
  environment: environmentOf({}, process, () => new AbortController().signal),
  finish: () => undefined,
});
/** Every option of every command that names the file of a node's token. */
const TOKEN_FILES = everyCommand(PROGRAM).flatMap((command) => {
  const names = command.options.flatMap(({ long }) => /^--(algod|indexer)-token-file$/.exec(long ?? "")?.[1] ?? []);
  return names.map((node) => [pathOf(command).replace(/^attestd /, ""), node] as const);
});
/** What else each command needs. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  verify: ["b.json", "--keys", "keys.json", "--chain"],
  export: ["b.json", "--keys", "keys.json", "--chain"],
  certificate: ["b.json", "--keys", "keys.json", "--chain"],
  evidence: ["b.json"],
  "checkpoints sync": ["table", "--from", "mainnet-59999744"],
  "keys history": ["--keys", "keys.json"],
  backfill: [],
};

test("every command that asks nodes of one's own is among those", () => {
  expect(new Set(TOKEN_FILES.map(([path]) => path))).toEqual(new Set(Object.keys(ARGUMENTS)));
});

test.each(TOKEN_FILES)("%s refuses --%s-token-file without the node that the token is for", async (path, node) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  await writeFile(join(folder.path, "token"), "SECRET");
  const args = [...path.split(" "), ...(ARGUMENTS[path] ?? []), `--${node}-token-file`, "token"];
  const { code, stderr } = await attestd(args, { cwd: folder.path });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`--${node}-token-file is for --${node}\n`)]);
});
