import { command, InvalidArgumentError, required, value, values } from "../../command.ts";
import { EXIT, Failure } from "../../failure.ts";
import { operatorOptions } from "../../options.ts";

/** Amounts are in 10^-12 USD, so that a price in micro-USD times a fee in microAlgos is exact. */
const DECIMALS = 12;
const MICRO = 10n ** 6n;

/** Prints what an attestation costs on each rail of a configured service, and what remains of its price. */
export const costs = command({
  name: "costs",
  summary: "compute what an attestation costs, and what remains",
  help: [
    "Compute what an attestation costs on each rail of a service, what remains of its price, and for how many its ALGO lasts.",
    "  attestd costs --settings /etc/attestd/attestd.toml --algo-price 0.20 --settlement base=0.001 solana=0.001",
  ],
  options: {
    ...operatorOptions,
    algoPrice: required(value("<usd>", "what an ALGO costs now", usdOf)),
    settlement: values(
      "<rail=usd...>",
      "what the facilitator of a rail takes for a settlement (default: 0)",
      settlementOf,
    ),
  },
  async run({ algoPrice, settlement = [], ...options }, environment) {
    const settlements = new Map(settlement);
    const [{ operate }, { formatUnits }] = await Promise.all([
      import("../../operator/operate.ts"),
      import("@attestd/proof/text"),
    ]);
    const usd = (amount: bigint) =>
      amount < 0n ? `-${formatUnits(-amount, DECIMALS)}` : formatUnits(amount, DECIMALS);
    const texts = { doing: "reading the balance", undone: "not computed" };
    const { prices, fee, affordable } = await operate(
      options,
      environment,
      texts,
      ({ readCosts }, settings, operator) => readCosts(settings, operator),
    );
    const unsold = [...settlements.keys()].find((name) => !prices.some(({ rail }) => rail === name));
    if (unsold !== undefined)
      throw new Failure(EXIT.usage, `--settlement names ${unsold}, on which nothing is sold`, [
        `The rails are ${prices.map(({ rail }) => rail).join(", ")}.`,
      ]);
    const note = (algoPrice * fee) / MICRO;
    const rails = prices.map(({ rail, price }) => {
      const taken = settlements.get(rail);
      const remains = price * MICRO - (taken ?? 0n) - note;
      return { rail, price: usd(price * MICRO), settlement: taken && usd(taken), remains: usd(remains) };
    });
    const { out } = environment;
    if (options.json) {
      out.json({ rails, note: usd(note), attestations: Number(affordable) });
      return EXIT.good;
    }
    out.line(
      `A note costs ${formatUnits(fee, 6)} ALGO, ${usd(note)} USD; ten times that while the ledger is congested.`,
    );
    for (const { rail, price, settlement = "0, as --settlement names none", remains } of rails)
      out.line(`  ${rail}: ${remains} USD of ${price} USDC remain (settlement ${settlement})`);
    out.line(`The attestor's account has ALGO for ${affordable} attestations.`);
    return EXIT.good;
  },
});

/** The rail and the amount in an argument such as `base=0.001`. */
function settlementOf(text: string): [rail: string, amount: bigint] {
  const [, rail, amount = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
  if (rail === undefined) throw new InvalidArgumentError("It names no rail: write base=0.001.");
  return [rail, usdOf(amount)];
}

function usdOf(text: string): bigint {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole !== undefined) return BigInt(whole + fraction.padEnd(DECIMALS, "0"));
  throw new InvalidArgumentError("Write an amount of USD such as 0.0015, with at most 6 decimals and no currency.");
}
