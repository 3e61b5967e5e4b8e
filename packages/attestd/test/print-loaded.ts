import { registerHooks } from "node:module";

// Preloaded by a test: prints the URL of every module that the process loads from a file.
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:")) process.stderr.write(`${url}\n`);
    return nextLoad(url, context);
  },
});
