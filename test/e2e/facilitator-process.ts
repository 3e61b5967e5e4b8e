import { registerAlgorand } from "../../packages/sandbox/src/facilitator/algorand.ts";
import { registerBase } from "../../packages/sandbox/src/facilitator/base.ts";
import { startFacilitator } from "../../packages/sandbox/src/facilitator/server.ts";
import { registerSolana } from "../../packages/sandbox/src/facilitator/solana.ts";
import type { OwnFacilitator } from "./own-facilitator.ts";

/*
 * A facilitator in a process of its own, which `own-facilitator.ts` starts and kills. Its one argument is the JSON of an
 * `OwnFacilitator`; it prints its URL, and ends when its standard input does.
 */
const { algorand, base, solana, port } = JSON.parse(process.argv[2] as string) as OwnFacilitator;
const { url } = await startFacilitator({
  port,
  rails: [
    registerAlgorand({
      algodUrl: algorand.url,
      genesisHash: algorand.genesisHash,
      secretKey: Buffer.from(algorand.key, "base64"),
    }),
    registerBase(base.url, base.key),
    registerSolana(solana.url, solana.key),
  ],
});
console.log(url);
process.stdin.resume().on("end", () => process.exit());
