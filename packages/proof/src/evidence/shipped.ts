import { ALGORAND_MAINNET_GENESIS_HASH } from "../algorand/network.ts";
import type { Checkpoint } from "../algorand/state-proof/message.ts";

/**
 * Checkpoints by name, to start a walk from, or to trust if their source is enough. A verifier trusts one only by
 * naming it, because nothing here verifies the stake before it.
 */
export const SHIPPED_CHECKPOINTS: Readonly<Record<string, { checkpoint: Checkpoint; source: string }>> = {
  "mainnet-59999744": {
    checkpoint: {
      genesisHash: ALGORAND_MAINNET_GENESIS_HASH,
      round: 59_999_744,
      votersCommitment: "Yqhs72l9VsNRRfXTDe5ZRmRnsTYP9fm0rp5kywwt8y9Ul39tNa1abC7ceX3+Hy3XnxZogVGzYRZsBMJCvpwTWQ==",
      lnProvenWeight: 2_230_322,
    },
    source:
      "a recording by others of MainNet's transaction WH6WHFQIFYZTKTOUTMNZUZV4ENEVWGYFBYVQ2AHENUZ3F4Z4P64Q in round 59,999,877",
  },
};
