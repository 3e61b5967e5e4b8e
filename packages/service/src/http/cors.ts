import type { HttpContext } from "./body.ts";

/** Any page may read our answers, its payments' headers among them: nothing here rests on cookies or on where one is. */
export const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, ETag, Allow",
};

/** Answers OPTIONS: what a page of another origin may send (Fetch standard, CORS-preflight). */
export function preflight(c: HttpContext, allow: string): Response {
  return c.body(null, 204, {
    ...CORS_HEADERS,
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": "PAYMENT-SIGNATURE, Content-Type, If-None-Match",
    "access-control-max-age": "86400",
  });
}
