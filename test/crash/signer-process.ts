import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FrameReader } from "../../packages/service/src/signers/socket/protocol.ts";
import type { Step } from "./signer-cells.ts";

const COMMAND = fileURLToPath(new URL("../../packages/attestd/src/main.ts", import.meta.url));
const MAX_FRAME = 4 * 2 ** 20;

export type Seeds = { seed: string; mnemonic: string };

/** A running `attestd signer`. */
export type SignerProcess = { kill(): Promise<void> };

/** A folder of its own for sockets and seeds. */
export async function signerFolder() {
  const folder = await mkdtemp(join(tmpdir(), "attestd-crash-signer-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts `attestd signer` as an operator does. @throws Error when it does not listen */
export async function startSignerProcess(
  { folder, socket, genesisHash }: { folder: string; socket: string; genesisHash: string },
  { seed, mnemonic }: Seeds,
): Promise<SignerProcess> {
  const [seedFile, mnemonicFile] = [join(folder, `${socket}.seed`), join(folder, `${socket}.mnemonic`)];
  await Promise.all([writeFile(seedFile, seed), writeFile(mnemonicFile, mnemonic)]);
  await Promise.all([chmod(seedFile, 0o600), chmod(mnemonicFile, 0o600)]);
  const path = join(folder, socket);
  const files = ["--seed-file", seedFile, "--mnemonic-file", mnemonicFile];
  const child = spawn(
    process.execPath,
    [COMMAND, "signer", "--socket", path, "--genesis-hash", genesisHash, ...files],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH },
    },
  );
  const ended = once(child, "exit");
  await listening(child);
  return {
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function listening(child: ChildProcess): Promise<void> {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (!text.includes('"listening"')) continue;
    child.stdout?.on("data", () => undefined).resume();
    return;
  }
  throw new Error(`the signer did not listen: ${text}`);
}

/** What a request is for: by its key and its first byte. */
function stepOf(request: Buffer): Step | undefined {
  const [key, first] = [request[4], request[7 + request.readUInt16BE(5)]];
  if (key === 2 && first === 0x54) return "note";
  if (key === 1 && first === 0x7b) return "bundle";
  return key === 1 && first === 0x65 ? "receipt" : undefined;
}

/** What a proxy does with a request: pass it on, with its answer changed by `answer`; or nothing. */
export type Handling = {
  pass: boolean;
  answer?: (body: Buffer, reply: (bytes: Uint8Array) => void, end: () => void) => void;
};

/**
 * Stands between a service and its signer.
 *
 * @param handle decides about a request for a step
 */
export async function startSignerProxy(path: string, target: string, handle: (step: Step) => Promise<Handling>) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(target);
    const handlings = new Map<number, Handling>();
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => one.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    const requests = new FrameReader(MAX_FRAME);
    near.on("data", async (chunk: Buffer) => {
      for (const body of requests.push(chunk)) {
        const request = Buffer.from(body);
        const step = request.length > 7 ? stepOf(request) : undefined;
        const handling = step ? await handle(step) : { pass: true };
        handlings.set(request.readUInt32BE(0), handling);
        if (handling.pass && far.writable) far.write(framed(request));
      }
    });
    const answers = new FrameReader(MAX_FRAME);
    far.on("data", (chunk: Buffer) => {
      for (const body of answers.push(chunk)) {
        const answer = Buffer.from(body);
        const change = handlings.get(answer.readUInt32BE(0))?.answer;
        if (change)
          change(
            answer,
            (bytes) => void (near.writable && near.write(framed(bytes))),
            () => near.destroySoon(),
          );
        else if (near.writable) near.write(framed(answer));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A frame with this body; its length can be more than what is sent. */
export function framed(body: Uint8Array, length = body.length): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, body]);
}
