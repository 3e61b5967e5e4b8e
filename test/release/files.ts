import { spawnSync } from "node:child_process";
import { join } from "node:path";
import packageJson from "../../packages/attestd/package.json" with { type: "json" };

export const ROOT = join(import.meta.dirname, "../..");
export const DIST = join(ROOT, "dist");

const PLATFORM = `${process.platform}-${process.arch}`;
const [COMMAND, SANDBOX] = [
  `attestd-${packageJson.version}-${PLATFORM}`,
  `attestd-sandbox-${packageJson.version}-${PLATFORM}`,
];

/** Names of this platform's archives; `top` is the folder in both. */
export const ARCHIVES = Object.assign([`${COMMAND}.tar.gz`, `${SANDBOX}.tar.gz`], { top: COMMAND });

/** Why a check was not made here. */
export class NotTried extends Error {}

type Options = { cwd?: string; env?: NodeJS.ProcessEnv; input?: string };

/** What a program writes to its output. @throws Error with all that it wrote, when it fails */
export function run(program: string, args: readonly string[], options: Options = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? status}\n${stdout}${stderr}`);
  return stdout;
}
