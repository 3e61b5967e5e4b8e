import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { BASE_CHAIN_ID } from "@attestd/proof/base";
import { anvilBinary } from "./anvil-binary.ts";

export interface AnvilOptions {
  /**
   * Time between blocks, in milliseconds. Undefined: `evm_mine` makes blocks, with transactions in order of arrival.
   */
  blockMs: number | undefined;
  /** Number of the genesis block. */
  firstBlock: number;
}

/**
 * Kills anvil when the sandbox ends, for whatever reason. Descriptor 3 is a pipe from this process: when its other end
 * is closed (`close()`, a crash, SIGKILL), `read` returns and anvil is killed, with SIGKILL because a chain in memory
 * has nothing to save. The shell waits for both.
 */
const GUARD = `
"$@" 3<&- & anvil=$!
{ read -r _ <&3; kill -KILL $anvil; } >/dev/null 2>&1 & guard=$!
wait $anvil; status=$?
{ kill $guard; wait $guard; } 2>/dev/null
exit $status`;

/**
 * Starts the real anvil (@foundry-rs/anvil) as a child on 127.0.0.1 and a free port: chain id 8453 and OP Stack rules,
 * so that 0x7e deposits are accepted; `--slots-in-an-epoch 1`, so that `safe` is one block behind `latest` and
 * `finalized` two; no accounts, because anvil's own come from a public mnemonic; and no state on disk.
 * @throws {Error} when no binary exists for this platform, or anvil ends before it listens
 */
export async function startAnvil({ blockMs, firstBlock }: AnvilOptions) {
  const options = [
    ...["--host", "127.0.0.1", "--port", "0", "--no-cors"],
    ...["--chain-id", String(BASE_CHAIN_ID), "--network", "optimism", "--accounts", "0"],
    ...(blockMs === undefined ? ["--no-mining", "--order", "fifo"] : ["--block-time", String(blockMs / 1000)]),
    ...["--slots-in-an-epoch", "1", "--number", String(firstBlock)],
    // Old states are dropped rather than written to the home directory. Blocks, receipts and logs are all kept.
    ...["--prune-history", "256"],
  ];
  // Its own process group: Ctrl-C reaches only the sandbox, which then closes its parts in order.
  const child = spawn("/bin/sh", ["-c", GUARD, "sh", anvilBinary(), ...options], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: true,
    env: { RUST_BACKTRACE: "0" },
  });
  const [, stdout, stderr, lifeline] = child.stdio as unknown as [null, Readable, Readable, Writable];
  lifeline.on("error", () => {}); // EPIPE after anvil has ended by itself, which `exited` reports.

  let closing = false;
  let stderrEnd = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrEnd = (stderrEnd + text).slice(-2000);
  });
  /** Resolves when the process has ended: with the reason, or with undefined after `close()`. */
  const exited = Promise.all([once(child, "exit"), once(stderr, "close")]).then(([[status]]) =>
    closing ? undefined : `anvil ended with status ${status}: ${stripVTControlCharacters(stderrEnd).trim()}`,
  );
  /** Kills the process and waits for its end. */
  const close = async () => {
    closing = true;
    lifeline.end();
    await exited;
  };

  /** Anvil's own JSON-RPC URL. Clients use the URL of `proxy.ts`. */
  const url = await Promise.race([listening(stdout), exited]);
  if (url === undefined || !url.startsWith("http")) throw new Error(url ?? "anvil was closed before it listened");
  stdout.resume();
  return { url, exited, close };
}

/** Resolves with the URL once anvil prints where it listens. */
async function listening(stdout: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const match = /^Listening on (127\.0\.0\.1:\d+)$/.exec(line);
    if (match) return `http://${match[1]}`;
  }
  return new Promise(() => {}); // The stream ended: the race is settled by `exited`.
}
