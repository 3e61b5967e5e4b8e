import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Processes that do nothing but the work which cannot be left out. */
export interface Floor extends AsyncDisposable {
  /** What all of them together do a second. */
  rate(seconds: number): Promise<number>;
  /** CPU time of one, in µs. */
  cpu(seconds: number): Promise<number>;
}

/** @param file of this folder: says that it is ready, and then for every `{seconds}` how much it has `done`, in how many µs `cpu` */
export async function startFloor(file: string, processes: number, args: readonly string[] = []): Promise<Floor> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const children = Array.from({ length: processes }, () => fork(script, args));
  await Promise.all(children.map((child) => once(child, "message")));
  return {
    async rate(seconds) {
      const done = await Promise.all(children.map((child) => work(child, seconds)));
      return done.reduce((sum, { done }) => sum + done, 0) / seconds;
    },
    async cpu(seconds) {
      const all = await Promise.all(children.map((child) => work(child, seconds)));
      const [cpu, done] = [all.reduce((sum, one) => sum + one.cpu, 0), all.reduce((sum, one) => sum + one.done, 0)];
      return cpu / done;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.disconnect();
      await Promise.all(children.map((child) => once(child, "exit")));
    },
  };
}

type Work = { done: number; cpu: number };

async function work(child: ChildProcess, seconds: number): Promise<Work> {
  child.send({ seconds });
  const [message] = await once(child, "message");
  return message;
}
