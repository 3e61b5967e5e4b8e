import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { DIST, ROOT, run } from "./files.ts";

/**
 * Builds in a copy of the workspace, with another umask, time zone and language. The copy has `.git`, because the archive has the
 * revision in it. @throws Error when a sum differs
 */
export async function buildsAgain(): Promise<void> {
  await using folder = await temporaryFolder();
  const copy = join(folder.path, "elsewhere");
  const isLeftOut = /^(dist|coverage)$/;
  cpSync(ROOT, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !isLeftOut.test(path.slice(ROOT.length + 1)),
  });
  const env = { ...process.env, TZ: "Pacific/Kiritimati", LC_ALL: "C" };
  run("sh", ["-c", "umask 077 && npm run -s dist"], { cwd: copy, env });
  const [first, second] = [DIST, join(copy, "dist")].map((dist) => readFileSync(join(dist, "SHA256SUMS"), "utf8"));
  if (first !== second) throw new Error(`${first}${second}`);
}
