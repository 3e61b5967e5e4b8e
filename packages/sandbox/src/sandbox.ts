import { RAILS } from "@attestd/proof/rails";
import type { Behaviour } from "./algorand/behaviour.ts";
import { startAlgorand } from "./algorand/network.ts";
import type { StateProofPace } from "./algorand/state-proof/state-proofs.ts";
import { type Archive, openArchive } from "./archive.ts";
import type { FacilitatorKind } from "./facilitator/dialect.ts";
import { type SandboxRail, startFacilitators } from "./facilitator/ordered.ts";
import type { RequestObserver } from "./http.ts";

export type { FacilitatorKind } from "./facilitator/dialect.ts";
export type { Facilitator } from "./facilitator/server.ts";
export type { Behaviour };

/** Networks besides Algorand, which is always started because it is the ledger. */
export type OptionalNetwork = "base" | "solana";

export interface SandboxOptions {
  /**
   * Milliseconds between Algorand's rounds, and between Base's blocks unless `baseBlockMs` is given; default: 1000. 0
   * leaves Algorand's rounds to `algorand.ledger.advance()`, and Base its default.
   */
  roundMs?: number;
  /** Algorand's state proofs; MainNet's interval is 256. By default none are made. */
  stateProofs?: StateProofPace | undefined;
  /** Milliseconds between Base's blocks. 200 makes them like Base's since Denim: each begins with two deposits. */
  baseBlockMs?: number | undefined;
  /** Default: 0 for each, a free port. */
  ports?: { algod?: number; indexer?: number; facilitator?: number; base?: number; solana?: number };
  /** Default: both. */
  networks?: OptionalNetwork[];
  /**
   * The kinds of the facilitators in order of preference, three at most; default: one of `stock`. Each is on every rail
   * that it settles. A rail that none of them settles has a stock one.
   */
  facilitators?: readonly FacilitatorKind[] | undefined;
  /** Folder of recorded real data, served in addition to the simulated data. */
  replayDir?: string | undefined;
  /** How the Algorand node of the service, and its indexer, behave from the beginning. */
  behaviour?: Partial<Behaviour> | undefined;
  /**
   * File with the sandbox's keys and chains; it is created if it does not exist. Without one, everything ends with the
   * sandbox.
   */
  archive?: string | undefined;
  /** Called with every request to any of the servers. */
  onRequest?: RequestObserver | undefined;
}

/** The archive's file is damaged, or is not an archive. */
export class ArchiveError extends Error {}

/** A running sandbox, for the settings of a service on it. Members of an absent network are absent. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/**
 * Starts the networks of a sandbox in parallel, and a facilitator for all of them. Keys and the genesis of the ledger
 * are random: nothing signed here is valid anywhere else, nor in another sandbox. With an archive they are the earlier
 * ones.
 * @throws ArchiveError
 * @throws Error with the file's name when a recording is invalid, or with the part that did not start; everything else
 *   is stopped again
 */
export async function startSandbox(options: SandboxOptions = {}) {
  const { ports = {}, onRequest, networks = ["base", "solana"] } = options;
  await using starting = new AsyncDisposableStack();
  const archive = options.archive === undefined ? undefined : archiveIn(options.archive);
  starting.defer(() => archive?.close());
  const keep = async <T extends { close(): Promise<void> }>(start: Promise<T>): Promise<T> => {
    const running = await start;
    starting.defer(() => running.close());
    return running;
  };
  const starts = [
    keep(runAlgorand(options, archive)),
    networks.includes("base") ? keep(runBase(options, archive)) : undefined,
    networks.includes("solana") ? keep(runSolana(options, archive)) : undefined,
  ] as const;
  // Waits for every start to succeed or fail, so that none succeeds after the others were stopped.
  await Promise.allSettled(starts);
  const [algorand, base, solana] = await Promise.all(starts);
  // Started last, so that they stop before the networks that they use.
  const facilitators = await keep(
    startFacilitators({
      kinds: options.facilitators ?? ["stock"],
      rails: [algorand, base, solana].filter((network) => network !== undefined).map(({ rail }) => rail),
      port: ports.facilitator,
      solanaRpcUrl: solana?.rpcUrl,
      onRequest,
    }),
  );
  const [{ url: facilitatorUrl } = { url: "" }] = facilitators.of(algorand.rail);

  const { payer, attestor, payTo } = algorand.accounts;
  const recordedEvmChains = new Set(base?.recordings.map(({ chainId }) => `eip155:${chainId}`));
  const running = starting.move();
  return {
    algodUrl: algorand.algodUrl,
    indexerUrl: algorand.indexerUrl,
    ...(base && { baseRpcUrl: base.rpcUrl }),
    ...(solana && { solanaRpcUrl: solana.rpcUrl }),
    /** The facilitators of each rail in order of preference; one that settles several rails is in several lists. */
    facilitators: {
      algorand: facilitators.of(algorand.rail),
      ...(base && { base: facilitators.of(base.rail) }),
      ...(solana && { solana: facilitators.of(solana.rail) }),
    },
    /** Algorand's first one. If it is stock and the only one, it also serves the other rails. */
    facilitatorUrl,
    genesisId: algorand.genesisId,
    /** Base64. */
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
    /** Confirmed and final transactions. */
    sampleTransactions: {
      algorand: algorand.sample.txid,
      algorandHeight: algorand.sample.round,
      ...(base && { base: base.sample.hash, baseHeight: base.sample.height }),
    },
    /** CAIP-2 of every chain in the recordings, which a service may also accept as sources. */
    sourceChains: [...algorand.recordedChains, ...recordedEvmChains],
    /** Resolves with the reason when a network ends by itself or cannot be kept, or with undefined after `close()`. */
    died: Promise.race([base?.exited, archive?.broken].map((end) => end ?? new Promise<never>(() => {}))),
    /** For tests; clients use the URLs. */
    algorand,
    ...(base && { base }),
    ...(solana && { solana }),
    /** Stops everything, child processes included. */
    close: () => running.disposeAsync(),
  };
}

function archiveIn(path: string): Archive {
  try {
    return openArchive(path);
  } catch (error) {
    throw new ArchiveError(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

// A network and its rail are imported on demand: each takes up to half a second.

async function runAlgorand(
  { roundMs = 1000, stateProofs, ports, replayDir, behaviour, onRequest }: SandboxOptions,
  archive: Archive | undefined,
) {
  const { registerAlgorand } = await import("./facilitator/algorand.ts");
  const listeners = { algodPort: ports?.algod, indexerPort: ports?.indexer, onRequest };
  const network = await startAlgorand({
    roundMs,
    stateProofs,
    replayDir,
    behaviour,
    archive: archive?.of("algorand"),
    ...listeners,
  });
  const { feePayer, secondFeePayer, thirdFeePayer } = network.accounts;
  const keys = [feePayer, secondFeePayer, thirdFeePayer];
  const { networkUrl: algodUrl, genesisHash } = network;
  const registrations = keys.map(({ secretKey }) => registerAlgorand({ algodUrl, genesisHash, secretKey }));
  const rail: SandboxRail = { network: RAILS.algorand.network, registrations };
  return { ...network, rail };
}

async function runBase(
  { roundMs, baseBlockMs, ports, replayDir, onRequest }: SandboxOptions,
  archive: Archive | undefined,
) {
  const { startBase } = await import("./base/network.ts");
  const { DENIM_BLOCK_MS } = await import("./base/denim.ts");
  const { registerBase } = await import("./facilitator/base.ts");
  const network = await startBase({
    blockMs: (baseBlockMs ?? roundMs) || undefined,
    denim: baseBlockMs === DENIM_BLOCK_MS,
    port: ports?.base,
    replayDir,
    archive: archive?.of("base"),
    onRequest,
  });
  const keys = [network.facilitator, ...network.otherFacilitators];
  const registrations = keys.map(({ privateKey }) => registerBase(network.rpcUrl, privateKey));
  const rail: SandboxRail = { network: RAILS.base.network, registrations };
  return { ...network, rail };
}

async function runSolana({ ports, onRequest }: SandboxOptions, archive: Archive | undefined) {
  const { startSolana } = await import("./solana/network.ts");
  const { registerSolana } = await import("./facilitator/solana.ts");
  const network = await startSolana({ port: ports?.solana, archive: archive?.of("solana"), onRequest });
  const keys = [network.feePayer, ...network.otherFeePayers];
  const registrations = keys.map(({ secretKeyBase64 }) => registerSolana(network.rpcUrl, secretKeyBase64));
  const rail: SandboxRail = { network: RAILS.solana.network, registrations };
  return { ...network, rail };
}
