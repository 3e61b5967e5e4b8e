import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { startService } from "@attestd/service";

/** The service of a sandbox, with another limit on the paid calls that it carries at one time. */
const [settingsFile, maxInFlight] = process.argv.slice(2) as [string, string];
const settings = parseEnv(readFileSync(settingsFile, "utf8"));
const { url } = await startService(settings, { sandbox: true, maxInFlight: Number(maxInFlight) });
process.send?.({ ready: url });
process.once("disconnect", () => process.exit());
