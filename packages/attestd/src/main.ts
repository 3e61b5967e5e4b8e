import { keepCompiledCode, readEnvironment } from "./environment.ts";

// Whoever read our output may be gone, as `| head` is; what we were asked to do is done nevertheless.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const environment = readEnvironment();
// In a folder of the user's own: in Node's default, a shared one, others could leave code.
keepCompiledCode(environment.cacheFolder);
const { run } = await import("./cli.ts");
process.exitCode = await run(process.argv.slice(2), environment);
