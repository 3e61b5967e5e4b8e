import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WholeJournal } from "../../packages/service/src/journal/journal.ts";
import { openJournal } from "../../packages/service/src/journal/open.ts";
import { secret, withOver } from "../../packages/service/test/settings.ts";
import { type Deployment, payUntilAnswered, sign, startDeployment } from "../e2e/deployment.ts";
import { baseSources } from "../e2e/many-sources.ts";
import { BASE_USDC, type Rail, type RailName, railsOf } from "../e2e/rails.ts";
import { type Databases, type JournalKind, openDatabases } from "./databases.ts";
import { type Batch, deliver, fillUnfinished, largestBatch } from "./large-rows.ts";
import { createStarter, createTurns, type ServiceProcess } from "./process.ts";
import type { Vitals } from "./vitals.ts";

/*
 * What a stranger bought must not fill the memory of the service, whoever asks for it: a process with a heap of 256 MiB, and a
 * journal with the largest batches that are sold.
 */

const HEAP_MIB = 256;
const TIMES = 1_000;
const AT_ONCE = 50;

let deployment: Deployment;
let databases: Databases;
let rails: Record<RailName, Rail>;
let batch: Batch;
beforeAll(async () => {
  [deployment, databases, batch] = await Promise.all([
    startDeployment(),
    openDatabases(new Set(["sqlite", "postgres"])),
    largestBatch(),
  ]);
  rails = await railsOf(deployment.sandbox);
});
afterAll(() => Promise.all([deployment.close(), databases.close()]));

const start = createStarter(createTurns());

/** Starts a service on a journal. `peak`: its resident memory so far, in MiB; `log`: of errors. */
async function started(databaseUrl: string) {
  const vitals: Vitals[] = [];
  const settings = withOver(deployment.settings, { journal: { url: secret(databaseUrl) }, log_level: "silent" });
  const begun = performance.now();
  const service = await start(settings, {
    heapMiB: HEAP_MIB,
    watch: { everyMs: 100, onVitals: (one) => vitals.push(one) },
  });
  const ms = Math.round(performance.now() - begun);
  const peak = () => Math.round(Math.max(...vitals.map(({ rss }) => rss)));
  return { service, ms, peak };
}

async function filled(databaseUrl: string, fill: (journal: WholeJournal) => Promise<void>): Promise<void> {
  const [kind] = databaseUrl.split(":") as [string];
  const database =
    kind === "sqlite"
      ? ({ kind: "sqlite", path: databaseUrl.slice("sqlite:".length) } as const)
      : ({ kind: "postgres", url: databaseUrl } as const);
  const journal = await openJournal(database, { warn: () => undefined });
  await fill(journal);
  await journal.release();
  await journal.close();
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(() => agent.destroy());

/** @returns status and bytes of a body, which is read as it comes and not kept */
async function ask(url: string, method: string, headers: Record<string, string> = {}, body?: string) {
  const sent = request(url, { method, headers, agent });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let bytes = 0;
  for await (const piece of answer) bytes += piece.length;
  return { status: answer.statusCode, headers: answer.headers, bytes };
}

/** Does something so many times, some at once. @returns how often each status came */
async function statuses(times: number, atOnce: number, once: () => Promise<{ status?: number | undefined }>) {
  const counts: Record<string, number> = {};
  let left = times;
  const worker = async () => {
    while (left-- > 0) {
      const { status } = await once();
      counts[String(status)] = (counts[String(status)] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return counts;
}

describe.each(["sqlite", "postgres"] as const)(
  "a journal in %s with the largest batch that is sold",
  (kind: JournalKind) => {
    test("serves its HEADs, its 304s, strangers' replays of its payment and itself while another one buys", async () => {
      const databaseUrl = await databases.create(kind);
      const items = { items: batch.subject.items.map(({ id: txid }) => ({ txid })) };
      const payload = await sign(`${deployment.url}/attest-batch`, items, rails.base.client);
      const { authorization } = payload.payload as { authorization: { from: string; nonce: string } };
      const key = `eip155:8453/${BASE_USDC}/${authorization.from}/${authorization.nonce}`.toLowerCase();
      await filled(databaseUrl, (journal) => deliver(journal, batch, key, payload));
      const { service, peak } = await started(databaseUrl);
      const dead = service.ended.then((how) => Promise.reject(new Error(`the service ended: ${how}`)));
      dead.catch(() => undefined);
      const alive = <T>(work: Promise<T>) => Promise.race([work, dead]);
      const bundle = `${service.url}/bundles/${batch.bundle.id}`;
      const figures: Record<string, unknown> = {};
      const attack = async (name: string, times: number, atOnce: number, once: () => ReturnType<typeof ask>) => {
        const begun = performance.now();
        const counts = await alive(statuses(times, atOnce, once));
        figures[name] = { ...counts, ms: Math.round(performance.now() - begun), rss: peak() };
        return counts;
      };

      const whole = await alive(ask(bundle, "GET"));
      expect(whole.status).toBe(200);
      expect(whole.bytes).toBe(Number(whole.headers["content-length"]));
      expect(whole.bytes).toBeGreaterThan(6_000_000);
      const [source] = await baseSources(deployment.sandbox, 1);
      const purchase = sign(`${service.url}/attest`, { txid: source }, rails.algorand.client).then((payment) =>
        payUntilAnswered(`${service.url}/attest`, { txid: source }, payment),
      );
      expect(await attack("HEAD", TIMES, AT_ONCE, () => ask(bundle, "HEAD"))).toEqual({ 200: TIMES });
      const etag = { "if-none-match": `"${batch.bundle.id}"` };
      expect(await attack("If-None-Match", TIMES, AT_ONCE, () => ask(bundle, "GET", etag))).toEqual({ 304: TIMES });

      const json = { "content-type": "application/json" };
      const header = (payment: object) => ({
        "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64"),
      });
      const unsigned = { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(65)}` } };
      const replay = (payment: object) => () =>
        ask(`${service.url}/attest-batch`, "POST", { ...json, ...header(payment) }, JSON.stringify(items));
      const strangers = await attack("strangers' replays", 200, AT_ONCE, replay(unsigned));
      expect(strangers["200"]).toBeUndefined();
      const own = await attack("replays", 40, AT_ONCE, replay(payload));
      expect(Object.keys(own).every((status) => ["200", "429", "503"].includes(status))).toBe(true);
      expect(own["200"]).toBeGreaterThan(10);
      const call = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "get_bundle", arguments: { id: batch.bundle.id } },
      };
      const mcp = { ...json, accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
      const tools = await attack("MCP get_bundle", 16, 16, () =>
        ask(`${service.url}/mcp`, "POST", mcp, JSON.stringify(call)),
      );
      expect(tools["200"]).toBe(16);

      expect(await alive(purchase)).toMatchObject({ status: 200 });
      expect((await alive(ask(`${service.url}/health`, "GET"))).status).toBe(200);
      console.log(kind, JSON.stringify(figures));
      expect(peak()).toBeLessThan(700);
      await service.kill();
    });

    test("starts with ten thousand unfinished calls, a hundred of them large, and carries those on", async () => {
      const [empty, full] = [await databases.create(kind), await databases.create(kind)];
      const bare: { service: ServiceProcess; ms: number; peak(): number } = await started(empty);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const without = { ms: bare.ms, rss: bare.peak() };
      await bare.service.kill();

      await filled(full, (journal) => fillUnfinished(journal, batch, 9_900, 100));
      const { service, ms, peak } = await started(full);
      const ended = service.ended.then((how) => `ended: ${how}`);
      // Those that are large are signed, submitted, sealed and committed, a few at a time.
      const delivered = async () => {
        let count = 0;
        while (count < 20) {
          await service.nextCommit();
          count = service.committed.filter((name) => name === "bundle_sealed").length;
        }
        return "carried on";
      };
      expect(await Promise.race([ended, delivered()])).toBe("carried on");
      expect((await ask(`${service.url}/health`, "GET")).status).toBe(200);
      console.log(kind, JSON.stringify({ without, with: { ms, rss: peak() } }));
      expect(peak()).toBeLessThan(900);
      await service.kill();
    });
  },
);
