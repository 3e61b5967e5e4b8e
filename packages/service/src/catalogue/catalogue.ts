import { DOCUMENTS } from "./documents.ts";
import { PAID } from "./paid.ts";
import { READ } from "./read.ts";
import { VERIFY } from "./verify.ts";

export type * from "./endpoint.ts";

/** The table of endpoints, from which routes, documents and tools are made. */
export const CATALOGUE = { ...PAID, ...VERIFY, ...READ, ...DOCUMENTS } as const;

export type EndpointId = keyof typeof CATALOGUE;
