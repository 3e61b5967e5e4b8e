import type { PaymentPayload } from "@x402/core/types";
import type { Hex } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import { ignoring } from "../../../lib/errors.ts";
import type { Block, EthereumNodes, EthereumRpc } from "../../../providers/ethereum-rpc.ts";
import { unavailable } from "../../../providers/provider.ts";
import { agreeOnQuantity } from "../../../providers/quantity.ts";
import { agree, hasLaggards } from "../../../providers/quorum.ts";
import { type PaymentStatus, paymentRefused, type Rail, VOID_WITNESSES } from "../rail.ts";
import {
  type Authorization,
  authorizationDigest,
  bringsSignature,
  isSignedByKeyOf,
  readAuthorization,
  type TokenDomain,
} from "./authorization.ts";
import { type UseSearch, useSearch } from "./authorization-use.ts";
import { type BasePayment, checkLayout, checkTimes, checkTransfer, SKEW_SECONDS } from "./checks.ts";
import { lagging, untilCaughtUp } from "./lag.ts";
import type { Use } from "./logged-use.ts";
import { BASE, isTransactionHash } from "./usdc.ts";
import { askWallet, isAuthorizationUsed, readBalance, readBlock, readInput, readPayeeFault } from "./usdc-contract.ts";

const POLL_MS = 1_000;

export type BaseRailOptions = {
  nodes: EthereumNodes;
  /** The token's EIP-712 domain, as read from the chain. */
  domain: TokenDomain;
  /** How long an authorization may stay valid, in seconds. */
  maxLifeSeconds: number;
  /** Blocks in one query for logs. */
  logSpan: number;
  /** The limit of gas for checking a wallet's signature: the facilitator pays for it again when it settles. */
  maxSignatureGas: number;
  clock: Clock;
};

/**
 * What one node shows about an authorization; `final` when that can never change. Block numbers only order what nodes
 * have seen; they never measure time.
 */
type Observation = ({ kind: "unused"; head: number } | Use) & { final: boolean };

/**
 * The data that is remembered about a node: its searches, and the newest block that it has shown, with its Unix time in
 * s.
 */
type View = { rpc: EthereumRpc; name: string; search: UseSearch; newest?: { number: number; at: number } };

/**
 * The Base USDC rail: scheme `exact` of @x402/evm with EIP-3009. The facilitator submits the payment and pays its gas.
 */
export function baseRail(options: BaseRailOptions): Rail<BasePayment> {
  const { nodes, domain, maxLifeSeconds, maxSignatureGas, logSpan, clock } = options;
  const views: View[] = nodes.rpcs.map((rpc) => ({ rpc, name: rpc.name, search: useSearch(rpc, logSpan, clock.now) }));
  const now = () => Math.floor(clock.now() / 1000);

  return {
    ...BASE,
    extra: { name: domain.name, version: domain.version },

    read(payload: PaymentPayload): BasePayment {
      if (payload.x402Version !== 2) throw paymentRefused("x402Version is not 2");
      const { authorization, signature } = readAuthorization(payload.payload);
      const { from, to, value, nonce } = authorization;
      return {
        rail: BASE.name,
        key: `${BASE.network}/${BASE.asset.toLowerCase()}/${from.toLowerCase()}/${nonce}`,
        aliases: [],
        payer: from,
        payTo: to,
        amount: value,
        // Not in the payload, but signed: it is part of the payer's EIP-712 domain.
        asset: BASE.asset,
        payload,
        wire: { signature, authorization: wireOf(authorization) },
        authorization,
        signature,
      };
    },

    // Never `invalid`: a wallet's contract may accept any bytes, even 65 of them (ERC-1271; a Safe with one owner). The
    // chain is asked before anything is written or answered, and an account without a contract accepts none.
    async signature(payment) {
      const { authorization, signature } = payment;
      return (await isSignedByKeyOf(authorization.from, digestOf(payment), signature)) ? "valid" : "on_chain";
    },

    async onChain(payment, signal) {
      const { from } = payment.authorization;
      const ask = (rpc: EthereumRpc, ends: AbortSignal) =>
        askWallet(rpc, from, digestOf(payment), payment.signature, { maxGas: maxSignatureGas }, ends);
      const question = { about: `the signature of ${payment.key}`, same: String, signal };
      const [answer] = await agree(nodes.rpcs, ask, question, nodes.rules);
      // The wallet may have accepted it when the payment was made, under keys that its owner has replaced since.
      return answer === "accepted" || (answer === "refused" && (await hasBeenTaken(payment, signal)));
    },

    checkLayout,

    async check(payment, requirement) {
      await checkLayout(payment);
      checkTransfer(payment.authorization, requirement);
      checkTimes(payment.authorization, now(), maxLifeSeconds);
    },

    async balance({ authorization: { from } }, signal) {
      const ask = (rpc: EthereumRpc, ends: AbortSignal) => readBalance(rpc, BASE.asset, from, ends);
      return agreeOnQuantity(nodes.rpcs, ask, { about: `the balance of ${from}`, signal }, nodes.rules);
    },

    async payeeFault(payTo, signal) {
      // USDC that is sent to the token's own contract is lost.
      if (BASE.sameAddress(payTo, BASE.asset)) return "is the token's own contract";
      const ask = (rpc: EthereumRpc, ends: AbortSignal) => readPayeeFault(rpc, BASE.asset, payTo as Hex, ends);
      const question = { about: `the payee ${payTo}`, same: String, signal };
      const [fault] = await agree(nodes.rpcs, ask, question, nodes.rules);
      return fault;
    },

    async status(payment, signal, hint): Promise<PaymentStatus> {
      const observations = await lookEverywhere(payment, signal, hint).catch(ignoring(hasLaggards));
      if (!observations) return { state: "open" };
      const [observation] = observations;
      const final = observations.every((one) => one.final);
      if (pays(payment, observation))
        return { state: "paid", transaction: observation.transaction, height: observation.block, final };
      // After a void the payer signs again, so no reorganisation may revive this payment.
      const mayVoid = observations.length >= Math.min(VOID_WITNESSES, nodes.rpcs.length);
      if (!final || !mayVoid) return { state: "open" };
      return { state: "void", reason: reasonOf(observation, payment.authorization) };
    },

    async spent(payment, signal) {
      const [observation] = await lookEverywhere(payment, signal);
      return observation.kind === "used" && BASE.sameAddress(observation.to, payment.payTo);
    },

    news: (signal) => clock.sleep(POLL_MS, signal),
  };

  /** Whether the token accepted the payment with this signature: the transaction that used it contains it. */
  async function hasBeenTaken(payment: BasePayment, signal: AbortSignal): Promise<boolean> {
    const [observation] = await lookEverywhere(payment, signal);
    if (!pays(payment, observation)) return false;
    const question = { about: `the input of ${observation.transaction}`, same: String, signal };
    const ask = (rpc: EthereumRpc, ends: AbortSignal) => readInput(rpc, observation.transaction, ends);
    const [input] = await agree(nodes.rpcs, ask, question, nodes.rules);
    return bringsSignature(input, payment.authorization, payment.signature);
  }

  function digestOf({ authorization }: BasePayment): Hex {
    return authorizationDigest(authorization, BASE.asset, domain);
  }

  /**
   * Asks every node. A node that has not reached the block in which others show a use does not contradict them, and
   * does not confirm the use.
   */
  function lookEverywhere(
    payment: BasePayment,
    signal: AbortSignal,
    hint?: string,
  ): Promise<[Observation, ...Observation[]]> {
    const behind = (observation: Observation, others: readonly Observation[]) =>
      others.some((other) => isBefore(observation, other));
    const question = { about: `the payment ${payment.key}`, same: describe, behind, signal };
    const ask = (view: View, ends: AbortSignal) => untilCaughtUp(clock, () => look(view, payment, ends, hint), ends);
    return agree(views, ask, question, nodes.rules);
  }

  async function look(view: View, payment: BasePayment, signal: AbortSignal, hint?: string): Promise<Observation> {
    const { rpc, search } = view;
    const { from, nonce, validBefore } = payment.authorization;
    const id = { token: BASE.asset, from, nonce } as const;
    const head = await readHead(view, signal);
    const hinted = hint && isTransactionHash(hint) ? await search.useIn(id, hint.toLowerCase(), signal) : undefined;
    if (!hinted && !(await isAuthorizationUsed(rpc, id, head.number, signal))) {
      // The token refuses a transfer from time `validBefore` on. Blocks after a finalized block of such a time are
      // later still.
      const finalized = now() < validBefore ? undefined : await readBlock(rpc, "finalized", signal);
      const final = finalized !== undefined && finalized.timestamp >= validBefore && finalized.number <= head.number;
      return { kind: "unused", head: head.number, final };
    }

    // An admitted payment was unused before that, or its validity would have been too long.
    const after = Math.min(Number(validBefore), now()) - maxLifeSeconds - SKEW_SECONDS;
    const use = hinted ?? (await search.findUse(id, { after, before: validBefore }, head.number, signal));
    if (!use) throw unavailable(`${rpc.name} shows ${payment.key} as used and has no log of it`);
    return { ...use, final: use.block <= (await readBlock(rpc, "finalized", signal)).number };
  }

  /**
   * Reads a node's head. Several nodes may be behind one URL, some of them lagging: what such a node lacks does not
   * count as absent.
   */
  async function readHead(view: View, signal: AbortSignal): Promise<Block> {
    const { rpc, newest } = view;
    const head = await readBlock(rpc, "latest", signal);
    if (head.timestamp < now() - SKEW_SECONDS) throw unavailable(`${rpc.name} has had no block since ${head.number}`);
    // Only for a while: a reorganisation, or a false answer, must not disable the node for ever.
    if (newest && head.number < newest.number && now() - newest.at < SKEW_SECONDS)
      throw lagging(`${rpc.name} answers from block ${head.number}, and has shown block ${newest.number}`);
    view.newest = { number: head.number, at: now() };
    return head;
  }
}

/** Encodes an authorization: addresses with their checksum, which some facilitators require; numbers in decimal. */
function wireOf(authorization: Authorization): Record<string, string> {
  return Object.fromEntries(Object.entries(authorization).map(([field, value]) => [field, value.toString()]));
}

function pays({ payTo, amount }: BasePayment, use: Use | Observation): use is Extract<Use, { kind: "used" }> {
  return use.kind === "used" && BASE.sameAddress(use.to, payTo) && use.value === amount;
}

/** Describes the facts on which nodes must agree. */
function describe(observation: Observation): string {
  if (observation.kind === "unused") return "unused";
  const where = `in ${observation.transaction}, block ${observation.blockHash}`;
  return observation.kind === "cancelled"
    ? `cancelled ${where}`
    : `${observation.value} moved to ${observation.to} ${where}`;
}

/**
 * Whether one node had not reached the block in which the other saw the authorization used. False for an authorization
 * that expired unused.
 */
function isBefore(unused: Observation, used: Observation): boolean {
  return unused.kind === "unused" && !unused.final && used.kind !== "unused" && unused.head < used.block;
}

function reasonOf(observation: Observation, { validBefore }: Authorization): string {
  switch (observation.kind) {
    case "unused":
      return `expired unspent, at Unix time ${validBefore}`;
    case "cancelled":
      return `cancelled by its payer, in ${observation.transaction}`;
    case "used":
      return `its nonce was spent on another transfer, in ${observation.transaction}`;
  }
}
