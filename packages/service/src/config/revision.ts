import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Defined by the build of the release archive, and nowhere else: "" where it was not built from a clone. */
declare const RELEASE_REVISION: string | undefined;

/** The commit that this code is of, 40 hex characters: of the release, or of the clone. @returns undefined where unknown */
export function revisionOf(root = join(import.meta.dirname, "../../../..")): string | undefined {
  const found = typeof RELEASE_REVISION === "undefined" ? headOf(join(root, ".git")) : RELEASE_REVISION;
  return found !== undefined && /^[0-9a-f]{40}$/.test(found) ? found : undefined;
}

/** The commit of HEAD (gitrepository-layout(5)), without a git that may be absent. */
function headOf(git: string): string | undefined {
  // In a work tree, `.git` is a file that names the folder.
  const folder = read(git)?.match(/^gitdir: (.+)$/m)?.[1] ?? git;
  const head = read(join(folder, "HEAD"))?.trim();
  const ref = head?.match(/^ref: (refs\/[\w./-]+)$/)?.[1];
  if (ref === undefined) return head;
  const common = resolve(folder, read(join(folder, "commondir"))?.trim() ?? ".");
  const packed = read(join(common, "packed-refs"))
    ?.split("\n")
    .find((line) => line.endsWith(` ${ref}`));
  return read(join(common, ref))?.trim() ?? packed?.split(" ")[0];
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
