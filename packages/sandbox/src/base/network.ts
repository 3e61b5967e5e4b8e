import { createWalletClient, type Hex, http, numberToHex, parseEther, parseUnits, publicActions } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type NetworkArchive, NO_ARCHIVE } from "../archive.ts";
import { listen, type ServerOptions } from "../http.ts";
import { jsonRpcClient, type RpcCall, serveJsonRpc } from "../jsonrpc.ts";
import { startAnvil } from "./anvil.ts";
import { baseChain } from "./chain.ts";
import { DENIM_BLOCK_MS, denimBlocks } from "./denim.ts";
import { keepBlocks, readKept } from "./kept.ts";
import { baseRpc } from "./proxy.ts";
import { readRecordings } from "./recordings.ts";
import { installContracts, USDC_ABI, USDC_ADDRESS, USDC_DOMAIN } from "./token.ts";

export interface BaseOptions extends ServerOptions {
  /** Time between blocks, in milliseconds; default: 1000. */
  blockMs?: number | undefined;
  /** Makes blocks like Base since Denim, each beginning with two deposits, every 200 ms. `blockMs` is then ignored. */
  denim?: boolean | undefined;
  /** Folder whose `base/blocks/*.json` are served in addition to the simulated blocks. */
  replayDir?: string | undefined;
  /** Contains the network's earlier keys and blocks, and receives new blocks. */
  archive?: NetworkArchive | undefined;
}

/** An account with its key: `0x` hex of 32 bytes. */
type BaseKey = ReturnType<typeof randomKey>;

export type BaseNetwork = Awaited<ReturnType<typeof startBase>>;

/**
 * Starts Base on anvil behind its JSON-RPC proxy, with random keys. Chain id 8453; `safe` and `finalized` are one and
 * two blocks behind `latest`. Simulated blocks have higher numbers than recorded ones.
 *
 * With an archive the keys are the earlier ones, and blocks of earlier starts that have more than deposits are also
 * served, below the numbers of the new ones. Their state is not kept: every start funds the accounts again.
 * @throws {Error} when a recording is wrong (naming its file), anvil cannot be started, or the port is taken
 */
export async function startBase({
  blockMs = 1000,
  denim = false,
  replayDir,
  archive = NO_ARCHIVE,
  ...options
}: BaseOptions = {}) {
  const recordings = await readRecordings(replayDir);
  await using starting = new AsyncDisposableStack();
  const kept = readKept(archive);
  const firstBlock = Math.max(recordings.at(-1)?.number ?? 0, archive.height() ?? 0) + 1;
  const anvil = await startAnvil({ blockMs: denim ? undefined : blockMs, firstBlock });
  starting.defer(anvil.close);
  const client = jsonRpcClient(anvil.url);
  const blocks = denim ? starting.use(await denimBlocks(client)) : undefined;
  const call = blocks?.call ?? client;
  const { payer, payTo, facilitator, otherFacilitators } = archive.keep("identity", () => ({
    payer: randomKey(),
    payTo: { address: randomKey().address },
    facilitator: randomKey(),
    otherFacilitators: [randomKey(), randomKey()],
  }));
  const sample = await fund(call, anvil.url, payer.address, [facilitator, ...otherFacilitators]);
  blocks?.run();
  if (archive !== NO_ARCHIVE) starting.use(keepBlocks(call, archive, firstBlock, denim ? DENIM_BLOCK_MS : blockMs));
  const server = await listen(serveJsonRpc(baseRpc(call, recordings, kept)), { server: "base", ...options });
  starting.defer(server.close);
  const running = starting.move();
  return {
    /** JSON-RPC URL of the proxy, which also serves the recordings. */
    rpcUrl: server.url,
    /** USDC for an offer. */
    usdc: { address: USDC_ADDRESS, ...USDC_DOMAIN },
    /** Holds 1 ETH and 1,000 USDC. */
    payer,
    /** Only receives payments. Its key is not kept. */
    payTo,
    /** Holds ETH for the gas of settlements. */
    facilitator,
    /**
     * Two more such accounts, for other facilitators: facilitators that shared a key would take each other's nonces.
     */
    otherFacilitators,
    /** A transfer of 25 USDC and the number of its block, which is `finalized`. */
    sample,
    recordings,
    /** Resolves when anvil has ended: with the reason, or with undefined after `close()`. */
    exited: anvil.exited,
    /** Stops the server and anvil, and waits until both are gone. */
    close: () => running.disposeAsync(),
  };
}

/** Installs the token, funds the accounts and makes the sample; everything is `finalized` when it resolves. */
async function fund(anvil: RpcCall, url: string, payer: Hex, facilitators: BaseKey[]) {
  const treasury: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());
  await installContracts(anvil, treasury.address);
  const ether: [Hex, string][] = [treasury.address, payer].map((address) => [address, "1"]);
  for (const [address, amount] of [...ether, ...facilitators.map(({ address }): [Hex, string] => [address, "1000"])]) {
    await anvil("anvil_setBalance", [address, numberToHex(parseEther(amount))]);
  }

  const wallet = createWalletClient({ account: treasury, chain: baseChain(url), transport: http() }).extend(
    publicActions,
  );
  const usdc = { address: USDC_ADDRESS, abi: USDC_ABI } as const;
  await wallet.writeContract({ ...usdc, functionName: "mint", args: [payer, parseUnits("1000", 6)] });
  await wallet.writeContract({ ...usdc, functionName: "mint", args: [treasury.address, parseUnits("25", 6)] });
  // The gas is given because it cannot be estimated before the mint is in a block.
  const hash = await wallet.writeContract({
    ...usdc,
    functionName: "transfer",
    args: [randomKey().address, parseUnits("25", 6)],
    gas: 100_000n,
  });
  for (let blocks = 0; blocks < 3; blocks++) await anvil("evm_mine", []);
  const { blockNumber, status } = await wallet.getTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`the sample transaction ${hash} was reverted`);
  return { hash, height: Number(blockNumber) };
}

function randomKey() {
  const privateKey = generatePrivateKey();
  return { address: privateKeyToAccount(privateKey).address, privateKey };
}
