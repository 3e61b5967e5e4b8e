import { type AlgorandNetwork, startAlgorand } from "./algorand/network.ts";
import { registerAlgorand } from "./facilitator/algorand.ts";
import { startFacilitator } from "./facilitator/server.ts";
import type { RequestObserver } from "./http.ts";

export interface SandboxOptions {
  /** Milliseconds between Algorand's rounds; 1000 unless given, 0 leaves them to `algorand.ledger.advance()`. */
  roundMs?: number;
  /** Each 0, a free port, unless given. */
  ports?: { algod?: number; indexer?: number; facilitator?: number };
  /** Recorded real data to be played beside the simulated. */
  replayDir?: string | undefined;
  /** Sees every request to any of the servers. */
  onRequest?: RequestObserver | undefined;
}

/** What `attestd sandbox` writes down, and what its service is set up with. A member of a network not built is absent. */
export interface Sandbox {
  algodUrl: string;
  indexerUrl: string;
  facilitatorUrl: string;
  genesisId: string;
  /** Base64. */
  genesisHash: string;
  ledgerCaip2: string;
  payers: { algorand: { address: string; mnemonic: string } };
  attestor: { address: string; mnemonic: string };
  payTo: { algorand: string };
  sampleTransactions: { algorand: string; algorandHeight: number };
  /** CAIP-2 of every chain found in the replay: what the service has to accept as a source beside its ledger. */
  sourceChains: string[];
  /** For tests; whoever plays by the rules uses the URLs. */
  algorand: AlgorandNetwork;
  close(): Promise<void>;
}

/**
 * Starts every network of the sandbox and the facilitator for all of them. Its keys and genesis are random: nothing
 * signed here is valid anywhere else, nor in another sandbox.
 * @throws Error naming the file when a recording cannot be played
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { roundMs = 1000, ports = {}, replayDir, onRequest } = options;
  const algorand = await startAlgorand({
    roundMs,
    algodPort: ports.algod,
    indexerPort: ports.indexer,
    replayDir,
    onRequest,
  });
  const { payer, attestor, payTo, feePayer } = algorand.accounts;
  const facilitator = await startFacilitator({
    rails: [registerAlgorand({ algodUrl: algorand.algodUrl, secretKey: feePayer.secretKey })],
    port: ports.facilitator,
    onRequest,
  });
  return {
    algodUrl: algorand.algodUrl,
    indexerUrl: algorand.indexerUrl,
    facilitatorUrl: facilitator.url,
    genesisId: algorand.genesisId,
    genesisHash: algorand.genesisHash,
    ledgerCaip2: algorand.caip2,
    payers: { algorand: { address: payer.address, mnemonic: payer.mnemonic } },
    attestor: { address: attestor.address, mnemonic: attestor.mnemonic },
    payTo: { algorand: payTo.address },
    sampleTransactions: { algorand: algorand.sample.txid, algorandHeight: algorand.sample.round },
    sourceChains: algorand.recordedChains,
    algorand,
    close: async () => {
      await facilitator.close();
      await algorand.close();
    },
  };
}
