import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The library that takes Solana's transactions apart, loaded by the first payment on that rail: it takes a tenth of a
 * second and 30 MB, and many a service never sees one.
 */
export function solanaKit(): typeof import("@solana/kit") {
  return require("@solana/kit");
}
