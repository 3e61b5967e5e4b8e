import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Catalogue, Endpoint } from "../catalogue.ts";
import { documentShortcut, isKnown, prepare } from "./document.ts";

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
const catalogue: Catalogue = { document: endpoint, other: { ...endpoint, path: "/other" } };

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

describe("the shortcut", () => {
  let text = "one";
  const shortcut = documentShortcut(catalogue, {
    document: { kind: "document", text: () => text },
    other: { kind: "read", read: () => ({ status: 200, text }) },
  });

  /** What it answers; undefined where it leaves the request to the app. */
  function ask(method: string, url: string, headers: Record<string, string> = {}) {
    const told: { status?: number; headers?: Record<string, string>; body?: string } = {};
    const outgoing = {
      writeHead(status: number, sent: Record<string, string>) {
        Object.assign(told, { status, headers: sent });
        return outgoing;
      },
      end(body?: Buffer) {
        if (body) told.body = body.toString();
      },
    };
    const answered = shortcut(
      { method, url, headers } as unknown as IncomingMessage,
      outgoing as unknown as ServerResponse,
    );
    return answered ? told : undefined;
  }

  test("answers documents, anew once they are others", () => {
    const { etag, headers, unchangedHeaders } = prepare(endpoint, "one");
    expect(ask("GET", "/document")).toEqual({ status: 200, headers, body: "one" });
    expect(ask("GET", "/document", { "if-none-match": etag })).toEqual({ status: 304, headers: unchangedHeaders });
    text = "two";
    expect(ask("GET", "/document", { "if-none-match": etag })).toMatchObject({ status: 200, body: "two" });
  });

  test.each([
    ["POST", "/document"],
    ["OPTIONS", "/document"],
    ["GET", "/document?chain=1"],
    ["GET", "/document/"],
    ["GET", "/other"],
    ["GET", "/nothing"],
  ])("leaves %s %s to the app", (method, url) => {
    expect(ask(method, url)).toBe(undefined);
  });
});
