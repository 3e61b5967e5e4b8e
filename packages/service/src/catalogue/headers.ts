import { z } from "zod";

export type Header = {
  description: string;
  schema: z.ZodType;
  /** Whether every reply that lists it has it. */
  required: boolean;
};

const base64Json = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);

/** The headers of requests and replies. */
export const HEADERS = {
  "PAYMENT-REQUIRED": {
    description: "The price and the ways to pay it: base64 of the JSON of x402's PaymentRequired (version 2).",
    schema: base64Json,
    required: true,
  },
  "PAYMENT-SIGNATURE": {
    description:
      "A signed payment for exactly one of the offers of a 402: base64 of the JSON of x402's PaymentPayload (version 2).",
    schema: base64Json,
    required: false,
  },
  "PAYMENT-RESPONSE": {
    description: "The receipt of the settlement: base64 of the JSON of x402's SettleResponse.",
    schema: base64Json,
    required: false,
  },
  "Retry-After": {
    description: "Seconds after which the same request may succeed.",
    schema: z.string().regex(/^[0-9]+$/),
    required: false,
  },
  "RateLimit-Policy": {
    description:
      "The limit that the request counts against: its name, `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). Absent where none applies.",
    schema: z.string().regex(/^"[a-z]+";q=[0-9]+;w=[0-9]+$/),
    required: false,
  },
  RateLimit: {
    description: "What is left of that limit: `r` requests in the next `t` seconds.",
    schema: z.string().regex(/^"[a-z]+";r=[0-9]+;t=[0-9]+$/),
    required: false,
  },
  "X-Request-Id": {
    description: "Identifies the request in the service's log: quote it to the operator.",
    schema: z.string().regex(/^[A-Za-z0-9._~-]{8,64}$/),
    required: true,
  },
  ETag: {
    description: "Identifies exactly these bytes, for If-None-Match.",
    schema: z.string().regex(/^"[A-Za-z0-9_-]+"$/),
    required: true,
  },
  "Cache-Control": { description: "How long the answer may be kept, and by whom.", schema: z.string(), required: true },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;
