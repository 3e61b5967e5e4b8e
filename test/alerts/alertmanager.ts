import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { FACTOR, freePort, scaledTimes, startProgram } from "./program.ts";

const EXAMPLE = new URL("../../docs/monitoring/alertmanager.yml", import.meta.url);
/** As the example has them. */
const RECEIVER = { webhook: "https://pager.example/attestd", mail: "mail.example:587", token: "your-token" };

/** An alert in a message to the webhook. */
export type Message = { alert: string; status: "firing" | "resolved" };

/** A running Alertmanager, with a webhook at loopback that has what it was sent. */
export type Alertmanager = AsyncDisposable & {
  version: string;
  url: string;
  /** What the webhook got until now. */
  messages(): readonly Message[];
};

/** Looks for Debian's program. @returns how to get it, where it is not there */
export function findAlertmanager(): { binary: string; version: string } | { missing: string } {
  const binary = "prometheus-alertmanager";
  const { status, stdout, stderr } = spawnSync(binary, ["--version"], { encoding: "utf8" });
  const version = /version (\S+?),? /.exec(`${stdout}${stderr}`)?.[1];
  if (status === 0 && version !== undefined) return { binary, version };
  return { missing: "there is no Alertmanager on the PATH. On Debian: apt-get install prometheus-alertmanager" };
}

/**
 * Starts one on the example of docs/monitoring, with every time divided and the receiver of pages at loopback; nobody
 * listens where tickets go.
 *
 * @param folder for its configuration and data
 */
export async function startAlertmanager(folder: string, factor = FACTOR): Promise<Alertmanager> {
  const found = findAlertmanager();
  if ("missing" in found) throw new Error(found.missing);
  await using opened = new AsyncDisposableStack();
  const webhook = await startWebhook();
  opened.use(webhook);
  await mkdir(folder, { recursive: true });
  const config = join(folder, "alertmanager.yml");
  const example = await readFile(EXAMPLE, "utf8");
  const mail = `127.0.0.1:${await freePort()}`;
  await writeFile(
    config,
    scaledTimes(example, factor).replace(RECEIVER.webhook, webhook.url).replace(RECEIVER.mail, mail),
  );
  const program = await startProgram(
    found.binary,
    (listen) => [
      `--config.file=${config}`,
      `--storage.path=${join(folder, "data")}`,
      `--web.listen-address=${listen}`,
      // No other Alertmanagers are looked for.
      "--cluster.listen-address=",
    ],
    // Its log has a line for each mail that it cannot send.
    "ignore",
  );
  opened.use(program);
  const running = opened.move();
  return {
    version: found.version,
    url: program.url,
    messages: webhook.messages,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Takes messages as a pager does: with the token of the example alone. */
async function startWebhook() {
  const messages: Message[] = [];
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.headers.authorization !== `Bearer ${RECEIVER.token}`) return void outgoing.writeHead(401).end();
    type Sent = { alerts: { status: Message["status"]; labels: { alertname: string } }[] };
    const { alerts } = (await json(incoming)) as Sent;
    messages.push(...alerts.map(({ status, labels }) => ({ alert: labels.alertname, status })));
    outgoing.writeHead(200).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    messages: () => messages,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
