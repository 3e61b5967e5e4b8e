import {
  algorandCaip2,
  decodeAddress,
  decodeMsgpackMap,
  encodeAddress,
  encodeMsgpack,
  type MsgpackMap,
  SEED_VERSIONS,
  signedMessage,
  structMap,
  txid,
} from "@attestd/proof/algorand";
import { equalBytes, fromBase64, utf8 } from "@attestd/proof/encoding";
import { FALCON_SCHEME } from "@attestd/proof/falcon-account";
import type { Algod, TransactionParams } from "../providers/algod.ts";
import { type AlgorandNodes, agreedParams } from "../providers/algorand-nodes.ts";
import { isProviderError } from "../providers/provider.ts";
import { agreeOnQuantity } from "../providers/quantity.ts";
import { agree, orEnded } from "../providers/quorum.ts";
import { type AccountForm, accountForm } from "../signers/account-form.ts";
import { type AccountSigner, KEY_FORMS, type SignedContext } from "../signers/signer.ts";
import { ATTEMPT_ROUNDS, type Attempt, type Ledger, type Rounds, type SpecialNote, type Submission } from "./ledger.ts";
import { classifyRejection } from "./submission.ts";

const SPECIFICATIONS = "https://github.com/algorandfoundation/specs/tree/";

/** The consensus versions v34 to v41, from which networks upgrade to v42 (go-algorand, `protocol/consensus.go`). */
const BEFORE_FALCON: ReadonlySet<unknown> = new Set([
  // v34 to v38.
  ...SEED_VERSIONS,
  `${SPECIFICATIONS}925a46433742afb0b51bb939354bd907fa88bf95`,
  `${SPECIFICATIONS}236dcc18c9c507d794813ab768e467ea42d1b4d9`,
  `${SPECIFICATIONS}953304de35264fc3ef91bcd05c123242015eeaed`,
]);

export type AttestorAccountOptions = {
  nodes: AlgorandNodes;
  /** Base64, 32 bytes. */
  genesisHash: string;
  signer: AccountSigner;
  /** The account's address, if it was rekeyed to the signer's key; default: the key's own account. */
  address?: string | undefined;
  rounds: Rounds;
};

const MAX_NOTE_BYTES = 1_024;
const LEASE_BYTES = 32;

/** The attestor's account on one Algorand network. */
export class AttestorAccount implements Ledger {
  readonly genesisHash: string;
  readonly caip2: string;
  readonly address: string;
  readonly fee: bigint;
  readonly rounds: Rounds;
  /** 32 bytes. */
  readonly #account: Uint8Array;
  readonly #form: AccountForm;
  readonly #nodes: AlgorandNodes;
  readonly #signer: AccountSigner;
  #params: { round: number; asked: Promise<TransactionParams> } | undefined;

  constructor({ nodes, genesisHash, signer, address, rounds }: AttestorAccountOptions) {
    this.#nodes = nodes;
    this.#signer = signer;
    this.genesisHash = genesisHash;
    this.caip2 = algorandCaip2(fromBase64(genesisHash));
    this.#form = accountForm(signer);
    this.#account = address === undefined ? this.#form.account : decodeAddress(address);
    this.address = encodeAddress(this.#account);
    this.fee = this.#form.minFee;
    this.rounds = rounds;
  }

  async sign(note: string, lease: Uint8Array, signal: AbortSignal, special?: SpecialNote): Promise<Attempt> {
    const noteBytes = utf8(note);
    if (noteBytes.length > MAX_NOTE_BYTES)
      throw new RangeError(`note of ${noteBytes.length} bytes, over ${MAX_NOTE_BYTES}`);
    if (lease.length !== LEASE_BYTES) throw new RangeError(`lease of ${lease.length} bytes instead of ${LEASE_BYTES}`);

    const context = special && { keyRecord: special.keyRecord };
    return await this.#make({ lx: lease, note: noteBytes }, signal, special?.lastValid, context);
  }

  rekey(to: Uint8Array, signal: AbortSignal): Promise<Attempt> {
    return this.#make({ rekey: to }, signal);
  }

  async prepare(signal: AbortSignal): Promise<void> {
    await this.#paramsOf(this.rounds.latest(), signal).catch(() => undefined);
  }

  async submit(raw: Uint8Array, signal: AbortSignal): Promise<Submission> {
    // Sent to all nodes, because one may accept it and not pass it on, being cut off from the network or lying.
    const sent = this.#nodes.algods.map((algod) => submitTo(algod, raw, signal));
    const accepted = sent.map(async (one) => {
      const outcome = await one;
      return outcome.status === "accepted" ? outcome : Promise.reject(outcome);
    });
    return Promise.any(accepted).catch(async () => {
      const outcomes = await Promise.all(sent);
      // A refusal by one node is more precise than no answer from another.
      const refusal = outcomes.find(({ status }) => status !== "retry") ?? outcomes[0];
      return refusal ?? { status: "retry", reason: "no algod is configured" };
    });
  }

  async spendable(signal: AbortSignal): Promise<bigint> {
    const ask = async (algod: Algod, ends: AbortSignal) => {
      const { amount, minBalance } = await algod.account(this.address, ends);
      return amount > minBalance ? amount - minBalance : 0n;
    };
    return agreeOnQuantity(this.#nodes.algods, ask, { about: "the attestor's balance", signal }, this.#nodes.rules);
  }

  async unavailableReason(signal: AbortSignal): Promise<string | undefined> {
    const ask = async (algod: Algod, ends: AbortSignal) => (await algod.account(this.address, ends)).authorizer;
    const question = { about: "the authorizer of the attestor's account", same: String, signal };
    const [authorizer] = await agree(this.#nodes.algods, ask, question, this.#nodes.rules);
    const own = encodeAddress(this.#form.account);
    if (authorizer !== own)
      return authorizer === this.address
        ? `attestor.address: the account ${this.address} authorises with its own key, and the settings have ${own}'s key. Rekey it with \`attestd keys rekey\`, or remove attestor.address.`
        : `attestor.signer: the account ${this.address} is rekeyed to ${authorizer}, and the settings have ${own}'s key. Set ${authorizer}'s key, and attestor.address = "${this.address}".`;
    return await this.unknownKey(signal);
  }

  async unknownKey(signal: AbortSignal): Promise<string | undefined> {
    if (this.#signer.algorithm !== "falcon-1024") return undefined;
    const { consensus } = await this.#paramsOf(this.rounds.latest(), signal);
    return hasFalcon(consensus)
      ? undefined
      : `attestor.falcon_mnemonic: the network's consensus version (${consensus}) does not support Falcon signatures, which need v42. Until the network is upgraded, use the account's ed25519 key (attestor.mnemonic).`;
  }

  /** Signs a payment of 0 to itself, with further members. */
  async #make(
    members: Record<string, Uint8Array>,
    signal: AbortSignal,
    until?: number,
    context?: SignedContext,
  ): Promise<Attempt> {
    // The quorum's round, not one node's: a first round in the future would keep the attempt open for long.
    const firstValid = this.rounds.latest() || (await this.rounds.next(signal));
    const params = await this.#paramsOf(firstValid, signal);
    const lastValid = until ?? firstValid + ATTEMPT_ROUNDS;
    const transaction = (fee: bigint) =>
      structMap({
        type: "pay",
        snd: this.#account,
        rcv: this.#account,
        fee,
        fv: firstValid,
        lv: lastValid,
        gen: params.genesisId,
        gh: fromBase64(this.genesisHash),
        ...members,
      });
    const bytes = encodeMsgpack(transaction(this.#feeOf(transaction(this.#form.maxFee), params)));
    const signature = await this.#signer.sign(signedMessage(bytes), signal, context);
    return { txid: txid(bytes), raw: this.#signed(decodeMsgpackMap(bytes), signature), firstValid, lastValid };
  }

  #feeOf(transaction: MsgpackMap, { minFee, feePerByte }: TransactionParams): bigint {
    const longest = new Uint8Array(KEY_FORMS[this.#signer.algorithm].signature);
    const bySize = feePerByte * BigInt(this.#signed(transaction, longest).length);
    const least = minFee * this.#form.minimumFees;
    const asked = bySize > least ? bySize : least;
    const { maxFee } = this.#form;
    return asked < maxFee ? asked : maxFee;
  }

  /** Encodes a signed transaction. Only this function knows the member with which the account authorises. */
  #signed(transaction: MsgpackMap, signature: Uint8Array): Uint8Array {
    const { account, salt } = this.#form;
    const sgnr = equalBytes(account, this.#account) ? undefined : account;
    const bytes = new Uint8Array(signature);
    const authorisation =
      salt === undefined
        ? { sig: bytes }
        : { pqsig: structMap({ sch: utf8(FALCON_SCHEME), slt: salt, pk: this.#signer.publicKey, sig: bytes }) };
    return encodeMsgpack(structMap({ ...authorisation, ...(sgnr && { sgnr }), txn: transaction }));
  }

  /** Returns the parameters of a round. Each node is asked once per round, because fees change from round to round. */
  async #paramsOf(round: number, signal: AbortSignal): Promise<TransactionParams> {
    if (this.#params?.round === round) {
      const known = await this.#params.asked.catch(() => undefined);
      if (known) return known;
      // The failed request may have been aborted by its own caller.
      signal.throwIfAborted();
    }
    const asked = agreedParams(this.#nodes, signal);
    this.#params = { round, asked };
    return asked;
  }
}

async function submitTo(algod: Algod, raw: Uint8Array, signal: AbortSignal): Promise<Submission> {
  try {
    const rejection = await orEnded(algod.submit(raw, signal), "a submission", signal);
    return rejection === undefined ? { status: "accepted" } : classifyRejection(rejection);
  } catch (error) {
    // Whether the node accepted it is unknown; the same bytes may be submitted again.
    if (isProviderError(error)) return { status: "retry", reason: error.message };
    throw error;
  }
}

/** Whether the consensus version accepts Falcon-1024 signatures of transactions: v42 and later. */
function hasFalcon(version: string | undefined): boolean {
  return version !== undefined && !BEFORE_FALCON.has(version);
}
