import { fork, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox } from "@attestd/sandbox";
import { sandboxFolder } from "../packages/attestd/src/sandbox-folder.ts";
import { newServiceSettings, writeSettings } from "../packages/attestd/src/sandbox-settings.ts";
import { cpuTime, startLoad } from "./load.ts";
import { paidRequests } from "./purchase.ts";

const PAYMENTS = Number(process.argv[2]), AT_ONCE = 200, TURNS = Number(process.argv[3]);
const revs = process.argv.slice(4);
const sandbox = await startSandbox({ roundMs: 1000, networks: [] });
const servers: Record<string, { url: string; pid: number; kill(): void }> = {};
for (const rev of revs) {
  const dir = await mkdtemp(join(tmpdir(), "rev-"));
  const folder = sandboxFolder(dir);
  await mkdir(folder.data);
  const settings = newServiceSettings(sandbox, folder, { host: "127.0.0.1", port: 0 });
  await writeSettings(folder, { ...settings, LOG_LEVEL: "error" });
  const main = rev === "HEAD" ? "/work/main" : `/tmp/rooms/rev-${rev}`;
  const child = fork(`${main}/packages/attestd/src/main.ts`, ["serve", "--sandbox", "--env", folder.settings], { execArgv: process.env.PROF ? ["--cpu-prof","--cpu-prof-dir="+process.env.PROF] : [], cwd: main, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [m] = (await Promise.race([once(child, "message"), once(child, "exit")])) as any;
  if (!m?.ready) { console.log(rev, "did not start"); continue; }
  servers[rev] = { url: m.ready, pid: child.pid as number, kill: () => child.kill("SIGTERM") };
}
await using load = startLoad();
const found: Record<string, number[]> = {};
for (let turn = 0; turn < TURNS; turn++) {
  const names = Object.keys(servers);
  if (turn % 2) names.reverse();
  for (const rev of names) {
    const server = servers[rev]!;
    try {
      const requests = await paidRequests(server as never, { sandbox } as never, turn === 0 ? 150 : PAYMENTS);
      const before = await cpuTime(server.pid);
      const { answered } = await load.run(server.url, requests, { connections: AT_ONCE, rampMs: 2000, status: 200 } as never);
      const us = ((await cpuTime(server.pid)) - before) / 1000 / answered;
      if (turn > 0) (found[rev] ??= []).push(us);
      console.log(turn, rev, Math.round(us));
    } catch (e) { console.log(turn, rev, String(e).slice(0, 200)); }
  }
}
for (const [rev, us] of Object.entries(found)) {
  const s = us.toSorted((a, b) => a - b);
  console.log(rev, "median", Math.round(s[Math.floor(s.length / 2)]!), s.map(Math.round).join(" "));
}
for (const s of Object.values(servers)) s.kill();
await sandbox.close();
await new Promise((r)=>setTimeout(r,3000)); process.exit(0);
