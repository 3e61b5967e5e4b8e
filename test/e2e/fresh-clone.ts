import { execFile } from "node:child_process";
import { statfsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";

export const ROOT = resolve(import.meta.dirname, "../..");
/** The packages of this workspace that are published. */
const PUBLISHED = ["proof", "client"] as const;
/** Files of builds and tests, which `git clone` does not bring. */
const LEFT_OVER = ["node_modules", "dist", "package.json.workspace"];

/** Runs a command to its end; its error has the output. Commands are found as in an npm script. */
export async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` };
  const { stdout } = await promisify(execFile)(command, args, { cwd, env });
  return stdout;
}

export type FreshClone = AsyncDisposable & {
  /** A folder for the files of a test. */
  folder: string;
  /** The workspace: the packages that are published, as after `git clone` and `npm ci`. */
  workspace: string;
};

/** npm installs thousands of files. A folder in memory, if Linux has one that is large enough, takes half the time. */
function scratchFolder(): string {
  const memory = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 2 ** 30 ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A copy, so that packing does not disturb other tests. The installed packages are links. */
export async function freshClone(): Promise<FreshClone> {
  const folder = await mkdtemp(join(scratchFolder(), "attestd-published-"));
  const workspace = join(folder, "workspace");
  const isCloned = (path: string) => !LEFT_OVER.includes(basename(path));
  for (const path of ["package.json", "tsconfig.json", "build", ...PUBLISHED.map((name) => `packages/${name}`)])
    await cp(join(ROOT, path), join(workspace, path), { recursive: true, filter: isCloned });
  await linkInstalled(join(workspace, "node_modules"), ["@attestd"]);
  for (const name of PUBLISHED) await link(`../../packages/${name}`, join(workspace, "node_modules/@attestd", name));
  return { folder, workspace, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Makes a node_modules of links to the packages that are installed here, without some names. */
export async function linkInstalled(target: string, except: string[]): Promise<void> {
  const installed = join(ROOT, "node_modules");
  for (const name of await readdir(installed))
    if (!except.includes(name)) await link(join(installed, name), join(target, name));
}

async function link(to: string, path: string): Promise<void> {
  await mkdir(resolve(path, ".."), { recursive: true });
  await symlink(to, path);
}
