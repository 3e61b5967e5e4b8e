import { flushCompileCache } from "node:module";
import { startService } from "@attestd/service";
import type { Settings } from "../../packages/service/test/settings.ts";
import { type CommitPoint, type Journal, watchCommits } from "./commits.ts";
import { type Vitals, watchVitals } from "./vitals.ts";

/*
 * The service in a child process. It receives one StartMessage, sends its parent its URL and its commits, and ends when
 * its parent ends.
 */

export type StartMessage = {
  settings: Settings;
  killAt?: CommitPoint;
  /** Interval of the vitals it sends, in ms; none unless given. */
  vitalsEveryMs?: number;
};
export type ServiceMessage = { listening: string } | { committed: string } | { vitals: Vitals } | { failed: string };

const send = (message: ServiceMessage) => void process.send?.(message);

process.once("disconnect", () => process.exit(1));
process.once("message", async ({ settings, killAt, vitalsEveryMs }: StartMessage) => {
  const journal = <J extends Journal>(journal: J) =>
    watchCommits(journal, {
      ...(killAt && { killAt }),
      kill: () => process.kill(process.pid, "SIGKILL"),
      committed: (name) => send({ committed: name }),
    });
  try {
    const { url } = await startService(settings, { sandbox: true, journal });
    send({ listening: url });
    if (vitalsEveryMs !== undefined) watchVitals(vitalsEveryMs, (vitals) => send({ vitals }));
    // Node flushes the cache at exit, which a killed process does not reach.
    flushCompileCache();
  } catch (error) {
    send({ failed: (error as Error).message });
  }
});
