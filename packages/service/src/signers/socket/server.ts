import { createHash } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { algorandCaip2, decodeAddress, encodeAddress } from "@attestd/proof/algorand";
import { keyIdentity } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import type { Logger } from "pino";
import { accountForm } from "../account-form.ts";
import { falconKey } from "../falcon.ts";
import { seedKey } from "../seed.ts";
import type { Key, KeyUse } from "../signer.ts";
import { type Attestor, Refusal } from "./forms.ts";
import { claimPath } from "./path.ts";
import {
  type Answer,
  decodeRequest,
  encodeAnswer,
  encodeDescription,
  FrameReader,
  MAX_REQUEST,
  type Request,
} from "./protocol.ts";
import { formOf } from "./rule.ts";

export type SignerOptions = Pick<Attestor, "genesisHash" | "endorse" | "revoke" | "rekey"> & {
  /** The path of the socket. */
  path: string;
  /** Whether the file's group may connect, too: mode 0660 instead of 0600. */
  group: boolean;
  /** 32 bytes each; overwritten once they are imported. */
  seeds: Readonly<Record<KeyUse, Uint8Array>>;
  /** Whether the account's key is Falcon-1024 instead of ed25519. */
  falcon?: boolean | undefined;
  /** The account's address, if it is rekeyed to the key; default: the key's own account. */
  address?: string | undefined;
  /** The limit of signatures per minute, of both keys together; default: none. */
  perMinute?: number | undefined;
  log: Logger;
  /** Monotonic, in ms. */
  now?: () => number;
};

export type RunningSigner = { attestor: Attestor; close(): Promise<void> };

const MAX_CONNECTIONS = 16;
/** The limit of a connection's concurrent requests; no more are read until one ends. */
const MAX_ACTIVE = 16;
/** How long a refusal is delayed, in ms, so that nobody who probes the rule can fill the log. */
const REFUSAL_MS = 500;
/** How long a request may take to arrive completely, in ms. */
const REQUEST_MS = 10_000;
const NO_SIGNAL = new AbortController().signal;

/**
 * Signs what this attestor's service asks for on a Unix socket, by its rule (rule.ts) and nothing else.
 * @throws Error when the path cannot be used safely, or another signer listens there
 */
export async function startSigner(options: SignerOptions): Promise<RunningSigner> {
  const { path, group, seeds, genesisHash, endorse, revoke, rekey, log } = options;
  const pq = seedKey("pq", seeds.pq);
  const falcon = options.falcon ? await falconKey(seeds.account) : undefined;
  const account = falcon ?? seedKey("account", seeds.account);
  const keys: Record<KeyUse, Key> = { pq, account };
  for (const seed of Object.values(seeds)) seed.fill(0);
  const algorithm = falcon ? "falcon-1024" : "ed25519";
  const own = accountForm({ algorithm, publicKey: account.publicKey });
  const accountKey = options.address === undefined ? own.account : decodeAddress(options.address);
  const attestor: Attestor = {
    pqPublicKey: toBase64(pq.publicKey),
    ...keyIdentity(pq.publicKey),
    account: accountKey,
    algorandAddress: encodeAddress(accountKey),
    maxFee: own.maxFee,
    genesisHash,
    ledger: algorandCaip2(genesisHash),
    endorse,
    revoke,
    rekey,
  };
  const description = encodeDescription({
    keys: { pq: pq.publicKey, account: account.publicKey },
    algorithm,
    account: accountKey,
    genesisHash,
  });
  const isInTime = rateOf(options);
  const connections = new Set<Socket>();

  async function answerTo(request: Request): Promise<Answer> {
    const { id, ask } = request;
    if (ask === "describe") return { id, done: description };
    const { message, keyRecord } = request;
    const about = { key: ask, bytes: message.length, sha256: createHash("sha256").update(message).digest("hex") };
    try {
      const form = formOf(ask, message, { ...(keyRecord && { keyRecord }) }, attestor);
      if (!isInTime()) {
        log.warn({ ...about, ...form }, "over the limit of signatures a minute");
        return { id, failure: "throttled", reason: "more signatures than a minute may have" };
      }
      const done = await keys[ask].sign(message, NO_SIGNAL);
      log.info({ ...about, ...form }, "signed");
      return { id, done };
    } catch (error) {
      if (error instanceof Refusal) log.error({ ...about, reason: error.message }, "refused");
      else log.error({ ...about, err: error }, "refused: it could not be read");
      return { id, failure: "refused", reason: error instanceof Refusal ? error.message : "it could not be read" };
    }
  }

  function serve(socket: Socket): void {
    if (connections.size >= MAX_CONNECTIONS) {
      log.warn("a connection above the limit was closed");
      socket.destroy();
      return;
    }
    connections.add(socket);
    const frames = new FrameReader(MAX_REQUEST);
    const queue: Uint8Array[] = [];
    let active = 0;
    let timer: NodeJS.Timeout | undefined;
    const broken = (error: unknown) => {
      log.warn({ err: error }, "a peer does not speak the protocol: its connection was closed");
      socket.destroy();
    };
    /** Answers what has come. It reads on only when every request has been started and the peer takes its answers. */
    const work = () => {
      while (active < MAX_ACTIVE && queue.length > 0 && !socket.writableNeedDrain)
        void answer(queue.shift() as Uint8Array);
      if (queue.length > 0 || active >= MAX_ACTIVE || socket.writableNeedDrain) socket.pause();
      else socket.resume();
    };
    const answer = async (body: Uint8Array) => {
      active += 1;
      try {
        const made = await answerTo(decodeRequest(body));
        if ("failure" in made) await pause(REFUSAL_MS);
        if (socket.writable) socket.write(encodeAnswer(made));
      } catch (error) {
        broken(error);
      }
      active -= 1;
      work();
    };
    const late = () => broken(new Error("a request did not arrive in time"));
    socket.on("drain", work);
    socket.on("data", (chunk: Buffer) => {
      try {
        const bodies = frames.push(chunk);
        queue.push(...bodies);
        if (bodies.length > 0 || !frames.isWithin) {
          clearTimeout(timer);
          timer = undefined;
        }
        if (frames.isWithin) timer ??= setTimeout(late, REQUEST_MS);
        work();
      } catch (error) {
        broken(error);
      }
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(timer);
      connections.delete(socket);
    });
  }

  const server = createServer(serve);
  await claimPath(path);
  const before = process.umask(group ? 0o117 : 0o177);
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  } finally {
    process.umask(before);
  }
  const { kid, algorandAddress, ledger } = attestor;
  // pino leaves out what is undefined.
  log.info({ socket: path, kid, algorandAddress, algorithm, ledger, endorse, revoke, rekey }, "listening");
  return {
    attestor,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of connections) socket.destroy();
      await closed;
      await falcon?.close();
    },
  };
}

/** Limits the rate of signatures: a minute's number at once, then at that rate. */
function rateOf({ perMinute, now = () => performance.now() }: SignerOptions): () => boolean {
  if (perMinute === undefined) return () => true;
  let left = perMinute;
  let at = now();
  return () => {
    left = Math.min(perMinute, left + ((now() - at) * perMinute) / 60_000);
    at = now();
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
