import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { ARCHIVES, NotTried, run } from "./files.ts";

/** Starts the sandbox, pastes the command that it prints, verifies what it bought, and ends, with a shell and nothing else. */
const SCRIPT = `
{ "$0" sandbox 2>&1 & } | {
  while read -r line; do
    case $line in *" attest "*) buy=$line;; *listening*) break;; *✕*|attestd:*) echo "$line";; esac
  done
  eval "$buy" && "$0" verify 0x*.json --keys .attestd/keys.json
}`;

/**
 * Makes a purchase from the archives by bubblewrap, in an empty root that is read-only but for one folder, with the C++ runtime and a
 * shell, without a network, capabilities, environment, or a known user.
 */
export async function purchaseInNoSystem(unpacked: string): Promise<string> {
  if (spawnSync("bwrap", ["--version"]).error) throw new NotTried("there is no bwrap on PATH");
  await using data = await temporaryFolder();
  const top = join("/opt", "é and spaces", ARCHIVES.top);
  const real = join(unpacked, ARCHIVES.top);
  const programs = ["lib/node", "lib/sandbox/anvil", "lib/sandbox/litesvm.node"].map((path) => join(real, path));
  const libraries = new Set(run("ldd", [...programs, "/bin/sh"]).match(/(?<=\s)\/\S*\.so\S*(?= \()/g));
  const out = run("bwrap", [
    ...["--unshare-all", "--unshare-user", "--uid", "52345", "--gid", "52345", "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session", "--clearenv", "--setenv", "LANG", "C.UTF-8"],
    ...[...libraries, "/bin/sh"].flatMap((path) => ["--ro-bind", path, path]),
    ...["--ro-bind", real, top, "--proc", "/proc", "--dev", "/dev"],
    ...["--bind", data.path, "/data", "--remount-ro", "/", "--chdir", "/data"],
    ...["/bin/sh", "-c", SCRIPT, join(top, "bin/attestd")],
  ]);
  if (!out.includes("Verified") || !out.includes("✓ paid") || out.includes("TAKEN")) throw new Error(out);
  return `${libraries.size} libraries and a shell beside it`;
}
