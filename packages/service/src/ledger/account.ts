import {
  algorandCaip2,
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  type MsgpackMap,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { concatBytes, fromBase64, utf8 } from "@attestd/proof/encoding";
import type { Algod, TransactionParams } from "../providers/algod.ts";
import type { AlgorandNodes } from "../providers/algorand-nodes.ts";
import { isProviderError } from "../providers/provider.ts";
import { failover } from "../providers/quorum.ts";
import { type AccountSigner, KEY_FORMS } from "../signers/signer.ts";
import { ATTEMPT_ROUNDS, type Attempt, type Ledger, type Rounds, type SpecialNote, type Submission } from "./ledger.ts";
import { classifyRejection } from "./submission.ts";

export type AttestorAccountOptions = {
  nodes: AlgorandNodes;
  /** Base64, 32 bytes. */
  genesisHash: string;
  signer: AccountSigner;
  rounds: Rounds;
};

/** microAlgos, ten times the minimum: a lying node can waste no more. Under worse congestion the transaction waits. */
const MAX_FEE = 10_000n;
const MAX_NOTE_BYTES = 1_024;
const LEASE_BYTES = 32;
const SIGNATURE_BYTES = KEY_FORMS.account.signature;

const TX = utf8("TX");

/** The attestor's account on one Algorand network. */
export class AttestorAccount implements Ledger {
  readonly genesisHash: string;
  readonly caip2: string;
  readonly address: string;
  readonly rounds: Rounds;
  readonly #nodes: AlgorandNodes;
  readonly #signer: AccountSigner;
  #params: { round: number; asked: Promise<TransactionParams> } | undefined;

  constructor({ nodes, genesisHash, signer, rounds }: AttestorAccountOptions) {
    this.#nodes = nodes;
    this.#signer = signer;
    this.genesisHash = genesisHash;
    this.caip2 = algorandCaip2(fromBase64(genesisHash));
    this.address = encodeAddress(signer.publicKey);
    this.rounds = rounds;
  }

  async sign(note: string, lease: Uint8Array, signal: AbortSignal, special?: SpecialNote): Promise<Attempt> {
    const noteBytes = utf8(note);
    if (noteBytes.length > MAX_NOTE_BYTES)
      throw new RangeError(`note of ${noteBytes.length} bytes, over ${MAX_NOTE_BYTES}`);
    if (lease.length !== LEASE_BYTES) throw new RangeError(`lease of ${lease.length} bytes instead of ${LEASE_BYTES}`);

    // The quorum's round, not one node's: a first round in the future would keep the attempt open for long.
    const firstValid = this.rounds.latest() || (await this.rounds.next(signal));
    const params = await this.#paramsOf(firstValid, signal);
    const lastValid = special?.lastValid ?? firstValid + ATTEMPT_ROUNDS;
    const transaction = (fee: bigint) =>
      structMap({
        type: "pay",
        snd: this.#signer.publicKey,
        rcv: this.#signer.publicKey,
        fee,
        fv: firstValid,
        lv: lastValid,
        gen: params.genesisId,
        gh: fromBase64(this.genesisHash),
        lx: lease,
        note: noteBytes,
      });
    const bytes = encodeMsgpack(transaction(feeOf(transaction(MAX_FEE), params)));
    const context = special && { keyRecord: special.keyRecord };
    const signature = await this.#signer.sign(concatBytes(TX, bytes), signal, context);
    const raw = signed(decodeMsgpackMap(bytes), signature);
    return { txid: txid(bytes), raw, firstValid, lastValid };
  }

  prepare(signal: AbortSignal): void {
    void this.#paramsOf(this.rounds.latest(), signal).catch(() => undefined);
  }

  async submit(raw: Uint8Array, signal: AbortSignal): Promise<Submission> {
    let refusal: Submission = { status: "retry", reason: "no algod is configured" };
    for (const algod of this.#nodes.algods) {
      const outcome = await submitTo(algod, raw, signal);
      if (outcome.status === "accepted") return outcome;
      // A refusal by one node is more precise than no answer from another.
      if (refusal.status === "retry") refusal = outcome;
    }
    return refusal;
  }

  async spendable(signal: AbortSignal): Promise<bigint> {
    const ask = (algod: Algod, ends: AbortSignal) => algod.account(this.address, ends);
    const question = { about: "the attestor's balance", signal };
    const { amount, minBalance } = await failover(this.#nodes.algods, ask, question);
    return amount > minBalance ? amount - minBalance : 0n;
  }

  /** Sends one request a round: fees change from round to round. */
  async #paramsOf(round: number, signal: AbortSignal): Promise<TransactionParams> {
    if (this.#params?.round === round) {
      const known = await this.#params.asked.catch(() => undefined);
      if (known) return known;
      // The failed request may have been aborted by its own caller.
      signal.throwIfAborted();
    }
    const question = { about: "transaction parameters", signal };
    const asked = failover(this.#nodes.algods, (algod, ends) => algod.params(ends), question);
    this.#params = { round, asked };
    return asked;
  }
}

function feeOf(transaction: MsgpackMap, { minFee, feePerByte }: TransactionParams): bigint {
  const size = BigInt(signed(transaction, new Uint8Array(SIGNATURE_BYTES)).length);
  const asked = feePerByte * size > minFee ? feePerByte * size : minFee;
  return asked < MAX_FEE ? asked : MAX_FEE;
}

async function submitTo(algod: Algod, raw: Uint8Array, signal: AbortSignal): Promise<Submission> {
  try {
    const rejection = await failover([algod], (node, ends) => node.submit(raw, ends), {
      about: "a submission",
      signal,
    });
    return rejection === undefined ? { status: "accepted" } : classifyRejection(rejection);
  } catch (error) {
    // Whether the node took it is unknown; it may be submitted again as it is.
    if (isProviderError(error)) return { status: "retry", reason: error.message };
    throw error;
  }
}

/** What the ledger takes: the one place that knows by which member the account authorises. */
function signed(transaction: MsgpackMap, signature: Uint8Array): Uint8Array {
  return encodeMsgpack(structMap({ sig: new Uint8Array(signature), txn: transaction }));
}
