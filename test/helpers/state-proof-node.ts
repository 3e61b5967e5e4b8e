import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { type Checkpoint, checkpointAfter } from "@attestd/proof/state-proof";
import type { Proven } from "../../packages/proof/test/state-proofs.ts";

/** What a node does instead of answering for the state proof of these rounds. */
export type Mischief = (response: ServerResponse, proven: Proven) => void;

/** An algod that has recorded state proofs. */
export async function startStateProofNode(proofs: readonly Proven[]) {
  const last = proofs.at(-1)?.message.lastAttestedRound ?? 0;
  const state = {
    last,
    mischief: new Map<number, Mischief>(),
    asked: 0,
    genesisHash: proofs[0]?.checkpoint.genesisHash,
  };
  const json = (response: ServerResponse, value: object, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  const server = createServer(({ url = "" }, response) => {
    const params = {
      "genesis-hash": state.genesisHash,
      "genesis-id": "x",
      "last-round": state.last,
      fee: 0,
      "min-fee": 1000,
    };
    if (url === "/v2/transactions/params") return json(response, params);
    if (url === "/v2/status") return json(response, { "last-round": state.last, "catchup-time": 0 });
    const round = Number(url.split("/").at(-1));
    const proven = proofs.find(({ message: { firstAttestedRound: first, lastAttestedRound: until } }) => {
      return first <= round && round <= until && until <= state.last;
    });
    if (proven === undefined) return json(response, { message: "no state proof can be found for that round" }, 404);
    state.asked++;
    const instead = state.mischief.get(proven.message.lastAttestedRound);
    return instead ? instead(response, proven) : json(response, answerOf(proven));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return Object.assign(state, { url, json, close });
}

/** algod's answer with a state proof. */
export function answerOf({ message, stateProof }: Proven): object {
  const { blockHeadersCommitment, votersCommitment, lnProvenWeight, firstAttestedRound, lastAttestedRound } = message;
  return {
    Message: {
      BlockHeadersCommitment: blockHeadersCommitment,
      VotersCommitment: votersCommitment,
      LnProvenWeight: lnProvenWeight,
      FirstAttestedRound: firstAttestedRound,
      LastAttestedRound: lastAttestedRound,
    },
    StateProof: toBase64(stateProof),
  };
}

/** The checkpoints that recorded messages lead to, the first one included. */
export function checkpointsOf(proofs: readonly Proven[]): Checkpoint[] {
  return proofs.flatMap(({ message, checkpoint }, index) => [
    ...(index === 0 ? [checkpoint] : []),
    checkpointAfter(fromBase64(checkpoint.genesisHash), message),
  ]);
}
