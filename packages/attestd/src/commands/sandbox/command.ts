import { command, flag, value, withDefault } from "../../command.ts";
import { wholeNumber } from "../../options.ts";

const port = wholeNumber("a port, 0 to 65535", 0, 65_535);
const milliseconds = wholeNumber("whole milliseconds from 10 to 60000", 10, 60_000);

export const sandbox = command({
  name: "sandbox",
  summary: "run everything locally, without real money",
  help: [
    "Run local networks with funded wallets, and the service on them. No real money; nothing leaves this machine.",
    "  attestd sandbox                         again: the same sandbox goes on",
    "  attestd sandbox --fresh                 a new one, with other keys and empty chains",
    "  attestd sandbox --port 0 --round-ms 200",
    "  attestd sandbox --replay recordings/    also serve recorded transactions",
  ],
  options: {
    port: value("<n>", "port of the service, 0 for a free one (default: $PORT, else 4020)", port),
    roundMs: withDefault(value("<n>", "time between rounds of the ledger", milliseconds), 1000),
    replay: value("<dir>", "recorded transactions and blocks to serve beside the simulated ones"),
    dir: withDefault(value("<dir>", "folder for its wallets, keys, chains and settings"), ".attestd"),
    fresh: flag("delete the sandbox in the folder, and start a new one"),
  },
  run: async (...given) => (await import("./run.ts")).runSandbox(...given),
});
