import { EXIT, fileTrouble } from "./failure.ts";
import { keepCompiledCode, readEnvironment } from "./terminal/environment.ts";

const environment = readEnvironment();

let lost: NodeJS.ErrnoException | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of the output may be gone, as with `| head`; the command still does its work.
    if (error.code !== "EPIPE") lost ??= error;
  });
}
process.on("exit", () => {
  if (lost === undefined) return;
  environment.err.line(`attestd: the output is incomplete. ${fileTrouble(lost)}`);
  process.exitCode ||= EXIT.unreadable;
});

// In a folder of the user: in Node's shared default folder others could place code.
if (environment.cacheFolder !== undefined) keepCompiledCode(environment.cacheFolder);
const { run } = await import("./program.ts");
process.exitCode = await run(process.argv.slice(2), environment);
// The channel to a parent process, such as `attestd sandbox`, would keep this process running.
if (process.connected) process.disconnect?.();
// So would an open standard input or an abandoned request.
if (process.exitCode === EXIT.interrupted) process.exit();
