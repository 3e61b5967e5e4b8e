import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/* The example configurations, each under the program of its name, between a client and a server of paid answers' size. */

/** How a proxy's configuration is run with other addresses than its own: those of the file replaced, or told by variables. */
const PROXIES = [
  {
    name: "nginx",
    file: "nginx.conf",
    command: (conf: string, dir: string) => ["-c", conf, "-p", dir, "-g", "daemon off;"],
    changed: (conf: string, site: string, upstream: string) =>
      conf.replaceAll("127.0.0.1:8080", site).replaceAll("127.0.0.1:4020", upstream),
    variables: () => ({}),
  },
  {
    name: "caddy",
    file: "Caddyfile",
    command: (conf: string) => ["run", "--config", conf, "--adapter", "caddyfile"],
    changed: (conf: string) => conf,
    variables: (site: string, upstream: string) => ({ SITE: `http://${site}`, UPSTREAM: upstream }),
  },
];

/** What the service writes for a paid call, at its largest, and what came to it. */
const RECEIPT = "A".repeat(9_000);
const seen: { headers: Record<string, unknown>; length: number }[] = [];
const service: Server = createServer(async (request, response) => {
  const body = await text(request);
  seen.push({ headers: request.headers, length: body.length });
  if (request.headers["payment-signature"] === "slow") return;
  response.writeHead(200, { "payment-response": RECEIPT, "payment-required": "B".repeat(4_000) }).end("bundle");
});
beforeAll(() => new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  service.closeAllConnections();
  service.close();
});

describe.each(PROXIES)("behind $name", ({ name, file, command, changed, variables }) => {
  const isThere = spawnSync(name, [name === "nginx" ? "-v" : "version"]).status === 0;
  if (!isThere) console.log(`${name} is not installed (apt-get install ${name}): docs/proxies/${file} is not tried`);
  let dir: string;
  let url: string;
  let proxy: ChildProcess | undefined;

  beforeAll(async () => {
    if (!isThere) return;
    dir = await mkdtemp(join(tmpdir(), "attestd-proxy-"));
    const addresses = [
      `127.0.0.1:${await freePort()}`,
      `127.0.0.1:${(service.address() as AddressInfo).port}`,
    ] as const;
    url = `http://${addresses[0]}`;
    const conf = await readFile(join(import.meta.dirname, file), "utf8");
    await writeFile(join(dir, file), changed(conf, ...addresses));
    proxy = spawn(name, command(join(dir, file), dir), {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: dir, ...variables(...addresses) },
    });
    await answers(url, proxy);
  });
  afterAll(async () => {
    if (!proxy) return;
    const ended = once(proxy, "exit");
    proxy.kill("SIGTERM");
    await ended;
    await rm(dir, { recursive: true });
  });

  test.skipIf(!isThere)("a purchase goes through: its payment, and the receipt of it", async () => {
    const headers = {
      "content-type": "application/json",
      "payment-signature": "C".repeat(12_000),
      "x-forwarded-for": "6.6.6.6",
      "x-request-id": "chosen-by-the-client",
    };
    const answer = await fetch(`${url}/attest`, { method: "POST", headers, body: "{}" });
    expect([answer.status, answer.headers.get("payment-response"), await answer.text()]).toEqual([
      200,
      RECEIPT,
      "bundle",
    ]);
    const { headers: passed = {} } = seen.at(-1) ?? {};
    expect(passed).toMatchObject({ host: new URL(url).host, "payment-signature": "C".repeat(12_000) });
    // The last address is the one that the proxy saw, which TRUST_PROXY goes by.
    expect(String(passed["x-forwarded-for"]).split(",").at(-1)?.trim()).toBe("127.0.0.1");
    expect(passed["x-request-id"]).toMatch(/^[0-9a-f-]{32,36}$/);
  });

  test.skipIf(!isThere)("a bundle of 2 MiB can be verified", async () => {
    const body = "x".repeat(2 ** 21);
    expect((await fetch(`${url}/verify`, { method: "POST", body })).status).toBe(200);
    expect(seen.at(-1)?.length).toBe(2 ** 21);
  });
});

test("both wait for a paid answer longer than the service does", async () => {
  const [nginx, caddy] = await Promise.all(
    PROXIES.map(({ file }) => readFile(join(import.meta.dirname, file), "utf8")),
  );
  expect(nginx).toMatch(/proxy_buffer_size 16k;\s+proxy_buffers 8 16k;/);
  expect(nginx).toContain("proxy_read_timeout 180s;");
  expect(caddy).toContain("response_header_timeout 180s");
});

describe("the container's Caddy", () => {
  const isThere = spawnSync("caddy", ["version"]).status === 0;
  if (!isThere) console.log("caddy is not installed (apt-get install caddy): the container's site is not adapted");

  test("has the file that is tried here, and no other", async () => {
    const container = join(import.meta.dirname, "../../packaging/container");
    expect(await readdir(container)).not.toContain("Caddyfile");
    const compose = await readFile(join(container, "compose.yaml"), "utf8");
    const [, mounted = ""] = /- (\S+):\/etc\/caddy\/Caddyfile:ro/.exec(compose) ?? [];
    expect(resolve(container, mounted)).toBe(join(import.meta.dirname, "Caddyfile"));
    expect(compose).toContain("UPSTREAM: attestd:4020");
  });

  test.skipIf(!isThere)("serves its site with TLS, and gives each request an id of its own", () => {
    const adapt = ["adapt", "--config", join(import.meta.dirname, "Caddyfile"), "--adapter", "caddyfile"];
    const env = { ...process.env, SITE: "attest.example", UPSTREAM: "attestd:4020" };
    const { stdout } = spawnSync("caddy", adapt, { env, encoding: "utf8" });
    const { servers } = JSON.parse(stdout).apps.http;
    expect(Object.values(servers)).toMatchObject([
      { listen: [":443"], routes: [{ match: [{ host: ["attest.example"] }] }] },
    ]);
    expect(stdout).toContain('"dial":"attestd:4020"');
    expect(stdout).toContain('"X-Request-Id":["{http.request.uuid}"]');
    expect(stdout).not.toContain("automatic_https");
  });
});

async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until a proxy answers. @throws Error with what it said, when it has ended instead */
async function answers(url: string, proxy: ChildProcess): Promise<void> {
  const said = proxy.stderr ? text(proxy.stderr) : Promise.resolve("");
  for (;;) {
    if (proxy.exitCode !== null) throw new Error(`the proxy has ended: ${await said}`);
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
