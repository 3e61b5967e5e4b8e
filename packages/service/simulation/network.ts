import type { Faults, Upstream } from "./faults.ts";
import type { Life, Scheduler } from "./scheduler.ts";

export type Question<T> = {
  /** Who asks. */
  life: Life;
  to: Upstream;
  what: string;
  about: string;
  signal?: AbortSignal;
  /** What the other side does once the question has come. It answers now or later; what it throws now is its answer too. */
  serve(answer: (value: T) => void): void;
  /** The error for a connection that broke. */
  broken(): Error;
  /** The error when the asker's signal ends the question; the signal's reason by default. */
  ended?(signal: AbortSignal): unknown;
};

export type Ask = <T>(question: Question<T>) => Promise<T>;

/**
 * Carries questions from a process to others and their answers back, each way a step of its own, through the faults.
 *
 * A question that is under way when its asker dies arrives or not; an answer to a dead process is dropped.
 */
export function createNetwork(scheduler: Scheduler, faults: Faults): Ask {
  return <T>({ life, to, what, about, signal, serve, broken, ended }: Question<T>) =>
    new Promise<T>((resolve, reject) => {
      const endedBy = (by: AbortSignal) => reject(ended ? ended(by) : by.reason);
      if (signal?.aborted) return endedBy(signal);
      const fate = faults.fate(to);
      let waiting = true;
      const leave = () => {
        waiting = false;
        signal?.removeEventListener("abort", giveUp);
      };
      const giveUp = () => {
        leave();
        if (signal) endedBy(signal);
      };
      signal?.addEventListener("abort", giveUp);
      const reply = (how: string, deliver: () => void) =>
        scheduler.soon(life, how, about, () => {
          if (!waiting) return false;
          leave();
          deliver();
        });
      const breakOff = () => reply(`${what}: broken`, () => reject(broken()));
      const answer = (how: string, deliver: () => void) => {
        if (fate === "cut") breakOff();
        else if (fate !== "unanswered") reply(how, deliver);
      };
      const arrive = () => {
        try {
          serve((value) => answer(`${what}: answered`, () => resolve(value)));
        } catch (error) {
          answer(`${what}: failed`, () => reject(error));
        }
      };
      if (fate === "refused") breakOff();
      else if (fate !== "lost") scheduler.send(life, fate === "slow" ? faults.delay(to) : 0, what, about, arrive);
    });
}
