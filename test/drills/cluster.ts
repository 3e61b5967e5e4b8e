import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort, PASSWORD, serverOf, sql, started } from "../../packages/service/test/fakes/postgres.ts";

/** A PostgreSQL primary, a standby that streams from it, and one address that leads to the one that serves. */
export type Cluster = AsyncDisposable & {
  /** `journal.url` by that address. */
  url: string;
  /** Resolves once the standby has everything that is committed by now. */
  caughtUp(): Promise<void>;
  /** Streaming stops: from now on the standby lacks what the primary commits. */
  holdStreaming(): void;
  /** Kills the primary (SIGKILL), promotes the standby, and has the address lead to it. */
  failOver(): Promise<void>;
};

/** Time-out of a server's start, in ms. */
const START_MS = 60_000;

/** @param synchronous whether the primary confirms a commit only once the standby has it */
export async function startCluster({ synchronous }: { synchronous: boolean }): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const folders = await Promise.all(["primary", "standby"].map((name) => mkdtemp(join(tmpdir(), `attestd-${name}-`))));
  for (const folder of folders) opened.defer(() => rm(folder, { recursive: true, force: true }));
  const [one, other] = folders as [string, string];

  // A copy of a server that is stopped, as a base backup is one of a server that runs.
  const fresh = await started(one);
  await fresh.server.createDatabase("journal");
  await fresh.server.stop();
  // With the owner of each file: where tests run as root, the server runs as another user.
  await promisify(execFile)("cp", ["-a", `${one}/.`, other]);
  const primary = await run(one, opened);
  const streaming = await forward(primary.port);
  opened.defer(streaming.close);
  const from = `host=127.0.0.1 port=${streaming.port} user=attestd password='${PASSWORD.replaceAll("'", "''")}'`;
  await appendFile(join(other, "postgresql.auto.conf"), `primary_conninfo = '${from.replaceAll("'", "''")}'\n`);
  await writeFile(join(other, "standby.signal"), "");
  const standby = await run(other, opened);
  const address = await forward(primary.port);
  opened.defer(address.close);

  const ofPrimary = (text: string) => sql(urlAt(primary.port), text);
  const until = async (holds: () => Promise<Record<string, unknown>[]>) => {
    while ((await holds())[0]?.holds !== true) await sleep(20);
  };
  await until(() => ofPrimary("SELECT count(*) = 1 AS holds FROM pg_stat_replication WHERE state = 'streaming'"));
  if (synchronous) {
    await ofPrimary("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await ofPrimary("SELECT pg_reload_conf()");
    await until(() => ofPrimary("SELECT count(*) = 1 AS holds FROM pg_stat_replication WHERE sync_state = 'sync'"));
  }

  const closing = opened.move();
  return {
    url: urlAt(address.port),
    async caughtUp() {
      const [row] = await ofPrimary("SELECT pg_current_wal_flush_lsn()::text AS lsn");
      await until(() => ofPrimary(`SELECT replay_lsn >= '${row?.lsn}' AS holds FROM pg_stat_replication`));
    },
    holdStreaming: () => streaming.lead(undefined),
    async failOver() {
      await primary.kill();
      streaming.lead(undefined);
      address.lead(undefined);
      await sql(urlAt(standby.port), "SELECT pg_promote()");
      address.lead(standby.port);
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function urlAt(port: number): string {
  return `postgres://attestd:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/journal`;
}

type Server = { port: number; kill(): Promise<void> };

async function run(folder: string, opened: AsyncDisposableStack): Promise<Server> {
  const port = await freePort();
  const server = serverOf(folder, port);
  // It resolves once the server takes writes, which a standby does not.
  void server.start().catch(() => undefined);
  const deadline = AbortSignal.timeout(START_MS);
  while (!(await sql(urlAt(port), "SELECT 1").catch(() => undefined))) await sleep(20, undefined, { signal: deadline });
  const [pid] = (await readFile(join(folder, "postmaster.pid"), "utf8")).split("\n");
  let isKilled = false;
  opened.defer(async () => {
    if (!isKilled) await server.stop();
  });
  return {
    port,
    async kill() {
      isKilled = true;
      process.kill(Number(pid), "SIGKILL");
    },
  };
}

/** A TCP address that leads elsewhere. `lead` breaks what leads to where it led before; to undefined nothing leads. */
async function forward(to: number) {
  let target: number | undefined = to;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (target === undefined) return void socket.destroy();
    const upstream = connect(target, "127.0.0.1");
    for (const [from, into] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on("error", () => into.destroy());
      from.on("close", () => {
        sockets.delete(from);
        into.destroy();
      });
      from.pipe(into);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    lead(elsewhere: number | undefined): void {
      target = elsewhere;
      for (const socket of [...sockets]) socket.destroy();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of [...sockets]) socket.destroy();
      }),
  };
}
