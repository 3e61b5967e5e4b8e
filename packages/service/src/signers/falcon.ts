import { createWorkerPool } from "../lib/workers/pool.ts";
import type { Key } from "./signer.ts";

/** A Falcon-1024 key, and a function that ends its thread. */
export type FalconKey = Key & { close(): Promise<void> };

/**
 * Makes the Falcon-1024 key of a mnemonic, on a thread of its own. Making it takes half a second of a core, a signature
 * some 20 ms.
 * @param entropy the 32 bytes of the mnemonic
 */
export async function falconKey(entropy: Uint8Array): Promise<FalconKey> {
  const pool = createWorkerPool(new URL("./falcon-worker.ts", import.meta.url), { maxWorkers: 1 });
  // A copy, because the caller may overwrite its own. A thread that has died is started again with it.
  pool.share(new Uint8Array(entropy));
  const publicKey = (await pool.run("publicKey", [])) as Uint8Array;
  return {
    algorithm: "falcon-1024",
    publicKey,
    sign: async (message) => (await pool.run("sign", [message])) as Uint8Array,
    close: () => pool.close(),
  };
}
