import { randomBytes } from "node:crypto";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { type NetworkArchive, NO_ARCHIVE } from "../archive.ts";
import { listen, type RequestObserver } from "../http.ts";
import { makeSecretKey } from "../secret-key.ts";
import { ALLOCATION, accountOf, ROLES, type Role, type SandboxAccount } from "./account.ts";
import { algodApp } from "./algod.ts";
import { type Behaviour, USUAL } from "./behaviour.ts";
import { type StoredBlock, storeBlock } from "./block.ts";
import { CONSENSUS, type Consensus } from "./consensus.ts";
import { front } from "./front.ts";
import { furnish, USDC_ID } from "./furnish.ts";
import { type Genesis, makeGenesis } from "./genesis.ts";
import { indexerApp } from "./indexer.ts";
import { Ledger } from "./ledger.ts";
import { LedgerNode } from "./node.ts";
import { readRecordings } from "./recordings.ts";
import type { StateProofPace } from "./state-proof/state-proofs.ts";

export interface AlgorandOptions {
  /** Milliseconds between rounds; 0 leaves them to `ledger.advance()`. */
  roundMs: number;
  /** 0, the default, picks a free port. */
  algodPort?: number | undefined;
  indexerPort?: number | undefined;
  /** Folder with `algorand/blocks` and `algorand/transactions`, served in addition to the sandbox's own rounds. */
  replayDir?: string | undefined;
  /** How the node and the indexer behave from the beginning. */
  behaviour?: Partial<Behaviour> | undefined;
  /** Contains the network's earlier keys and blocks, and receives new blocks. */
  archive?: NetworkArchive | undefined;
  /** By default no state proofs are made. */
  stateProofs?: StateProofPace | undefined;
  onRequest?: RequestObserver | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

export type AlgorandNetwork = Awaited<ReturnType<typeof startAlgorand>>;

/**
 * Starts an Algorand network of one node: a ledger with its own genesis and keys, behind algod's and the indexer's HTTP
 * APIs. It has USDC as asset 31566704; every account is funded and has opted in. With an archive it continues the
 * earlier network, with rounds above the last one.
 * @throws Error with the file's name when a recording is invalid
 */
export async function startAlgorand(options: AlgorandOptions) {
  const { roundMs, replayDir, stateProofs, onRequest, now = Date.now } = options;
  const { archive = NO_ARCHIVE } = options;
  const behaviour: Behaviour = { ...USUAL, ...options.behaviour };
  const consensus = () => ({ ...CONSENSUS[behaviour.consensus], congestionTax: behaviour.congestionTax });
  const { accounts, genesis } = identityIn(archive, now(), consensus());
  const recordings = await readRecordings(replayDir, genesis);
  const onBlock = ({ round, bytes, txids }: StoredBlock) => archive.add(round, bytes, round > 0 && txids.length === 0);
  const { ledger, sample } = archive.whole(() => {
    const kept = archive.records().map(storeBlock);
    const ledger = new Ledger({
      genesis,
      counter: USDC_ID - 1,
      recorded: recordings.blocks,
      kept,
      onBlock,
      now,
      consensus,
      stateProofs,
    });
    return { ledger, sample: archive.keep("sample", () => furnish(ledger, accounts)) };
  });

  await using starting = new AsyncDisposableStack();
  starting.defer(() => ledger.stateProofs?.close());
  const algodFetch = front(algodApp(new LedgerNode(ledger, behaviour)).fetch, behaviour, "algodAway");
  const algod = await listen(algodFetch, { server: "algod", port: options.algodPort, onRequest });
  starting.defer(algod.close);
  const indexerFetch = front(indexerApp(ledger, behaviour).fetch, behaviour, "indexerAway");
  const indexer = await listen(indexerFetch, { server: "indexer", port: options.indexerPort, onRequest });
  starting.defer(indexer.close);
  const networkFetch = algodApp(new LedgerNode(ledger, USUAL)).fetch;
  const network = await listen(networkFetch, { server: "network", onRequest });
  starting.defer(network.close);
  if (roundMs > 0)
    starting.adopt(
      setInterval(() => ledger.advance(), roundMs),
      clearInterval,
    );
  const running = starting.move();
  return {
    algodUrl: algod.url,
    indexerUrl: indexer.url,
    /** algod for everyone else, such as facilitators: an always healthy node of the same network. */
    networkUrl: network.url,
    /** How the node at `algodUrl` and the indexer behave; changes take effect with the next request. */
    behaviour,
    /** For tests, which read the state and make rounds. Clients use the two URLs. */
    ledger,
    genesisId: genesis.id,
    /** Base64. */
    genesisHash: toBase64(genesis.hash),
    caip2: algorandCaip2(genesis.hash),
    accounts,
    /** A confirmed payment with a note. */
    sample,
    /** CAIP-2 of every chain found among the recordings. */
    recordedChains: recordings.genesisHashes.map((hash) => algorandCaip2(Buffer.from(hash, "base64"))),
    close: () => running.disposeAsync(),
  };
}

/** Returns the archive's keys and genesis, or new ones. @param now milliseconds since 1970 */
function identityIn(
  archive: NetworkArchive,
  now: number,
  { version }: Consensus,
): { accounts: Record<Role, SandboxAccount>; genesis: Genesis } {
  const kept = archive.keep("identity", () => ({
    keys: ROLES.map((role) => [role, toBase64(makeSecretKey())] as const),
    timestamp: Math.floor(now / 1000),
    nonce: toBase64(randomBytes(32)),
    version,
  }));
  const accounts = Object.fromEntries(kept.keys.map(([role, key]) => [role, accountOf(fromBase64(key))])) as Record<
    Role,
    SandboxAccount
  >;
  const allocation = ROLES.map((role) => ({
    address: accounts[role].address,
    microAlgos: ALLOCATION[role],
    comment: role,
  }));
  return { accounts, genesis: makeGenesis(allocation, kept.timestamp, fromBase64(kept.nonce), kept) };
}
