import { USDC_DECIMALS } from "@attestd/proof/rails";

/** Reads a decimal number with at most six places, e.g. `0.001`, as micro-USDC. @throws RangeError for any other text */
export function parseUsdc(text: string): bigint {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`${JSON.stringify(text)} is not an amount of USDC, such as 0.001.`);
  const [, whole = "", fraction = ""] = match;
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, "0"));
}
