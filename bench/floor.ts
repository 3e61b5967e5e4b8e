import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Processes that do nothing but the work which cannot be left out. */
export interface Floor extends AsyncDisposable {
  /** What all of them together do a second. */
  rate(seconds: number): Promise<number>;
}

/** @param file of this folder: says that it is ready, and then for every `{seconds}` how much it has `done` */
export async function startFloor(file: string, processes: number, args: readonly string[] = []): Promise<Floor> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const children = Array.from({ length: processes }, () => fork(script, args));
  await Promise.all(children.map((child) => once(child, "message")));
  return {
    async rate(seconds) {
      const done = await Promise.all(children.map((child) => work(child, seconds)));
      return done.reduce((sum, one) => sum + one, 0) / seconds;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.disconnect();
      await Promise.all(children.map((child) => once(child, "exit")));
    },
  };
}

async function work(child: ChildProcess, seconds: number): Promise<number> {
  child.send({ seconds });
  const [message] = await once(child, "message");
  return message.done;
}
