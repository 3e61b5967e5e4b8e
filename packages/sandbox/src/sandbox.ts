import { type AlgorandNetwork, startAlgorand } from "./algorand/network.ts";
import type { BaseNetwork } from "./base/network.ts";
import { type RailRegistration, startFacilitator } from "./facilitator/server.ts";
import type { Listening, RequestObserver } from "./http.ts";
import type { SolanaNetwork } from "./solana/network.ts";

/** Networks beside Algorand's, which is always started because it is the ledger. */
export type OptionalNetwork = "base" | "solana";

export interface SandboxOptions {
  /**
   * Milliseconds between Algorand's rounds and between Base's blocks; 1000 unless given. 0 leaves Algorand's rounds to
   * `algorand.ledger.advance()`, and Base its default.
   */
  roundMs?: number;
  /** Each 0, a free port, unless given. */
  ports?: { algod?: number; indexer?: number; facilitator?: number; base?: number; solana?: number };
  /** Both unless given. */
  networks?: OptionalNetwork[];
  /** Folder with recorded real data to serve beside the simulated. */
  replayDir?: string | undefined;
  /** Called with every request to any of the servers. */
  onRequest?: RequestObserver | undefined;
}

/** A running sandbox, for the settings of a service on it. Members of an absent network are absent. */
export interface Sandbox {
  algodUrl: string;
  indexerUrl: string;
  baseRpcUrl?: string;
  solanaRpcUrl?: string;
  /** One facilitator for every rail. */
  facilitatorUrl: string;
  genesisId: string;
  /** Base64. */
  genesisHash: string;
  ledgerCaip2: string;
  payers: {
    algorand: { address: string; mnemonic: string };
    base?: { address: string; privateKey: string };
    /** Base64 of 64 bytes, seed and then public key. */
    solana?: { address: string; secretKeyBase64: string };
  };
  attestor: { address: string; mnemonic: string };
  payTo: { algorand: string; base?: string; solana?: string };
  /** Confirmed and final transactions. */
  sampleTransactions: { algorand: string; algorandHeight: number; base?: string; baseHeight?: number };
  /** CAIP-2 of every chain in the recordings, which a service may accept as sources too. */
  sourceChains: string[];
  /** Resolves with the reason when a network dies by itself, or with undefined when it was closed. */
  died: Promise<string | undefined>;
  /** For tests; clients use the URLs. */
  algorand: AlgorandNetwork;
  solana?: SolanaNetwork;
  /** Stops everything, child processes included. */
  close(): Promise<void>;
}

/**
 * Starts the networks of a sandbox in parallel, and a facilitator for all of them. Keys and the genesis of the ledger are
 * random: nothing signed here is valid anywhere else, nor in another sandbox.
 * @throws Error with the file's name when a recording is invalid, or with the part that did not start; everything else is
 * stopped again
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { ports = {}, onRequest, networks = ["base", "solana"] } = options;
  const started: { close(): Promise<void> }[] = [];
  const keep = <T extends Listening | AlgorandNetwork | BaseNetwork | SolanaNetwork>(running: Promise<T>): Promise<T> =>
    running.then((one) => {
      started.push(one);
      return one;
    });
  const close = async () => {
    // The facilitator, started last, stops before the networks that it uses.
    for (const one of started.splice(0).reverse()) await one.close();
  };
  try {
    const all = [
      keep(runAlgorand(options)),
      networks.includes("base") ? keep(runBase(options)) : undefined,
      networks.includes("solana") ? keep(runSolana(options)) : undefined,
    ] as const;
    // Waits for every start to succeed or fail, so that none succeeds after `close`.
    await Promise.allSettled(all);
    const [algorand, base, solana] = await Promise.all(all);
    const rails = await Promise.all([
      algorandRail(algorand),
      ...(base === undefined ? [] : [baseRail(base)]),
      ...(solana === undefined ? [] : [solanaRail(solana)]),
    ]);
    const facilitator = await keep(startFacilitator({ rails, port: ports.facilitator, onRequest }));
    return toSandbox(algorand, base, solana, facilitator.url, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function runAlgorand({ roundMs = 1000, ports, replayDir, onRequest }: SandboxOptions): Promise<AlgorandNetwork> {
  return startAlgorand({ roundMs, algodPort: ports?.algod, indexerPort: ports?.indexer, replayDir, onRequest });
}

// The modules of optional networks are imported on demand: each takes half a second.

async function runBase({ roundMs, ports, replayDir, onRequest }: SandboxOptions): Promise<BaseNetwork> {
  const { startBase } = await import("./base/network.ts");
  return startBase({ blockMs: roundMs || undefined, port: ports?.base, replayDir, onRequest });
}

async function runSolana({ ports, onRequest }: SandboxOptions): Promise<SolanaNetwork> {
  const { startSolana } = await import("./solana/network.ts");
  return startSolana({ port: ports?.solana, onRequest });
}

async function algorandRail({ algodUrl, accounts }: AlgorandNetwork): Promise<RailRegistration> {
  const { registerAlgorand } = await import("./facilitator/algorand.ts");
  return registerAlgorand({ algodUrl, secretKey: accounts.feePayer.secretKey });
}

async function baseRail({ rpcUrl, facilitator }: BaseNetwork): Promise<RailRegistration> {
  const { registerBase } = await import("./facilitator/base.ts");
  return registerBase({ rpcUrl, privateKey: facilitator.privateKey });
}

async function solanaRail({ rpcUrl, feePayer }: SolanaNetwork): Promise<RailRegistration> {
  const { registerSolana } = await import("./facilitator/solana.ts");
  return registerSolana({ rpcUrl, secretKeyBase64: feePayer.secretKeyBase64 });
}

function toSandbox(
  algorand: AlgorandNetwork,
  base: BaseNetwork | undefined,
  solana: SolanaNetwork | undefined,
  facilitatorUrl: string,
  close: () => Promise<void>,
): Sandbox {
  const { payer, attestor, payTo } = algorand.accounts;
  return {
    algodUrl: algorand.algodUrl,
    indexerUrl: algorand.indexerUrl,
    ...(base && { baseRpcUrl: base.rpcUrl }),
    ...(solana && { solanaRpcUrl: solana.rpcUrl }),
    facilitatorUrl,
    genesisId: algorand.genesisId,
    genesisHash: algorand.genesisHash,
    ledgerCaip2: algorand.caip2,
    payers: {
      algorand: { address: payer.address, mnemonic: payer.mnemonic },
      ...(base && { base: base.payer }),
      ...(solana && { solana: solana.payer }),
    },
    attestor: { address: attestor.address, mnemonic: attestor.mnemonic },
    payTo: {
      algorand: payTo.address,
      ...(base && { base: base.payTo.address }),
      ...(solana && { solana: solana.payTo.address }),
    },
    sampleTransactions: {
      algorand: algorand.sample.txid,
      algorandHeight: algorand.sample.round,
      ...(base && { base: base.sample.hash, baseHeight: base.sample.height }),
    },
    sourceChains: [...algorand.recordedChains, ...recordedEvmChains(base)],
    died: base?.exited ?? new Promise(() => {}),
    algorand,
    ...(solana && { solana }),
    close,
  };
}

function recordedEvmChains(base: BaseNetwork | undefined): string[] {
  return [...new Set(base?.recordings.map(({ chainId }) => `eip155:${chainId}`))];
}
