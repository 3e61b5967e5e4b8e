import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { sampleOf } from "../../../../test/helpers/samples.ts";
import { systemClock } from "../lib/clock.ts";
import { ServiceError, type SignerFailure } from "../lib/errors.ts";
import { startMetrics } from "../observe/metrics/meter.ts";
import { type GuardedKey, guardKey } from "./guard.ts";
import { seedKey } from "./seed.ts";
import type { Key, KeyUse } from "./signer.ts";

const never = new AbortController().signal;
const seed = new Uint8Array(32).fill(1);
const message = new TextEncoder().encode("TX and a transaction");
const failed = (failure: SignerFailure) => expect.objectContaining({ code: "signer_failed", details: { failure } });

type Behaviour = Key["sign"] | "right";

/** Makes a key that behaves as a test says, behind its guard. */
function guarded(use: KeyUse = "account", options: { deadlineMs?: number; maxActive?: number } = {}) {
  const real = seedKey(use, seed);
  const world = { now: 0, asked: 0, behaviour: "right" as Behaviour, lines: [] as string[] };
  const line = (level: string) => (_: object, text: string) => void world.lines.push(`${level} ${text}`);
  const key: Key = {
    algorithm: real.algorithm,
    publicKey: real.publicKey,
    sign(...given) {
      world.asked += 1;
      return world.behaviour === "right" ? real.sign(...given) : world.behaviour(...given);
    },
  };
  const guard = guardKey(key, {
    ...{ use, kind: "socket", words: "the signer", clock: systemClock, now: () => world.now },
    log: { error: line("error"), warn: line("warn"), info: line("info") } as unknown as Logger,
    ...options,
  });
  return { world, guard, real };
}

const throwing = (failure: SignerFailure) => async () => {
  throw new ServiceError("signer_failed", "it said no", { details: { failure } });
};

describe.each(["pq", "account"] as const)("a guarded %s key", (use) => {
  test("returns a right signature, and nothing else that a signer may answer", async () => {
    const { world, guard, real } = guarded(use);
    const right = await real.sign(message, never);
    expect(await guard.sign(message, never)).toHaveLength(right.length);
    const other = await seedKey(use, new Uint8Array(32).fill(2)).sign(message, never);
    const ofOther = await real.sign(new Uint8Array(3), never);
    const flipped = right.slice();
    flipped[5] = (flipped[5] as number) ^ 1;
    const longer = new Uint8Array([...right, 0]);
    for (const wrong of [other, ofOther, flipped, right.subarray(1), longer, new Uint8Array(), new Uint8Array(64)]) {
      world.behaviour = async () => wrong;
      // Advances the time beyond every pause, so that each request is sent.
      world.now += 60_000;
      await expect(guard.sign(message, never)).rejects.toThrow(failed("wrong"));
    }
    expect(world.asked).toBe(8);
  });
});

describe("a guarded key", () => {
  let world: ReturnType<typeof guarded>["world"];
  let guard: GuardedKey;
  beforeEach(() => {
    ({ world, guard } = guarded("account", { maxActive: 2 }));
  });

  test("sells no more at once after a wrong signature, and again after a right one", async () => {
    world.behaviour = async () => new Uint8Array(64);
    await expect(guard.sign(message, never)).rejects.toThrow(failed("wrong"));
    expect(guard.status()).toMatchObject({
      code: "signer_unavailable",
      reason: "The attestor's signer (socket) does not sign with the ed25519 key: its signatures are wrong.",
      facts: { key: "account", err: expect.objectContaining({ code: "signer_failed" }) },
    });
    world.behaviour = "right";
    await guard.refresh(never);
    expect(guard.status()).toEqual({ state: "ok" });
  });

  test("has patience with a signer that is away, up to a bound", async () => {
    world.behaviour = throwing("unreachable");
    await expect(guard.sign(message, never)).rejects.toThrow(failed("unreachable"));
    expect(guard.status()).toEqual({ state: "ok" });
    world.now = 5_000;
    expect(guard.status()).toMatchObject({ reason: expect.stringContaining("it cannot be reached") });
  });

  test("calls an answer late that does not come, and one that ignores its signal", async () => {
    ({ world, guard } = guarded("account", { deadlineMs: 20 }));
    world.behaviour = () => new Promise(() => undefined);
    await expect(guard.sign(message, never)).rejects.toThrow(failed("late"));
    world.behaviour = async (_, signal) => {
      await pause(10_000, undefined, { signal });
      return new Uint8Array(64);
    };
    await expect(guard.sign(message, never)).rejects.toThrow(failed("late"));
  });

  test("leaves a signer alone that fails again and again, and tries it after a rest", async () => {
    world.behaviour = throwing("denied");
    for (let i = 0; i < 5; i++) await expect(guard.sign(message, never)).rejects.toThrow(failed("denied"));
    await expect(guard.sign(message, never)).rejects.toThrow(/not asked for a while/);
    expect(world.asked).toBe(5);
    expect(guard.status()).toMatchObject({ reason: expect.stringContaining("it refuses us") });
    world.behaviour = "right";
    world.now += 500;
    await guard.sign(message, never);
    expect(guard.status()).toEqual({ state: "ok" });
  });

  test("takes a refusal of one message for no failure of the signer", async () => {
    world.behaviour = throwing("refused");
    for (let i = 0; i < 9; i++) await expect(guard.sign(message, never)).rejects.toThrow(failed("refused"));
    world.now = 60_000;
    expect(guard.status()).toEqual({ state: "ok" });
    expect(world.lines[0]).toBe("error the signer refuses to sign");
  });

  test("takes any other error for a signer that is away, and its caller's own end for none", async () => {
    world.behaviour = async () => {
      throw new TypeError("read ECONNRESET");
    };
    await expect(guard.sign(message, never)).rejects.toThrow(failed("unreachable"));
    const leaving = new AbortController();
    world.behaviour = () => new Promise(() => undefined);
    const left = guard.sign(message, leaving.signal);
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    world.behaviour = "right";
    await guard.sign(message, never);
    expect(guard.status()).toEqual({ state: "ok" });
  });

  test("asks for so many at a time; who leaves the queue takes no place", async () => {
    const { world: busy, guard: bounded } = guarded("account", { maxActive: 2 });
    const gate = Promise.withResolvers<void>();
    const real = seedKey("account", seed);
    busy.behaviour = async (...given) => {
      await gate.promise;
      return real.sign(...given);
    };
    const leaving = new AbortController();
    const first = [bounded.sign(message, never), bounded.sign(message, never)];
    const left = bounded.sign(message, leaving.signal);
    const last = [bounded.sign(message, never), bounded.sign(message, never)];
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(busy.asked).toBe(2);
    const waiting = async () =>
      sampleOf(await (await startMetrics()).text(), "attestd_signatures_waiting", { key: "account", signer: "socket" });
    expect(await waiting()).toBe(4);
    gate.resolve();
    expect(await Promise.all([...first, ...last])).toHaveLength(4);
    expect(busy.asked).toBe(4);
    expect(await waiting()).toBe(0);
  });

  test("is probed only when no recent signature shows that it signs; a probe is no transaction", async () => {
    const probes: string[] = [];
    const real = seedKey("account", seed);
    world.behaviour = async (bytes, ...rest) => {
      probes.push(new TextDecoder().decode(bytes));
      return real.sign(bytes, ...rest);
    };
    await guard.refresh(never);
    world.now = 59_999;
    await guard.refresh(never);
    world.now = 60_000;
    await guard.refresh(never);
    expect(probes).toHaveLength(2);
    for (const probe of probes) expect(probe).toMatch(/^attestd\/probe\/v1\/[0-9a-f]{32}$/);
    expect(probes[0]).not.toBe(probes[1]);
  });

  test("is refused where its public key has a wrong length", () => {
    const key = { algorithm: "ed25519" as const, publicKey: new Uint8Array(31), sign: async () => new Uint8Array(64) };
    const options = { use: "account", kind: "socket", words: "it", log: {} as Logger, clock: systemClock } as const;
    expect(() => guardKey(key, options)).toThrow(failed("wrong"));
  });
});
