import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, type RpcHandler } from "../jsonrpc.ts";
import { accountJson, encodeData, encodeTransaction, metaJson, simulationJson, statusJson } from "./json.ts";
import type { Block, LandedTransaction, Ledger } from "./ledger.ts";
import type { Machine } from "./machine.ts";
import { addressOf, type Config, commitmentOf, configOf, decodeWire, listOf } from "./params.ts";
import { decimalsOf, decodeTokenAccount, uiTokenAmount } from "./token.ts";
import { type DecodedTransaction, hasValidSignatures, memosOf } from "./transaction.ts";

/** Error codes of Solana's RPC, beyond JSON-RPC's own. */
const PREFLIGHT_FAILURE = -32002;
const SIGNATURE_VERIFICATION_FAILURE = -32003;
const BLOCK_NOT_AVAILABLE = -32004;
const UNSUPPORTED_TRANSACTION_VERSION = -32015;
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;

/** The `solana-core` of getVersion. */
const VERSION = "0.0.0-attestd-sandbox";

/** The limit of accounts in one call of getRecentPrioritizationFees. */
const MAX_FEE_ADDRESSES = 128;

/** @param config the configuration object that most methods take as last parameter, empty when omitted */
type Method = (config: Config, ...params: unknown[]) => unknown;

export interface SolanaRpcOptions {
  machine: Machine;
  ledger: Ledger;
  /** The answer of getGenesisHash. */
  genesisHash: string;
}

/**
 * Solana's JSON-RPC over the ledger, with the methods that x402's packages and the service need. Transactions and
 * statuses follow the requested commitment (`finalized` by default, as on a validator); accounts are always the newest,
 * because the machine keeps no older ones.
 */
export function solanaRpc({ machine, ledger, genesisHash }: SolanaRpcOptions): RpcHandler {
  const withContext = ({ slot }: Block, value: unknown) => ({ context: { apiVersion: VERSION, slot }, value });
  const methods = new Map<string, Method>(
    Object.entries({
      ...plainMethods(ledger),
      getGenesisHash: () => genesisHash,
      getHealth: () => "ok",
      getVersion: () => ({ "solana-core": VERSION, "feature-set": 0 }),
      getMinimumBalanceForRentExemption: (_, bytes) => machine.rentExemption(BigInt(bytes as number)),
      getSignatureStatuses: (config, signatures) =>
        withContext(ledger.block("processed"), signatureStatuses(ledger, listOf(signatures), config)),
    } satisfies Record<string, Method>),
  );
  for (const [name, answer] of Object.entries({ ...accountMethods(machine), ...blockhashMethods(ledger) }))
    methods.set(name, (config, ...params) => withContext(blockAt(ledger, config), answer(config, ...params)));
  return (method, params) => {
    const answer = methods.get(method);
    if (!answer) throw new RpcError(METHOD_NOT_FOUND, "Method not found");
    const list = Array.isArray(params) ? params : [];
    return answer(configOf(list.at(-1)), ...list);
  };
}

/** Methods that return their result as a `value` with its context. */
function accountMethods(machine: Machine): Record<string, Method> {
  const show = (config: Config, address: unknown) => {
    const account = machine.account(addressOf(address));
    return account ? accountJson(account, encodeData(account, config, machine)) : null;
  };

  return {
    getAccountInfo: show,
    getMultipleAccounts: (config, addresses) => listOf(addresses).map((address) => show(config, address)),
    getBalance: (_, address) => machine.account(addressOf(address))?.lamports ?? 0n,
    getTokenAccountBalance: (_, address) => {
      const account = machine.account(addressOf(address));
      if (!account) throw new RpcError(INVALID_PARAMS, "Invalid param: could not find account");
      const holding = decodeTokenAccount(account);
      if (!holding) throw new RpcError(INVALID_PARAMS, "Invalid param: not a Token account");
      return uiTokenAmount(holding.amount, decimalsOf(machine, holding.mint));
    },
  };
}

/** Methods that return their result as a `value` with its context. */
function blockhashMethods(ledger: Ledger): Record<string, Method> {
  const latestBlockhash = (config: Config) => {
    const block = blockAt(ledger, config);
    return { blockhash: block.blockhash, lastValidBlockHeight: ledger.lastValidHeight(block) };
  };

  return {
    getLatestBlockhash: latestBlockhash,
    isBlockhashValid: (config, blockhash) => ledger.isValid(String(blockhash), commitmentOf(config)),
    simulateTransaction: (config, wire) => {
      const decoded = decodeWire(wire, config);
      const replace = config.replaceRecentBlockhash === true;
      if (config.sigVerify === true && replace)
        throw new RpcError(INVALID_PARAMS, "sigVerify may not be used with replaceRecentBlockhash");
      if (config.sigVerify === true) verifySignatures(decoded);
      const execution = ledger.simulate(decoded, { anyBlockhash: replace });
      const value = simulationJson(execution, config.innerInstructions === true);
      return replace ? { ...value, replacementBlockhash: latestBlockhash(config) } : value;
    },
  };
}

function signatureStatuses(ledger: Ledger, signatures: unknown[], { searchTransactionHistory }: Config): unknown[] {
  const newest = ledger.block("processed");
  return signatures.map((signature) => {
    const landed = ledger.transaction(String(signature));
    if (!landed) return null;
    // Without searchTransactionHistory a validator uses only its status cache of 150 blocks.
    const cached = newest.height <= ledger.lastValidHeight(landed.block);
    if (!cached && searchTransactionHistory !== true) return null;
    return statusJson(landed, newest, ledger.commitmentOf(landed.block));
  });
}

/** Methods that return their result without a context. */
function plainMethods(ledger: Ledger): Record<string, Method> {
  const reached = ({ block }: LandedTransaction, config: Config) => block.slot <= blockAt(ledger, config).slot;

  return {
    getSlot: (config) => blockAt(ledger, config).slot,
    getBlockHeight: (config) => blockAt(ledger, config).height,
    getBlockTime: (_, slot) => {
      const time = ledger.timeOf(BigInt(slot as number));
      if (time === undefined) throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`);
      return time;
    },
    // No transaction here needs a priority fee.
    getRecentPrioritizationFees: (_, addresses = []) => {
      if (listOf(addresses).map(addressOf).length > MAX_FEE_ADDRESSES)
        throw new RpcError(INVALID_PARAMS, `Too many inputs provided; max ${MAX_FEE_ADDRESSES}`);
      return ledger.recentBlocks().map(({ slot }) => ({ slot, prioritizationFee: 0 }));
    },
    sendTransaction: (config, wire) => {
      const decoded = decodeWire(wire, config);
      if (config.skipPreflight !== true) {
        verifySignatures(decoded);
        const execution = ledger.simulate(decoded);
        if (execution.err !== null) {
          const message = `Transaction simulation failed: ${explain(execution.err)}`;
          throw new RpcError(PREFLIGHT_FAILURE, message, simulationJson(execution, false));
        }
      }
      ledger.send(decoded);
      return decoded.signature;
    },
    getTransaction: (options, signature, encoding) => {
      const config = typeof encoding === "string" ? { encoding } : options;
      const landed = ledger.transaction(String(signature));
      if (!landed || !reached(landed, config)) return null;
      const { version } = landed.decoded.message;
      const supported = config.maxSupportedTransactionVersion;
      if (version !== "legacy" && !(typeof supported === "number" && supported >= version))
        throw new RpcError(
          UNSUPPORTED_TRANSACTION_VERSION,
          `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
        );
      return {
        slot: landed.block.slot,
        blockTime: landed.block.time,
        transaction: encodeTransaction(landed, config),
        meta: metaJson(landed),
        ...(supported === undefined ? {} : { version }),
      };
    },
    getSignaturesForAddress: (config, address) => {
      const landed = ledger.transactionsOf(addressOf(address)).filter((transaction) => reached(transaction, config));
      const place = (signature: unknown) => landed.findIndex(({ decoded }) => decoded.signature === signature);
      const start = config.before === undefined ? 0 : place(config.before) + 1;
      const until = config.until === undefined ? -1 : place(config.until);
      const end = Math.min(until < 0 ? landed.length : until, start + Number(config.limit ?? 1000));
      return landed.slice(start, end).map(({ decoded, block, execution: { err } }) => ({
        signature: decoded.signature,
        slot: block.slot,
        blockTime: block.time,
        err,
        memo: memosOf(decoded),
        confirmationStatus: ledger.commitmentOf(block),
      }));
    },
  };
}

/** The newest block at the requested commitment. @throws {RpcError} when it is below `minContextSlot` */
function blockAt(ledger: Ledger, config: Config): Block {
  const block = ledger.block(commitmentOf(config));
  if (typeof config.minContextSlot === "number" && block.slot < config.minContextSlot)
    throw new RpcError(MIN_CONTEXT_SLOT_NOT_REACHED, "Minimum context slot has not been reached", {
      contextSlot: block.slot,
    });
  return block;
}

function verifySignatures(decoded: DecodedTransaction): void {
  if (hasValidSignatures(decoded)) return;
  throw new RpcError(SIGNATURE_VERIFICATION_FAILURE, "Transaction signature verification failure");
}

/** Returns a validator's message for errors that callers recognize by it; the error's name for others. */
function explain(err: unknown): string {
  if (err === "AlreadyProcessed") return "This transaction has already been processed";
  if (err === "BlockhashNotFound") return "Blockhash not found";
  const [index, reason] = (err as { InstructionError?: [number, unknown] }).InstructionError ?? [];
  if (index === undefined) return typeof err === "string" ? err : JSON.stringify(err);
  const { Custom: code } = reason as { Custom?: number };
  const text = code === undefined ? String(reason) : `custom program error: 0x${code.toString(16)}`;
  return `Error processing Instruction ${index}: ${text}`;
}
