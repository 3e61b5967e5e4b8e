import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { cpuTime, startLoad } from "./load.ts";
import { median } from "./measure.ts";
import { paidRequests, ROUND_MS } from "./purchase.ts";
import { settingsIn, startClone, startNetworks } from "./server.ts";

/*
 * npm run bench:revisions -- CLONE CLONE ...
 *
 * CPU time of a paid call by services of several revisions, in turn in one run: each argument is the folder of a clone in which
 * `npm ci` has run. They share this revision's sandbox, facilitator and load, and each has a journal and keys of its own.
 */

const PAYMENTS = 400;
const AT_ONCE = 200;
const TURNS = 5;
/** Payments of the turn that does not count, in which code is compiled. */
const WARM_UP = 150;
/** In which what a call leaves to be done later, such as packing and its evidence, is done. */
const AFTER_MS = 2_500;

const clones = process.argv.slice(2);
if (clones.length === 0) throw new Error("name the folders of clones, in which npm ci has run");

await using ends = new AsyncDisposableStack();
const networks = ends.use(await startNetworks(ROUND_MS));
const load = ends.use(startLoad());
const services = [];
for (const [index, clone] of clones.entries()) {
  const settings = await settingsIn(join(networks.dir, `${index}`), networks.sandbox);
  services.push({ clone, server: ends.use(await startClone(resolve(clone), settings)), micros: [] as number[] });
}

for (let turn = -1; turn < TURNS; turn++) {
  // Each is first in every other turn, so that whatever else the machine does meets all alike.
  for (const { server, micros } of turn % 2 === 0 ? services : services.toReversed()) {
    const requests = await paidRequests(server, networks, turn < 0 ? WARM_UP : PAYMENTS);
    const before = await cpuTime(server.pid);
    const how = { connections: AT_ONCE, rampMs: 2 * ROUND_MS, status: 200 };
    const { answered } = await load.run(server.url, requests, how);
    await setTimeout(AFTER_MS);
    if (turn >= 0) micros.push(((await cpuTime(server.pid)) - before) / 1000 / answered);
  }
}

console.log("µs of CPU time for a paid call, median, lowest and highest");
for (const { clone, micros } of services) {
  const figures = [median(micros), Math.min(...micros), Math.max(...micros)];
  console.log(`${clone}: ${figures.map((figure) => Math.round(figure).toLocaleString("en")).join(", ")}`);
}
