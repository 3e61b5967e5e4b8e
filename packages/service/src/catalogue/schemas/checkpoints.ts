import { z } from "zod";
import { SafeInteger, Sha256Hex } from "./primitives.ts";
import { namedObject } from "./registry.ts";

const GenesisHash = z.base64().length(44).describe("The genesis hash of the network: 32 bytes, base64.");

const Checkpoint = namedObject("Checkpoint", "What a state proof of Algorand rests on.", {
  genesisHash: GenesisHash,
  round: SafeInteger.describe("The last round that is attested by then."),
  votersCommitment: z.base64().length(88).describe("To those who sign the next state proof: 64 bytes, base64."),
  lnProvenWeight: SafeInteger.min(1).describe(
    "ln of the microalgos that it must prove, in 16 binary places, rounded up.",
  ),
});

/** In agreement with `readPublishedCheckpoints` of `@attestd/proof/evidence`. */
export const Checkpoints = namedObject(
  "Checkpoints",
  "A table of checkpoints, each verified by the state proof before it, without its entries.",
  {
    format: z.literal("attestd.checkpoints/1"),
    genesisHash: GenesisHash,
    firstRound: SafeInteger.describe("The round of the first checkpoint, from which the walk began."),
    interval: SafeInteger.min(1).describe("The rounds from one checkpoint to the next."),
    size: SafeInteger.min(1).describe("The number of checkpoints."),
    root: Sha256Hex.describe("The root of the table by RFC 6962: 32 bytes, hex."),
    last: z.array(Checkpoint).max(20).describe("The last checkpoints, newest last."),
  },
);
