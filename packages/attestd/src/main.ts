import { run } from "./cli.ts";
import { readEnvironment } from "./environment.ts";

// Whoever read our output may be gone, as `| head` is; what we were asked to do is done nevertheless.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await run(process.argv.slice(2), readEnvironment());
