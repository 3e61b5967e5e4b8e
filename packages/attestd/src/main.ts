import { keepCompiledCode, readEnvironment } from "./environment.ts";
import { EXIT, fileTrouble } from "./failure.ts";

const environment = readEnvironment();

let lost: NodeJS.ErrnoException | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever read our output may be gone, as `| head` is; what we were asked to do is done nevertheless.
    if (error.code !== "EPIPE") lost ??= error;
  });
}
process.on("exit", () => {
  if (lost === undefined) return;
  environment.err.line(`attestd: the output is not whole. ${fileTrouble(lost)}`);
  process.exitCode ||= EXIT.unreadable;
});

// In a folder of the user's own: in Node's default, a shared one, others could leave code.
keepCompiledCode(environment.cacheFolder);
const { run } = await import("./cli.ts");
process.exitCode = await run(process.argv.slice(2), environment);
// An open standard input, or a request that nobody waits for any more, would hold the process.
if (process.exitCode === EXIT.interrupted) process.exit();
