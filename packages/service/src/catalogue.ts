import { DOCUMENTS } from "./catalogue/documents.ts";
import { PAID } from "./catalogue/paid.ts";
import { READ } from "./catalogue/read.ts";
import { VERIFY } from "./catalogue/verify.ts";

export type * from "./catalogue/endpoint.ts";

/** The one table of endpoints; routes, documents and tools are drawn from it. */
export const CATALOGUE = { ...PAID, ...VERIFY, ...READ, ...DOCUMENTS } as const;

export type EndpointId = keyof typeof CATALOGUE;
