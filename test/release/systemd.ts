import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { NotTried } from "./files.ts";

const execute = promisify(execFile);
const BOOT = join(import.meta.dirname, "boot-systemd.sh");
const SYSTEMD = "/lib/systemd/systemd";
const START_MS = 20_000;

/** What the units of a service depend on. */
const TARGETS = ["sysinit", "basic", "multi-user", "network-online", "shutdown", "umount"];

/** A system with systemd as its first process. */
export interface System extends AsyncDisposable {
  /** Runs a line of a shell in it, as root. @returns its output. @throws Error with all that it wrote, when it fails */
  run(line: string): Promise<string>;
  /** A file that both sides see in `/shared`. */
  shared(name: string): string;
}

/** @throws NotTried where no systemd can be started */
function requireSystemd(): void {
  if (process.getuid?.() !== 0) throw new NotTried("that takes root");
  if (spawnSync(SYSTEMD, ["--version"]).status !== 0) throw new NotTried(`there is no ${SYSTEMD}`);
  const line =
    "mount --make-rprivate / && mount -t cgroup2 cgroup2 /mnt && mount -t tmpfs tmpfs /mnt && mount -t proc proc /mnt";
  const { status, stderr, error } = spawnSync("unshare", ["--mount", "--pid", "--fork", "sh", "-c", line], {
    encoding: "utf8",
  });
  if (status !== 0) throw new NotTried(`this host lets no system start in it: ${error?.message ?? stderr.trim()}`);
}

/**
 * Starts systemd in namespaces of its own. Only units that are put into /etc/systemd/system are there.
 *
 * @param folder empty; for its files
 * @param archive unpacked, shown in /opt/attestd
 * @param files to be put over this host's, by their paths
 * @throws NotTried where none can be started; Error when it does not start
 */
export async function startSystem(
  folder: string,
  archive: string,
  files: Readonly<Record<string, string>>,
): Promise<System> {
  requireSystemd();
  for (const name of ["files", "units", "shared"]) mkdirSync(join(folder, name));
  for (const name of TARGETS)
    writeFileSync(join(folder, "units", `${name}.target`), "[Unit]\nDefaultDependencies=no\n");
  for (const [path, text] of Object.entries(files)) {
    const at = join(folder, "files", path);
    mkdirSync(join(at, ".."), { recursive: true });
    writeFileSync(at, text, { mode: 0o600 });
  }
  // It ends with this process, whatever ends that.
  const args = ["--pdeathsig", "KILL", "unshare", "--mount", BOOT, folder, archive];
  const outer = spawn("setpriv", args, { stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(outer, "exit");
  const system: System = {
    async run(line) {
      const args = ["--target", `${first()}`, "--mount", "--pid", "--uts", "--ipc", "sh", "-ceu", line];
      const { stdout } = await execute("nsenter", args).catch((error) => {
        throw new Error(`${line}: ${error.code}\n${error.stdout}${error.stderr}`);
      });
      return stdout;
    },
    shared: (name) => join(folder, "shared", name),
    async [Symbol.asyncDispose]() {
      const pid = first();
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      await ended;
    },
  };
  for (let left = START_MS / 100; left > 0 && outer.exitCode === null; left--) {
    await pause(100);
    if (await system.run("systemctl is-system-running").catch(() => undefined)) return system;
  }
  await system[Symbol.asyncDispose]();
  throw new Error(`systemd did not start: ${readFileSync(system.shared("boot.log"), "utf8")}`);

  /** Of systemd, as this host counts: the last in the line of what was started. */
  function first(): number | undefined {
    if (outer.exitCode !== null) return undefined;
    const children = (pid: number): number[] => {
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
      return text.split(" ").filter(Boolean).map(Number);
    };
    for (let pid = outer.pid; pid !== undefined; [pid] = children(pid))
      if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "systemd") return pid;
    return undefined;
  }
}
