import type { Clock } from "../src/lib/clock.ts";
import type { Random } from "./random.ts";
import { PlainController } from "./signals.ts";
import { Timers } from "./timers.ts";

/** What may die, or stand still for a while: a process of the service. */
export type Life = { readonly name: string; alive: boolean; paused: boolean };

/** An event that is due. `run` returns false when its receiver is gone: that is no step. */
type Happening = {
  /** Whose: it does not happen once that one is dead, nor while it stands still. Nobody's happens in any case. */
  life: Life | undefined;
  /** It has left its process and is under way: it may happen though that one is dead. */
  inFlight: boolean;
  what: string;
  about: string;
  run: () => unknown;
};

export type SchedulerOptions = {
  random: Random;
  /** Called with each event that happens. */
  trace?: ((line: string) => void) | undefined;
};

/** Steps run in one turn of the event loop; between two of them every microtask runs. */
const STEPS_A_TURN = 64;
const TIMED_OUT = new DOMException("the time is up", "TimeoutError");
/** Unix ms at which every simulation begins. */
const BEGINNING = 1_800_000_000_000;

/**
 * Decides what happens next, by chance alone, so that the same seed gives the same course of things.
 *
 * Everything that the simulated service waits for is here, and nothing happens but by a step. After a step, all code
 * that it woke runs until it waits again; only then comes the next one. Time moves only when a step is taken out of the
 * timers: when nothing else is left to happen or, by haste, before what could happen now, which then is slow.
 */
export class Scheduler {
  readonly random: Random;
  /** How likely time moves on though something else could happen now. */
  haste = 0;
  steps = 0;
  #now = BEGINNING;
  #ready: Happening[] = [];
  #held: Happening[] = [];
  #inFlight = 0;
  readonly #timers = new Timers<Happening>();
  readonly #trace: ((line: string) => void) | undefined;

  constructor({ random, trace }: SchedulerOptions) {
    this.random = random;
    this.#trace = trace;
  }

  /** Unix ms. */
  get now(): number {
    return this.#now;
  }

  /** Things under way between two parties. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Lets something happen at some time from now on. */
  soon(life: Life | undefined, what: string, about: string, run: Happening["run"]): void {
    this.#ready.push({ life, inFlight: false, what, about, run });
  }

  /** Lets something happen after so many ms, or later. */
  later(life: Life | undefined, ms: number, what: string, about: string, run: Happening["run"]): void {
    this.#timers.add(this.#now + ms, { life, inFlight: false, what, about, run });
  }

  /** Sends something on its way: from now on it may happen though its sender dies. */
  send(life: Life | undefined, ms: number, what: string, about: string, run: Happening["run"]): void {
    this.#inFlight += 1;
    const happening = { life, inFlight: true, what, about, run };
    if (ms > 0) this.#timers.add(this.#now + ms, happening);
    else this.#ready.push(happening);
  }

  /** Notes what happens inside a step. */
  note(who: string, what: string, about: string): void {
    this.#trace?.(this.#line(who, what, about));
  }

  get tracing(): boolean {
    return this.#trace !== undefined;
  }

  /** What the one who stands still was waiting for happens from now on. */
  wake(life: Life): void {
    life.paused = false;
    const [woken, held] = [this.#held.filter((held) => held.life === life), this.#held.filter((h) => h.life !== life)];
    this.#held = held;
    this.#ready.push(...woken);
  }

  /** Waits without being anyone's. */
  pause(ms: number, what: string): Promise<void> {
    return new Promise((resolve) => this.later(undefined, ms, what, "", resolve));
  }

  /** The clock of a process. @param skew ms by which it is wrong */
  clock(life: Life, skew: number): Clock {
    return {
      now: () => this.#now + skew,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          let over = false;
          const cut = () => {
            over = true;
            reject(signal?.reason);
          };
          signal?.addEventListener("abort", cut, { once: true });
          this.later(life, ms, "awakes", "", () => {
            if (over) return false;
            signal?.removeEventListener("abort", cut);
            resolve();
          });
        }),
      timeout: (ms) => {
        const controller = new PlainController();
        this.later(life, ms, "time is up", "", () => controller.abort(TIMED_OUT));
        return controller.signal as unknown as AbortSignal;
      },
      after: (ms, run) => {
        let over = false;
        this.later(life, ms, "time is up", "", () => {
          if (over) return false;
          run();
        });
        return () => {
          over = true;
        };
      },
    };
  }

  /** Takes steps until it is over. @throws what a step throws */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let over = false;
      const step = () => {
        if (over) return;
        try {
          if (!isOver()) return this.#step();
          over = true;
          resolve();
        } catch (error) {
          over = true;
          reject(error);
        }
      };
      const turn = () => {
        if (over) return;
        for (let i = 0; i < STEPS_A_TURN; i++) setImmediate(step);
        setImmediate(turn);
      };
      turn();
    });
  }

  #step(): void {
    for (;;) {
      const happening = this.#next();
      if (happening.inFlight) this.#inFlight -= 1;
      const { life, inFlight, what, about, run } = happening;
      if (life && !life.alive && !(inFlight && this.random.chance(0.5))) continue;
      if (life?.paused && !inFlight) {
        this.#held.push(happening);
        continue;
      }
      if (this.#trace) this.#trace(this.#line(life?.name ?? "", what, about));
      if (run() !== false) break;
    }
    this.steps += 1;
  }

  /** Takes out what happens next, dead or alive. */
  #next(): Happening {
    const ready = this.#ready;
    if (ready.length === 0 || (this.haste > 0 && this.random.chance(this.haste))) this.#leap();
    const place = this.random.below(ready.length);
    const happening = ready[place];
    const last = ready.pop();
    if (!happening || !last) throw new Error("nothing is left to happen");
    if (last !== happening) ready[place] = last;
    return happening;
  }

  /** Moves time on to the soonest timer, and lets all that is due then happen. */
  #leap(): void {
    const timers = this.#timers;
    if (timers.soonest < Number.POSITIVE_INFINITY) this.#now = Math.max(this.#now, timers.soonest);
    while (timers.soonest <= this.#now) this.#ready.push(timers.take() as Happening);
  }

  #line(who: string, what: string, about: string): string {
    return `${((this.#now - BEGINNING) / 1000).toFixed(1).padStart(6)} ${who.padEnd(3)} ${what}${about && ` ${about}`}`;
  }
}
