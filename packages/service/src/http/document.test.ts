import { expect, test } from "vitest";
import { z } from "zod";
import type { Endpoint } from "../catalogue.ts";
import { isKnown, prepare, preparing } from "./document.ts";

const endpoint: Endpoint = {
  method: "GET",
  path: "/document",
  access: "free",
  tag: "documents",
  summary: "A document",
  description: "A document.",
  replies: { 200: { description: "It.", schema: z.string(), mediaType: "text/plain" } },
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

test("a document is prepared anew once its text is another, and not before", () => {
  let text = "one";
  const document = preparing(endpoint, { kind: "document", text: () => text });
  const first = document();
  expect(first).toEqual(prepare(endpoint, "one"));
  expect(document()).toBe(first);
  text = "two";
  expect(document()).toEqual(prepare(endpoint, "two"));
  expect(document().etag).not.toBe(first.etag);
});
