import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createOutbox, type Waiting } from "./outbox.ts";

const MIB = 1024 * 1024;

/** An answer whose connection ends when it is destroyed, or when its client has all of it. */
function anAnswer(headers: Record<string, string> = {}) {
  const outgoing = new EventEmitter() as EventEmitter & { req: object };
  let isClosed = false;
  const close = () => {
    isClosed = true;
    outgoing.emit("close");
  };
  outgoing.req = { headers, socket: { destroy: close } };
  return { outgoing: outgoing as unknown as ServerResponse, close, isClosed: () => isClosed };
}

function stage(options: { maxPerClient?: number; maxInAll?: number } = {}) {
  const clock = { time: 0 };
  const outbox = createOutbox({ ...options, now: () => clock.time });
  const send = (client: string, bytes: number, headers?: Record<string, string>) => {
    const answer = anAnswer(headers);
    return { ...answer, result: outbox.admit(answer.outgoing, client, bytes) };
  };
  return { clock, outbox, send };
}

describe("answers that are not read", () => {
  test("are held up to a bound for each client, beside a first one of whatever size", () => {
    const { outbox, send } = stage();
    const first = send("a", 40 * MIB);
    expect(send("a", 1).result).toMatchObject({
      code: "too_many_requests",
      message: "40 MiB of answers wait for this client to read them.",
      retryAfter: 10,
      members: {},
    });
    expect(send("a", 1, { "payment-signature": "p" }).result).toMatchObject({
      members: { retry: { sameHeader: true } },
    });
    expect(send("b", 11 * MIB).result).toHaveProperty("took");
    expect(send("b", 11 * MIB).result).toHaveProperty("took");
    expect(send("b", 11 * MIB).result).toMatchObject({ code: "too_many_requests" });
    first.close();
    expect(send("a", 11 * MIB).result).toHaveProperty("took");
    expect(outbox.load).toEqual({ bytes: 33 * MIB, answers: 3 });
  });

  test("are held up to a bound in all; the stalest are closed for those that come, and what is being read never", () => {
    const { clock, outbox, send } = stage({ maxInAll: 40 * MIB });
    const [idle, read, idler] = [send("a", 10 * MIB), send("b", 10 * MIB), send("c", 10 * MIB)];
    clock.time = 5_000;
    (read.result as Waiting).took(2 * MIB);
    (idle.result as Waiting).took(MIB);
    clock.time = 29_999;
    expect(send("d", 11 * MIB).result).toMatchObject({
      code: "too_many_requests",
      message: expect.stringMatching(/wait for their clients/),
    });
    clock.time = 35_000;
    (read.result as Waiting).took(2 * MIB);
    expect(send("d", 11 * MIB).result).toHaveProperty("took");
    expect([idle, read, idler].map(({ isClosed }) => isClosed())).toEqual([false, false, true]);
    expect(send("e", 20 * MIB).result).toMatchObject({ code: "too_many_requests" });
    // To close the other would not have made room enough.
    expect([idle, read, idler].map(({ isClosed }) => isClosed())).toEqual([false, false, true]);
    expect(outbox.load).toEqual({ bytes: 31 * MIB, answers: 3 });
  });

  test("keep no place by a little that is read now and then; a reader of 50 kB/s keeps it", () => {
    const { clock, outbox, send } = stage({ maxInAll: 30 * MIB });
    const [trickle, slow] = [send("a", 15 * MIB), send("b", 15 * MIB)];
    const take = () => {
      (trickle.result as Waiting).took(64 * 1024);
      (slow.result as Waiting).took(26 * 50_000);
    };
    for (clock.time = 26_000; clock.time < 260_000; clock.time += 26_000) take();
    expect(send("c", 10 * MIB).result).toHaveProperty("took");
    expect([trickle, slow].map(({ isClosed }) => isClosed())).toEqual([true, false]);
    expect(outbox.load).toEqual({ bytes: 25 * MIB, answers: 2 });
  });

  test("of one client give way to its next one when it reads none of them, and nobody else's do", () => {
    const { clock, outbox, send } = stage();
    const [gone, other] = [send("a", 40 * MIB), send("b", 20 * MIB)];
    clock.time = 30_000;
    expect(send("a", 10 * MIB).result).toHaveProperty("took");
    expect([gone, other].map(({ isClosed }) => isClosed())).toEqual([true, false]);
    expect(outbox.load).toEqual({ bytes: 30 * MIB, answers: 2 });
  });

  test("leave nothing behind", () => {
    const { outbox, send } = stage();
    const answers = Array.from({ length: 9 }, (_, n) => send(`${n % 2}`, MIB));
    for (const { close } of [...answers, ...answers]) close();
    expect(outbox.load).toEqual({ bytes: 0, answers: 0 });
  });
});
