import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The library that decodes Solana transactions. It is loaded by the first payment on that rail, because it takes 0.1 s and
 * 30 MB, and many services never see one.
 */
export function solanaKit(): typeof import("@solana/kit") {
  return require("@solana/kit");
}
