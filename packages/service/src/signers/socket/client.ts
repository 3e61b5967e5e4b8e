import { createConnection, type Socket } from "node:net";
import { encodeAddress } from "@attestd/proof/algorand";
import { equalBytes } from "@attestd/proof/encoding";
import { configInvalid } from "../../config/config.ts";
import { endOf, race } from "../../lib/clock.ts";
import { ServiceError, type SignerFailure } from "../../lib/errors.ts";
import { accountForm } from "../account-form.ts";
import type { KeyPlace, KeyUse, SignedContext } from "../signer.ts";
import {
  type Answer,
  type Description,
  decodeAnswer,
  decodeDescription,
  encodeRequest,
  FrameReader,
  MAX_ANSWER,
  type Request,
} from "./protocol.ts";

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void };
type Connection = { socket: Socket; waiting: Map<number, Waiting>; answered: number; end(error: Error): void };
/** A request without its id. */
type Question = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

/**
 * Makes the place of the keys of `attestd signer`. One connection carries all requests; it is opened when needed, and
 * again after the signer was away.
 * @param path of its socket
 * @param genesisHash of the ledger for which it must sign, 32 bytes
 * @param address of the account for which it must sign; default: its key's own account
 */
export function socketPlace(path: string, genesisHash: Uint8Array, address?: string): KeyPlace {
  const words = `the signer at ${path}`;
  let connection: Connection | undefined;
  let last = 0;

  function failed(failure: SignerFailure, message: string, cause?: unknown): ServiceError<"signer_failed"> {
    return new ServiceError("signer_failed", message, { details: { failure }, cause });
  }

  function connect(): Connection {
    const socket = createConnection(path);
    const made: Connection = { socket, waiting: new Map(), answered: 0, end };
    const frames = new FrameReader(MAX_ANSWER);
    function end(error: Error): void {
      if (connection === made) connection = undefined;
      for (const { reject } of made.waiting.values()) reject(failed("unreachable", error.message, error));
      made.waiting.clear();
      socket.destroy();
    }
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const body of frames.push(chunk)) {
          const answer = decodeAnswer(body);
          made.waiting.get(answer.id)?.resolve(answer);
          made.waiting.delete(answer.id);
          made.answered += 1;
        }
      } catch (error) {
        end(error as Error);
      }
    });
    socket.on("error", end);
    socket.on("close", () => end(new Error("it has closed the connection")));
    // The connection does not keep the process running.
    socket.unref();
    return made;
  }

  async function ask(question: Question, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted();
    connection ??= connect();
    const used = connection;
    const { socket, waiting, answered } = used;
    last = (last + 1) % 2 ** 32;
    const id = last;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.set(id, { resolve, reject });
    socket.ref();
    socket.write(encodeRequest({ ...question, id }));
    try {
      const answer = await race(signal, () => promise, endOf);
      if ("done" in answer) return answer.done;
      throw failed(answer.failure, answer.reason);
    } finally {
      waiting.delete(id);
      // It may hang: the next request gets a new connection.
      if (signal.aborted && used.answered === answered) used.end(new Error("it does not answer"));
      if (waiting.size === 0) socket.unref();
    }
  }

  async function describe(signal: AbortSignal): Promise<Description> {
    const description = decodeDescription(await ask({ ask: "describe" }, signal));
    if (!equalBytes(description.genesisHash, genesisHash))
      throw configInvalid(`attestor.socket: ${words} signs for another ledger than chains.algorand.genesis_hash.`);
    const { algorithm, keys, account } = description;
    const wanted = address ?? encodeAddress(accountForm({ algorithm, publicKey: keys.account }).account);
    const found = encodeAddress(account);
    if (found !== wanted)
      throw configInvalid(
        `attestor.address: ${words} signs for the account ${found} (--address), and the settings mean ${wanted}: correct one of the two.`,
      );
    return description;
  }

  return {
    words,
    freshMs: 15_000,
    async open(use: KeyUse, signal: AbortSignal) {
      const { keys, algorithm } = await describe(signal);
      return {
        algorithm: use === "pq" ? "ml-dsa-65" : algorithm,
        publicKey: keys[use],
        sign: (message: Uint8Array, ends: AbortSignal, context: SignedContext = {}) =>
          ask({ ask: use, message, ...context }, ends),
      };
    },
    async close() {
      connection?.socket.destroy();
      connection = undefined;
    },
  };
}
