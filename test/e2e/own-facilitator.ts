import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Sandbox } from "@attestd/sandbox";

/** The rails of a facilitator in a process of its own, each by its node's URL and the key of the fee payer. */
export type OwnFacilitator = {
  /** 0 picks a free one. */
  port: number;
  /** Keys of Algorand and Solana: base64 of 64 bytes. */
  algorand: { url: string; key: string; genesisHash: string };
  base: { url: string; key: `0x${string}` };
  solana: { url: string; key: string };
};

/** A stock facilitator that can be killed. */
export type KillableFacilitator = {
  url: string;
  /** Sets behaviours on demand, as packages/sandbox/facilitators.md lists them. */
  behave(text: string): Promise<void>;
  /** The behaviours on demand that are left. */
  behaviours(): Promise<string>;
  /** Kills it by SIGKILL, and waits for its end. */
  kill(): Promise<void>;
};

/**
 * Starts a facilitator in a process of its own for all rails of a sandbox, with the fee payers that the sandbox has for a
 * third facilitator.
 */
export async function startKillableFacilitator(sandbox: Sandbox, port = 0): Promise<KillableFacilitator> {
  const { algorand, base, solana } = sandbox;
  const [baseKey, solanaKey] = [base?.otherFacilitators[1], solana?.otherFeePayers[1]];
  if (!base || !solana || !baseKey || !solanaKey) throw new Error("the sandbox has not all three networks");
  const own: OwnFacilitator = {
    port,
    algorand: {
      url: algorand.networkUrl,
      genesisHash: algorand.genesisHash,
      key: Buffer.from(algorand.accounts.thirdFeePayer.secretKey).toString("base64"),
    },
    base: { url: base.rpcUrl, key: baseKey.privateKey },
    solana: { url: solana.rpcUrl, key: solanaKey.secretKeyBase64 },
  };
  const file = join(import.meta.dirname, "facilitator-process.ts");
  const child = spawn(process.execPath, [file, JSON.stringify(own)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout);
  const [url] = await Promise.race([once(lines, "line"), ended.then(() => Promise.reject(new Error("it ended")))]);
  const behaviour = new URL("/sandbox/behaviour", String(url));
  return {
    url: String(url),
    async behave(text) {
      const { ok, status } = await fetch(behaviour, { method: "PUT", body: text });
      if (!ok) throw new Error(`the behaviour was answered ${status}`);
    },
    behaviours: async () => (await fetch(behaviour)).text(),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
