import { createInterface } from "node:readline";
import { startKms } from "../../packages/service/test/fakes/kms/server.ts";
import type { KmsProcessOptions } from "./kms-server.ts";

/*
 * A fake KMS in a process of its own, which `kms-server.ts` starts and kills. Its one argument is the JSON of
 * `KmsProcessOptions`. It prints its URL. A number on its standard input is that of the next request to sign that it leaves
 * without an answer; it then prints a line. It ends when its standard input does.
 */
const { keys, port } = JSON.parse(process.argv[2] as string) as KmsProcessOptions;
let left = Number.POSITIVE_INFINITY;
const kms = await startKms(
  keys.map(({ seed, ...key }) => ({ ...key, seed: Uint8Array.fromHex(seed) })),
  { port },
);
kms.onSign = async () => {
  left -= 1;
  if (left > 0) return;
  console.log("silent");
  // Until it is killed.
  await new Promise(() => undefined);
};
createInterface(process.stdin)
  .on("line", (line) => {
    left = Number(line);
    console.log("armed");
  })
  .on("close", () => process.exit());
console.log(kms.url);
