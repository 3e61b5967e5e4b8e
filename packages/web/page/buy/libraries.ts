/** Replaced at build time. */
declare const ARC27_URL: string;
declare const ALGORAND_URL: string;
declare const SOLANA_URL: string;

/* The wallets' own libraries, each a file of its own, which is loaded when it is first needed. */

export const loadArc27 = (): Promise<typeof import("./libraries/arc27.ts")> => import(ARC27_URL);
export const loadAlgorand = (): Promise<typeof import("./libraries/algorand.ts")> => import(ALGORAND_URL);
export const loadSolana = (): Promise<typeof import("./libraries/solana.ts")> => import(SOLANA_URL);
