import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import {
  type CostInputs,
  configuredCosts,
  costsOf,
  FACILITATORS,
  MICRO,
  type PicoUsd,
  parseUsd,
  type Settlement,
  settlementOf,
  UPSTREAMS,
} from "@attestd/service/operator";
import { costsJson, printCosts } from "../costs-text.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { operate } from "../operate.ts";
import { readSettings, type SettingsOptions } from "../settings-file.ts";

export type CostsOptions = SettingsOptions & {
  algoPrice: string;
  facilitator?: string[];
  price?: string[];
  batch?: string;
  itemPrice?: string;
  perDay?: string;
  algo?: string;
  signaturePrice: string;
  requestPrice?: string[];
  diskPrice: string;
  keepMonths: string;
  monthly: string;
  json?: boolean;
};

/** The network's minimum balance of an account that holds nothing but ALGO, in microAlgos. */
const MIN_BALANCE = 100_000n;
const RAILS = ["algorand", "base", "solana"];
const DEFAULT_PRICE = "0.001";
const DEFAULT_ITEM_PRICE = "0.0001";

/** Prints what an attestation costs, from a configured service or from arguments alone. @throws Failure */
export async function costs(options: CostsOptions, environment: Environment): Promise<ExitCode> {
  const settings = await readSettings(options, environment);
  const given = givenInputs(options);
  const prices = pricesOf(options.price);
  const settlements = settlementsOf(options.facilitator ?? []);
  // A container has its settings in the environment alone.
  const isConfigured = options.env !== undefined || options.sandbox === true || Boolean(settings.ALGOD_URL);
  const texts = { doing: "reading the balance", undone: "not computed" };
  const service = isConfigured
    ? await operate(options, environment, texts, (_, all, operator) => configuredCosts(all, settlements, operator))
    : { rails: [...settlements].map(([rail, settlement]) => ({ rail, price: undefined, settlement })) };
  if (service.rails.length === 0) {
    const remedy = "Name what settles each rail: --facilitator algorand=goplausible base=cdp solana=0.0015.";
    throw new Failure(EXIT.usage, "there is nothing to compute", [remedy, "Or name a service's settings: --env FILE."]);
  }
  for (const [option, names] of Object.entries({ "--price": prices, "--facilitator": settlements })) {
    const unsold = [...names.keys()].find((name) => name !== "all" && !service.rails.some(({ rail }) => rail === name));
    if (unsold === undefined) continue;
    const remedy = isConfigured ? "The settings switch that rail off." : "Name what settles it, with --facilitator.";
    throw new Failure(EXIT.usage, `${option} names ${unsold}, on which nothing is sold`, [remedy]);
  }
  const rails = service.rails.map(({ rail, price, settlement }) => ({
    rail,
    settlement,
    price: prices.get(rail) ?? prices.get("all") ?? price ?? inMicro(DEFAULT_PRICE, "--price"),
  }));
  const spendable = given.spendable ?? ("spendable" in service ? service.spendable : undefined);
  const batch = batchOf(options, "itemPrice" in service ? service.itemPrice : undefined);
  const result = costsOf({ ...given, rails, batch, spendable });
  if (options.json) environment.out.json(costsJson(result));
  else printCosts(result, environment.out);
  return EXIT.good;
}

/** @param configured price of an item, in micro-USDC. @throws Failure `usage` */
function batchOf({ batch, itemPrice }: CostsOptions, configured: bigint | undefined): CostInputs["batch"] {
  if (batch === undefined && itemPrice === undefined) return undefined;
  if (batch === undefined)
    throw new Failure(EXIT.usage, "--item-price is of a batch", ["Name its size: --batch 1000."]);
  const items = countOf(batch, "--batch", MAX_BATCH_ITEMS);
  if (items < MIN_BATCH_ITEMS)
    throw new Failure(EXIT.usage, `--batch is a number from ${MIN_BATCH_ITEMS} to ${MAX_BATCH_ITEMS}`);
  const price = itemPrice === undefined ? configured : inMicro(itemPrice, "--item-price");
  return { items, itemPrice: price ?? inMicro(DEFAULT_ITEM_PRICE, "--item-price") };
}

/** What arguments alone say. */
function givenInputs(options: CostsOptions): Omit<CostInputs, "rails" | "batch"> {
  const requests = pairsOf(options.requestPrice ?? [], "--request-price", UPSTREAMS);
  return {
    algoPrice: inMicro(options.algoPrice, "--algo-price"),
    // 1 ALGO is a million microAlgos, as 1 USD is a million micro-USD.
    spendable: options.algo === undefined ? undefined : above(inMicro(options.algo, "--algo")),
    callsADay: options.perDay === undefined ? undefined : countOf(options.perDay, "--per-day", 100_000_000),
    signature: usdOf(options.signaturePrice, "--signature-price"),
    requests: Object.fromEntries([...requests].map(([name, text]) => [name, usdOf(text, `--request-price ${name}`)])),
    disk: {
      price: usdOf(options.diskPrice, "--disk-price"),
      months: countOf(options.keepMonths, "--keep-months", 1_200),
    },
    monthly: usdOf(options.monthly, "--monthly"),
  };
}

function above(balance: bigint): bigint {
  return balance > MIN_BALANCE ? balance - MIN_BALANCE : 0n;
}

/** Prices in micro-USDC by rail; `all` of an amount without one. */
function pricesOf(texts: readonly string[] = []): Map<string, bigint> {
  const named = texts.map((text) => (text.includes("=") ? text : `all=${text}`));
  const pairs = pairsOf(named, "--price", ["all", ...RAILS]);
  return new Map([...pairs].map(([rail, text]) => [rail, inMicro(text, "--price")]));
}

function settlementsOf(texts: readonly string[]): Map<string, Settlement> {
  const pairs = pairsOf(texts, "--facilitator", RAILS);
  return new Map(
    [...pairs].map(([rail, by]) => {
      const settlement = settlementOf(by, rail);
      if (settlement) return [rail, settlement];
      const what = FACILITATORS.includes(by)
        ? `${by} does not serve ${rail}`
        : `--facilitator ${rail}=${by} is no price`;
      const remedy = `Write an amount of USD a settlement, such as 0.001, or one of ${FACILITATORS.join(", ")}.`;
      throw new Failure(EXIT.usage, what, [remedy]);
    }),
  );
}

/** `NAME=VALUE` arguments by name. @throws Failure `usage` */
function pairsOf(texts: readonly string[], option: string, names: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(at, 0));
    if (!names.includes(name))
      throw new Failure(EXIT.usage, `${option} ${text} does not say what it is for`, [
        `Write NAME=VALUE, with a name of ${names.join(", ")}.`,
      ]);
    if (pairs.has(name)) throw new Failure(EXIT.usage, `${option} names ${name} twice`);
    pairs.set(name, text.slice(at + 1));
  }
  return pairs;
}

function usdOf(text: string, option: string): PicoUsd {
  const amount = parseUsd(text);
  if (amount !== undefined) return amount;
  throw new Failure(EXIT.usage, `${option} ${text} is no amount`, [
    "Write an amount such as 0.0015, with at most 12 decimals and no currency.",
  ]);
}

/** An amount of USD or ALGO in millionths. */
function inMicro(text: string, option: string): bigint {
  const amount = usdOf(text, option);
  if (amount % MICRO === 0n) return amount / MICRO;
  throw new Failure(EXIT.usage, `${option} ${text} has more than 6 decimals`);
}

function countOf(text: string, option: string, most: number): bigint {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return BigInt(text);
  throw new Failure(EXIT.usage, `${option} ${text} is no number from 1 to ${most}`);
}
