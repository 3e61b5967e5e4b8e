import { EXIT, Failure } from "./failure.ts";

/** The height of a block, as it was typed. @throws Failure `usage` */
export function readHeight(text: string): number {
  const height = Number(text);
  if (/^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(height)) return height;
  throw new Failure(EXIT.usage, `the height of a block is a whole number, and is ${text}`);
}
