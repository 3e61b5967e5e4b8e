import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "@attestd/sandbox";
import algosdk from "algosdk";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { attestd, start } from "../../../test/helpers/command.ts";
import { startReverseProxy } from "../../../test/helpers/reverse-proxy.ts";
import { sandboxSettings } from "../../../test/helpers/sandbox-settings.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { type Settings, secret, settingsFileOf, type Table, withOver } from "../../service/test/settings.ts";
import { sandboxFolder } from "../src/trust/sandbox-folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let algod: Awaited<ReturnType<typeof startReverseProxy>>;
let settings: Settings;

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ roundMs: 200, networks: ["solana"] });
  algod = await startReverseProxy(() => sandbox.algodUrl);
  const paths = sandboxFolder(folder.path);
  const over = { chains: { algorand: { algod: [algod.url] } }, log_level: "silent" };
  settings = await sandboxSettings(sandbox, paths, over);
}, 30_000);
afterEach(() => {
  algod.meddling = {};
});
afterAll(async () => {
  await algod?.[Symbol.asyncDispose]();
  await sandbox?.close();
  await folder?.[Symbol.asyncDispose]();
});

/** Writes settings. @returns the arguments of a service on them */
async function args(over: Table, ...more: string[]): Promise<string[]> {
  const paths = sandboxFolder(folder.path);
  settingsFileOf(withOver(settings, over).tables, paths.settings);
  return ["serve", "--sandbox", "--settings", paths.settings, ...more];
}

test("serve waits for a node that is away, names it once, and sells when it answers", async () => {
  algod.meddling = { answer: (_, outgoing) => Boolean(outgoing.writeHead(502).end()) };
  const service = start(await args({ log_level: "info" }, "--wait", "60"));
  let [out, err] = ["", ""];
  service.stdout.on("data", (chunk) => {
    out += chunk;
  });
  service.stderr.on("data", (chunk) => {
    err += chunk;
  });
  await vi.waitFor(() => expect(err).toContain("chains.algorand.algod"), { timeout: 30_000 });
  algod.meddling = {};
  await vi.waitFor(() => expect(out).toContain('"msg":"listening"'), { timeout: 60_000 });
  service.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);
  expect(err).toBe(
    `attestd: waiting for an upstream. chains.algorand.algod: ${new URL(algod.url).host} answered HTTP 502.\n`,
  );
}, 100_000);

test("serve sells, and then says what the doctor's checks find doubtful or wrong", async () => {
  const facilitators = [
    ...(settings.tables.facilitators as Table[]),
    { url: "http://127.0.0.1:9", rails: ["algorand"] },
  ];
  const service = start(await args({ facilitators, log_level: "info" }));
  let [out, err] = ["", ""];
  service.stdout.on("data", (chunk) => {
    out += chunk;
  });
  service.stderr.on("data", (chunk) => {
    err += chunk;
  });
  await vi.waitFor(() => expect(out).toContain('"msg":"listening"'), { timeout: 60_000 });
  await vi.waitFor(
    () => {
      expect(err).toMatch(/^✕ facilitators: 127\.0\.0\.1:9: /m);
    },
    { timeout: 60_000 },
  );
  expect(err.trimEnd().split("\n")).toHaveLength(1);
  service.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);
}, 130_000);

test("serve names everything that is wrong at once, and prints no stack trace", async () => {
  const nobody = algosdk.generateAccount();
  const wrong = {
    attestor: { mnemonic: secret(algosdk.secretKeyToMnemonic(nobody.sk)) },
    journal: { url: `sqlite:${join(folder.path, "data", "other.db")}` },
    rails: {
      algorand: { pay_to: String(nobody.addr) },
      solana: { pay_to: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4" },
    },
  };
  const { code, stdout, stderr } = await attestd(await args(wrong));
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr.trimEnd().split("\n")).toEqual([
    "attestd: 3 faults in the settings",
    expect.stringMatching(/^ {2}attestor\.signer: the account \w{58} can pay for 0 attestations\./),
    expect.stringMatching(/^ {2}rails\.algorand\.pay_to has not opted in to USDC/),
    expect.stringMatching(/^ {2}rails\.solana\.pay_to has no USDC account/),
  ]);
}, 60_000);

test.each([["ten"], ["-1"]])("serve --wait %s is a usage error", async (wait) => {
  const { code, stderr } = await attestd(await args({}, `--wait=${wait}`));
  const words = `option '--wait <seconds>' argument '${wait}' is invalid. Write whole seconds.`;
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test("serve ends so that it is started again where only a node keeps it, whatever else is wrong", async () => {
  algod.meddling = { answer: (_, outgoing) => Boolean(outgoing.writeHead(502).end()) };
  const { code, stderr } = await attestd(await args({ journal: { disk_reserve_mib: 1_000_000_000 } }));
  expect([code, stderr.split("\n")]).toEqual([
    4,
    expect.arrayContaining([
      expect.stringMatching(/^ {2}chains\.algorand\.algod: .* answered HTTP 502/),
      expect.stringMatching(/^ {2}journal\.disk_reserve_mib: /),
    ]),
  ]);
}, 60_000);

test("serve ends so that it is started again where its port is taken, which another process may be about to leave", async () => {
  await using other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await attestd(await args({ port }));
  expect([code, stderr.split("\n")[0]]).toEqual([4, `attestd: port ${port} is in use`]);
}, 60_000);
