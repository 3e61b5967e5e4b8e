import type { Running } from "../environment.ts";

/** What runs a command: it gets the operands, the options and the environment, and gives the exit code. */
type CommandFunction = (...given: never[]) => number | Promise<number>;

/** An action that loads a command's function when the command runs, calls it, and ends with its exit code. */
export function runs({ environment, finish }: Running, load: () => Promise<CommandFunction>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = await load();
    // Commander's last argument is the command itself.
    const taken = [...given.slice(0, -1), environment] as never[];
    finish(await command(...taken));
  };
}
