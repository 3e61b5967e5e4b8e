import { DOCUMENTS } from "./documents.ts";
import { PAID } from "./paid.ts";
import { READ } from "./read.ts";
import { VERIFY } from "./verify.ts";

export type * from "./endpoint.ts";

/** The one table of endpoints; routes, documents and tools are drawn from it. */
export const CATALOGUE = { ...PAID, ...VERIFY, ...READ, ...DOCUMENTS } as const;

export type EndpointId = keyof typeof CATALOGUE;
