import { z } from "zod";
import { ownSettings, type UpstreamNode } from "../../../src/config/config.ts";
import { nodes, whole } from "../../../src/config/formats.ts";
import type { ChainTable, RailTable } from "../../../src/config/own-tables.ts";
import { checkEach, fail, ok } from "../../../src/health/finding.ts";
import type { ChainPayment, PaymentReader } from "../../../src/payment/rails/payment-reader.ts";
import { paymentRefused, type Rail, type RailFacts } from "../../../src/payment/rails/rail.ts";
import type { RailKind } from "../../../src/payment/rails/rail-kind.ts";
import { HttpProvider } from "../../../src/providers/http.ts";
import { agree, type QuorumRules } from "../../../src/providers/quorum.ts";
import { ASSET, type Iou, NETWORK, sealOf } from "./iou.ts";

/* The Moon's folder in `payment/rails/`. */

const MOON = {
  name: "moon",
  network: NETWORK,
  optionNetwork: "the-moon",
  asset: ASSET,
  paysFor: (source) => source !== "base",
  sameAddress: (a, b) => a.trim() === b.trim(),
} as const satisfies RailFacts;
const isNetwork = (network: string) => network === MOON.network || network === MOON.optionNetwork;

export const moonChain = { name: MOON.name, own: z.strictObject({ rpc: nodes.optional() }) } satisfies ChainTable;
export const moonSettings = {
  name: MOON.name,
  payTo: z.string(),
  chain: moonChain,
  own: z.strictObject({ max_shells: whole(1, 5_000).default(2_000) }),
} satisfies RailTable;

const text = z.string();
const Craters = z.array(z.object({ serial: text, drawer: text, bearer: text, shells: text, seal: text }));

class Nodes {
  readonly nodes: readonly HttpProvider[];
  readonly #rules: QuorumRules;

  constructor(endpoints: readonly UpstreamNode[], rules: QuorumRules) {
    this.nodes = endpoints.map((endpoint) => new HttpProvider(endpoint));
    this.#rules = rules;
  }

  /** @returns the paid IOUs, as the nodes agree on them */
  async payments(signal?: AbortSignal): Promise<(ChainPayment & { amount: bigint })[]> {
    const ask = (node: HttpProvider, ends: AbortSignal) => node.json({ path: "/craters" }, Craters, ends);
    const question = { about: "the craters", same: JSON.stringify, signal: signal ?? AbortSignal.timeout(5_000) };
    const [craters] = await agree(this.nodes, ask, question, this.#rules);
    return craters.map(({ serial, drawer, bearer, shells }, index) => ({
      rail: MOON.name,
      key: `moon:serial/${serial}`,
      aliases: [],
      transaction: `crater-${index + 1}`,
      height: index + 1,
      payer: drawer,
      payTo: bearer,
      amount: BigInt(shells),
      relayed: true,
    }));
  }
}

function moonReader(nodes: Nodes): PaymentReader {
  return {
    async heads() {
      const { length } = await nodes.payments();
      return { latest: length, final: length };
    },
    heightAt: async () => 1,
    async *payments(addresses, { from, to }) {
      const isWanted = ({ payTo, height }: ChainPayment) => addresses.includes(payTo) && from <= height && height <= to;
      yield* (await nodes.payments()).filter(isWanted);
    },
    inTransaction: async (id, addresses) =>
      (await nodes.payments()).filter(({ transaction, payTo }) => transaction === id && addresses.includes(payTo)),
  };
}

export const MOON_RAIL: RailKind<Nodes> = {
  ...MOON,
  label: "the Moon",
  settings: moonSettings,
  connect: ({ config, rules }) => new Nodes(ownSettings(config, moonChain).rpc ?? [], rules),
  isPaymentKey: (key) => key.startsWith("moon:serial/"),
  isTransactionId: (id) => /^crater-\d+$/.test(id),
  canonical: (spelled) => spelled.trim(),
  isNetwork,
  open: (nodes, { config, clock }): Rail => ({
    ...MOON,
    extra: { tide: "low" },
    wallets: {
      now: async () => ({ craters: (await nodes.payments()).length }),
      isAddress: () => true,
      holding: async () => undefined,
    },
    isNetwork,
    read(payload) {
      const { serial, drawer, bearer, shells } = payload.payload as Iou;
      if (!/^\d{8}$/.test(serial)) throw paymentRefused("the IOU has no serial number");
      const terms = { payer: drawer, payTo: bearer, amount: BigInt(shells), asset: MOON.asset };
      const key = `moon:serial/${serial}`;
      return { rail: MOON.name, key, aliases: [], ...terms, payload, wire: payload.payload };
    },
    signature: async ({ wire }) => (sealOf(wire as Iou) === wire.seal ? "valid" : "invalid"),
    onChain: async () => false,
    checkLayout: async () => {},
    async check({ amount }, requirement) {
      if (amount > ownSettings(config, moonSettings).max_shells) throw paymentRefused("the IOU is too large");
      if (amount !== BigInt(requirement.amount)) throw paymentRefused(`the IOU is over ${amount} shells`);
    },
    payeeFault: async () => (nodes.nodes.length > 0 ? undefined : "lives nowhere"),
    balance: async () => 1_000_000n,
    async status({ key }, signal) {
      const paid = (await nodes.payments(signal)).find((one) => one.key === key);
      if (!paid) return { state: "open" };
      return { state: "paid", transaction: paid.transaction, height: paid.height, final: true };
    },
    spent: async ({ key }, signal) => (await nodes.payments(signal)).some((one) => one.key === key),
    news: (signal) => clock.sleep(100, signal),
  }),
  reader: (nodes) => (nodes.nodes.length > 0 ? moonReader(nodes) : undefined),
  async examine({ nodes }, { signal }) {
    return checkEach(nodes, { setting: "chains.moon.rpc" }, async (node) => {
      const { length } = await node.json({ path: "/craters" }, Craters, signal);
      const shown = `chains.moon.rpc: ${node.name} shows ${length} craters`;
      return [length > 0 ? ok(`${shown}.`) : fail(`${shown}: it is no node of the Moon.`)];
    });
  },
  wallets: { about: "its craters", parameters: { craters: z.int().min(0) } },
  unsigned: { serial: "00000000", drawer: "", bearer: "", shells: "0", seal: "" },
};
