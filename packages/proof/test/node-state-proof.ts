import type { StateProofMessage } from "../src/algorand/state-proof/index.ts";
import { SUMHASH_LENGTH } from "../src/algorand/state-proof/sumhash.ts";
import { fromBase64 } from "../src/encoding.ts";
import { base64, integer, object } from "../src/json/readers.ts";

const readNodeMessage = object({
  BlockHeadersCommitment: base64(32),
  VotersCommitment: base64(SUMHASH_LENGTH),
  LnProvenWeight: integer(1),
  FirstAttestedRound: integer(1),
  LastAttestedRound: integer(1),
});
const readNodeAnswer = object({ Message: readNodeMessage, StateProof: base64() });

/**
 * Reads algod's answer to `GET /v2/stateproofs/{round}`: the message, and the state proof's canonical msgpack in base64.
 * @throws ProofError `format`
 */
export function readNodeStateProof(answer: unknown): { message: StateProofMessage; stateProof: Uint8Array } {
  const { Message, StateProof } = readNodeAnswer(answer, "");
  return {
    message: {
      blockHeadersCommitment: Message.BlockHeadersCommitment,
      votersCommitment: Message.VotersCommitment,
      lnProvenWeight: Message.LnProvenWeight,
      firstAttestedRound: Message.FirstAttestedRound,
      lastAttestedRound: Message.LastAttestedRound,
    },
    stateProof: fromBase64(StateProof),
  };
}
