import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { createVariants, isKnown } from "./prepared.ts";

const endpoint: Endpoint = {
  method: "GET",
  path: "/document",
  access: "free",
  tag: "documents",
  summary: "A document",
  description: "A document.",
  replies: { 200: { description: "The document.", schema: z.string(), mediaType: "text/plain" } },
  problems: [],
  cacheControl: "public, max-age=300",
};

test.each([
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
])('If-None-Match of %s names "a": %s', (header, known) => {
  expect(isKnown(header, '"a"')).toBe(known);
});

test("a document is prepared again only when its text changes", () => {
  let text = "one";
  const document = createVariants(endpoint, { kind: "document", text: () => text });
  const first = document().plain;
  expect(first).toMatchObject({ bytes: Buffer.from("one") });
  expect(document().plain).toBe(first);
  text = "two";
  expect(document().plain).toMatchObject({ bytes: Buffer.from("two") });
  expect(document().plain.etag).not.toBe(first.etag);
});

test("a document is compressed once, with its own ETag, and only if that makes it shorter", () => {
  let text = "one ".repeat(1000);
  const document = createVariants(endpoint, { kind: "document", text: () => text });
  const { plain, compressed } = document();
  expect(document().compressed).toBe(compressed);
  expect(gunzipSync(compressed.bytes).toString()).toBe(text);
  expect(compressed.etag).not.toBe(plain.etag);
  expect([plain.found.headers, compressed.found.headers, compressed.unchanged.headers]).toMatchObject([
    { vary: "accept-encoding", "content-length": "4000" },
    { vary: "accept-encoding", "content-encoding": "gzip", "content-length": String(compressed.bytes.length) },
    { vary: "accept-encoding", etag: compressed.etag },
  ]);
  expect(plain.found.headers).not.toHaveProperty("content-encoding");
  text = "two";
  expect(document().compressed).toBe(document().plain);
});
