import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { algorandClient, pay, sign } from "../packages/attestd/test/world.ts";
import { type Load, type Request, startLoad } from "./load.ts";
import { type Effort, inTurns, judge, type Row } from "./measure.ts";
import { startAttestd, startNetworks } from "./server.ts";

const CONNECTIONS = 64;

/**
 * POST /verify of a valid bundle over 64 connections, beside as many processes as there are cores that do nothing but
 * import the key and verify the signature; and of a bundle that fails in its schema, beside a valid one.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using attestd = await startAttestd(networks.settingsFile);
  const { sandbox } = networks;
  const request = { txid: sandbox.sampleTransactions.algorand };
  const attest = `${attestd.url}/attest`;
  const { status, text } = await pay(attest, request, await sign(attest, request, algorandClient(sandbox)));
  if (status !== 200) throw new Error(`no bundle: ${text}`);

  await using load = startLoad();
  await using floor = await startFloor(text, join(networks.dir, "bundle.json"));
  const valid = rate(load, attestd.url, text, 200, effort.seconds);
  const invalid = rate(load, attestd.url, text.replace('"version":1', '"version":2'), 400, effort.seconds);
  return [
    judge("verify", "/s", await inTurns(effort, valid, () => floor.rate(effort.seconds)), "share", { atLeast: 0.7 }),
    judge("verify-bad", "/s", await inTurns(effort, invalid, valid), "share", { atLeast: 3 }),
  ];
}

/** @returns answers a second */
function rate(load: Load, url: string, body: string, status: number, seconds: number): () => Promise<number> {
  const request: Request = { method: "POST", path: "/verify", body };
  return async () => {
    const result = await load.run(url, [request], { connections: CONNECTIONS, seconds, status });
    return result.answered / result.seconds;
  };
}

async function startFloor(bundle: string, file: string) {
  await writeFile(file, bundle);
  const script = fileURLToPath(new URL("bare-verify.ts", import.meta.url));
  const children = Array.from({ length: availableParallelism() }, () => fork(script, [file]));
  await Promise.all(children.map((child) => once(child, "message")));
  return {
    /** Signatures verified a second, by all of them together. */
    async rate(seconds: number): Promise<number> {
      const done = await Promise.all(
        children.map(async (child) => {
          child.send({ seconds });
          const [message] = await once(child, "message");
          return message.done as number;
        }),
      );
      return done.reduce((sum, one) => sum + one, 0) / seconds;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.disconnect();
      await Promise.all(children.map((child) => once(child, "exit")));
    },
  };
}
