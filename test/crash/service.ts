import { flushCompileCache } from "node:module";
import { startService } from "@attestd/service";
import { type CommitPoint, type Journal, watchCommits } from "./commits.ts";
import type { Settings } from "./deployment.ts";
import { type Vitals, watchVitals } from "./vitals.ts";

/*
 * The service in a process of its own, to be killed. It takes one message, its orders, and tells its parent where it
 * listens and what it has committed; it ends with its parent.
 */

export type Orders = {
  settings: Settings;
  killAt?: CommitPoint;
  /** How often it tells how it is, in ms; never unless given. */
  vitalsEveryMs?: number;
};
export type News = { listening: string } | { committed: string } | { vitals: Vitals } | { failed: string };

const tell = (news: News) => void process.send?.(news);

process.once("disconnect", () => process.exit(1));
process.once("message", async ({ settings, killAt, vitalsEveryMs }: Orders) => {
  const journal = <J extends Journal>(journal: J) =>
    watchCommits(journal, {
      ...(killAt && { killAt }),
      kill: () => process.kill(process.pid, "SIGKILL"),
      committed: (name) => tell({ committed: name }),
    });
  try {
    const { url } = await startService(settings, { sandbox: true, journal });
    tell({ listening: url });
    if (vitalsEveryMs !== undefined) watchVitals(vitalsEveryMs, (vitals) => tell({ vitals }));
    // Node does it at exit, to which a killed process does not come.
    flushCompileCache();
  } catch (error) {
    tell({ failed: (error as Error).message });
  }
});
