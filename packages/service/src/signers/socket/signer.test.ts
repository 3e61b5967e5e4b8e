import { chmod, mkdtemp, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import { verifySignature } from "@attestd/proof/attestor";
import { fromBase64, utf8 } from "@attestd/proof/encoding";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SignerFailure } from "../../lib/errors.ts";
import { newProbe } from "../probe.ts";
import { socketPlace } from "./client.ts";
import { signerLog } from "./main.ts";
import { encodeAnswer, encodeRequest, FrameReader, MAX_REQUEST } from "./protocol.ts";
import { readSeeds } from "./seeds.ts";
import { type RunningSigner, type SignerOptions, startSigner } from "./server.ts";

const genesisHash = fromBase64(ALGORAND_MAINNET_GENESIS_HASH);
const never = new AbortController().signal;
const failed = (failure: SignerFailure) => expect.objectContaining({ code: "signer_failed", details: { failure } });
const probe = () => utf8(newProbe());

let folder: string;
let path: string;
let lines: Record<string, unknown>[];
const opened: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "attestd-signer-"));
  path = join(folder, "signer.sock");
  lines = [];
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  await rm(folder, { recursive: true });
});

async function start(over: Partial<SignerOptions> & { fill?: number } = {}): Promise<RunningSigner> {
  const { fill = 1, ...rest } = over;
  const log = signerLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const seeds = { pq: new Uint8Array(32).fill(fill), account: new Uint8Array(32).fill(fill) };
  const signer = await startSigner({ path, group: false, seeds, genesisHash, log, ...rest });
  expect([...seeds.pq, ...seeds.account].every((byte) => byte === 0)).toBe(true);
  opened.push(signer);
  return signer;
}

function place(at = path, genesis = genesisHash) {
  const made = socketPlace(at, genesis);
  opened.push(made);
  return made;
}

/** Listens as a peer that is not a signer. */
async function listen(serve: (socket: Socket) => void): Promise<void> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  opened.push({ close });
}

/** Sends bytes as a stranger. @returns what comes back until the signer closes the connection */
function send(...chunks: Uint8Array[]): Promise<number> {
  return new Promise((resolve) => {
    let length = 0;
    const socket = createConnection(path, () => void socket.write(Buffer.concat(chunks)));
    socket.on("data", (chunk) => {
      length += chunk.length;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(length));
  });
}

describe("a signer on a socket", () => {
  test("signs by its rule with both keys, many at once, and logs each with its form", async () => {
    const { attestor } = await start();
    const pq = await place().open("pq", never);
    const account = await place().open("account", never);
    expect(account.publicKey).toEqual(attestor.account);
    const messages = Array.from({ length: 40 }, probe);
    const signatures = await Promise.all(messages.map((message) => pq.sign(message, never)));
    for (const [i, message] of messages.entries())
      expect(verifySignature(pq.publicKey, message, signatures[i] as Uint8Array)).toBe(true);
    expect(await account.sign(probe(), never)).toHaveLength(64);
    expect(lines.filter(({ msg }) => msg === "signed")).toHaveLength(41);
    expect(lines.at(-1)).toMatchObject({
      key: "account",
      form: "probe",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("says which rule a request breaks, to its caller and in its log", async () => {
    await start();
    const pq = await place().open("pq", never);
    await expect(pq.sign(utf8("TX anything"), never)).rejects.toThrow(failed("refused"));
    expect(lines.at(-1)).toMatchObject({
      level: "error",
      key: "pq",
      msg: "refused",
      reason: expect.stringMatching(/neither a bundle/),
    });
    expect(await pq.sign(probe(), never)).toHaveLength(3309);
  });

  test("signs no more a minute than it may", async () => {
    let now = 0;
    await start({ perMinute: 2, now: () => now });
    const key = await place().open("account", never);
    await key.sign(probe(), never);
    await key.sign(probe(), never);
    await expect(key.sign(probe(), never)).rejects.toThrow(failed("throttled"));
    now = 30_000;
    await key.sign(probe(), never);
    await expect(key.sign(probe(), never)).rejects.toThrow(failed("throttled"));
  });

  test("is found again after it was away, and a connection that was cut fails its requests at once", async () => {
    const first = await start();
    const key = await place().open("pq", never);
    await first.close();
    opened.splice(opened.indexOf(first), 1);
    await expect(key.sign(probe(), never)).rejects.toThrow(failed("unreachable"));
    await start();
    expect(await key.sign(probe(), never)).toHaveLength(3309);
  });

  test("of another ledger is refused where it is opened", async () => {
    await start();
    await expect(place(path, new Uint8Array(32)).open("pq", never)).rejects.toMatchObject({ code: "config_invalid" });
  });

  test("closes a connection that sends what it does not know, and serves the others", async () => {
    await start();
    const key = await place().open("pq", never);
    const tooLong = Buffer.alloc(4);
    tooLong.writeUInt32BE(MAX_REQUEST + 1);
    const body = (...bytes: number[]) => Uint8Array.from([0, 0, 0, bytes.length, ...bytes]);
    for (const bytes of [
      tooLong,
      body(1),
      body(0, 0, 0, 1, 9),
      body(0, 0, 0, 1, 0, 0),
      body(0, 0, 0, 1, 1, 0xff, 0xff),
    ])
      expect(await send(bytes)).toBe(0);
    expect(await key.sign(probe(), never)).toHaveLength(3309);
  });

  test("serves 16 connections, and closes one that is too many", async () => {
    await start();
    const held = Array.from({ length: 16 }, () => createConnection(path));
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect(await send(encodeRequest({ id: 1, ask: "describe" }))).toBe(0);
    for (const socket of held) socket.destroy();
  });
});

describe("the place of a socket", () => {
  test("lets its owner connect, or its group too", async () => {
    const signer = await start();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await signer.close();
    opened.splice(0);
    await start({ group: true });
    expect((await stat(path)).mode & 0o777).toBe(0o660);
  });

  test("is taken from a dead process, and from no living one", async () => {
    await start();
    await expect(start()).rejects.toThrow(/Another process listens/);
    // A socket without a listener, as a killed process leaves it: a name that `close` does not remove.
    const left = join(folder, "left.sock");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(left, resolve));
    await rename(left, join(folder, "stale.sock"));
    await new Promise((resolve) => server.close(resolve));
    await start({ path: join(folder, "stale.sock") });
  });

  test.each([0o777, 0o770, 0o1777])("is refused in a folder of mode %o, where others may write", async (mode) => {
    await chmod(folder, mode);
    await expect(start()).rejects.toThrow(/Others may write/);
  });

  test("is refused where something else is, a link too", async () => {
    await writeFile(path, "");
    await expect(start()).rejects.toThrow(/is not a socket/);
    await rm(path);
    await symlink(join(folder, "elsewhere"), path);
    await expect(start()).rejects.toThrow(/is not a socket/);
  });
});

describe("a peer that is no signer", () => {
  test("that answers garbage, too much, or only half is unreachable", async () => {
    const answers = [
      utf8("HTTP/1.1 200 OK\r\n\r\n"),
      Uint8Array.of(0, 0, 1, 0, 1),
      Uint8Array.of(0, 0, 0, 5, 0, 0, 0, 1, 7),
    ];
    let served = 0;
    await listen((socket) => {
      socket.once("data", () => socket.end(answers[served++] as Uint8Array));
    });
    for (const _ of answers) await expect(place().open("pq", never)).rejects.toThrow(failed("unreachable"));
    expect(served).toBe(answers.length);
  });

  test("that never answers ends with its caller, and the next request gets another connection", async () => {
    let connections = 0;
    await listen(() => {
      connections += 1;
    });
    const own = place();
    await expect(own.open("pq", AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
    await expect(own.open("pq", AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
    expect(connections).toBe(2);
  });

  test("that describes itself in another version is no signer", async () => {
    await listen((socket) => {
      const frames = new FrameReader(1_000);
      socket.on("data", (chunk: Buffer) => {
        for (const _ of frames.push(chunk)) socket.write(encodeAnswer({ id: 1, done: new Uint8Array(2050).fill(2) }));
      });
    });
    await expect(place().open("pq", never)).rejects.toThrow(/not a description/);
  });
});

describe("the signer's files", () => {
  const mnemonic = `${"abandon ".repeat(24)}invest`;
  const files = () => ({ seed: join(folder, "seed"), mnemonic: join(folder, "mnemonic") });

  test("are read, and refused when others can read them or they hold no seed", async () => {
    await writeFile(files().seed, `${"0a".repeat(32)}\n`, { mode: 0o600 });
    await writeFile(files().mnemonic, `${mnemonic}\n`, { mode: 0o600 });
    expect(readSeeds(files())).toEqual({ pq: new Uint8Array(32).fill(10), account: new Uint8Array(32) });
    await chmod(files().seed, 0o644);
    expect(() => readSeeds(files())).toThrow(/--seed-file .* can be read by others/);
    await chmod(files().seed, 0o600);
    await writeFile(files().seed, "secret");
    expect(() => readSeeds(files())).toThrow(/--seed-file .* must have 32 bytes in hex$/);
    await writeFile(files().seed, "0a".repeat(32));
    expect(() => readSeeds({ ...files(), mnemonic: "/no/such/file" })).toThrow(/--mnemonic-file .* ENOENT/);
  });
});
