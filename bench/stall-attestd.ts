import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { startService } from "@attestd/service";
import { watchStalls } from "./stall-watch.ts";

/** The service of a sandbox, whose event loop is watched. */
const [settingsFile] = process.argv.slice(2) as [string];
const { url } = await startService(parseEnv(readFileSync(settingsFile, "utf8")), { sandbox: true });
watchStalls();
process.send?.({ ready: url });
