import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process that does nothing but the work which cannot be left out. */
export interface Floor extends AsyncDisposable {
  /** CPU time of one piece of work, in µs. */
  cpu(seconds: number): Promise<number>;
}

/** @param file of this folder: says that it is ready, and then for every `{seconds}` how much it has `done`, in how many µs `cpu` */
export async function startFloor(file: string, args: readonly string[] = []): Promise<Floor> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  await once(child, "message");
  return {
    async cpu(seconds) {
      child.send({ seconds });
      const [{ cpu, done }] = await once(child, "message");
      return cpu / done;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}
