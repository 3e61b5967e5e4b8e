import { formatUnits } from "@attestd/proof/text";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { operate } from "../operate.ts";
import type { SettingsOptions } from "../settings-file.ts";

export type CostsOptions = SettingsOptions & { algoPrice: string; settlement?: string[]; json?: boolean };

/** Amounts are in 10^-12 USD, so that a price in micro-USD times a fee in microAlgos is exact. */
const DECIMALS = 12;
const MICRO = 10n ** 6n;

/** Prints what an attestation costs on each rail of a configured service, and what remains of its price. @throws Failure */
export async function costs(options: CostsOptions, environment: Environment): Promise<ExitCode> {
  const algoPrice = usdOf(options.algoPrice, "--algo-price");
  const settlements = settlementsOf(options.settlement ?? []);
  const texts = { doing: "reading the balance", undone: "not computed" };
  const { prices, fee, affordable } = await operate(options, environment, texts, ({ readCosts }, settings, operator) =>
    readCosts(settings, operator),
  );
  const unsold = [...settlements.keys()].find((name) => !prices.some(({ rail }) => rail === name));
  if (unsold !== undefined) {
    const remedy = `The rails are ${prices.map(({ rail }) => rail).join(", ")}.`;
    throw new Failure(EXIT.usage, `--settlement names ${unsold}, on which nothing is sold`, [remedy]);
  }
  const note = (algoPrice * fee) / MICRO;
  const rails = prices.map(({ rail, price }) => {
    const settlement = settlements.get(rail);
    const remains = price * MICRO - (settlement ?? 0n) - note;
    return { rail, price: usd(price * MICRO), settlement: settlement && usd(settlement), remains: usd(remains) };
  });
  const { out } = environment;
  if (options.json) out.json({ rails, note: usd(note), attestations: Number(affordable) });
  else {
    out.line(
      `A note costs ${formatUnits(fee, 6)} ALGO, ${usd(note)} USD; ten times that while the ledger is congested.`,
    );
    for (const { rail, price, settlement = "0, as --settlement names none", remains } of rails)
      out.line(`  ${rail}: of ${price} USDC remain ${remains} USD (settlement ${settlement})`);
    out.line(`The attestor's account has ALGO for ${affordable} attestations.`);
  }
  return EXIT.good;
}

/** By rail, of `RAIL=USD` arguments. @throws Failure `usage` */
function settlementsOf(texts: readonly string[]): Map<string, bigint> {
  return new Map(
    texts.map((text) => {
      const [, rail = "", amount = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
      if (rail === "") throw new Failure(EXIT.usage, `--settlement ${text} names no rail`, ["Write base=0.001."]);
      return [rail, usdOf(amount, `--settlement ${rail}`)];
    }),
  );
}

function usdOf(text: string, option: string): bigint {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole !== undefined) return BigInt(whole + fraction.padEnd(DECIMALS, "0"));
  const remedy = "Write an amount of USD such as 0.0015, with at most 6 decimals and no currency.";
  throw new Failure(EXIT.usage, `${option} ${text} is no amount`, [remedy]);
}

function usd(amount: bigint): string {
  return amount < 0n ? `-${formatUnits(-amount, DECIMALS)}` : formatUnits(amount, DECIMALS);
}
