import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/fakes/transport.ts";
import type { Route } from "../endpoints/transport.ts";
import { type PageFile, pageRoutes } from "./page.ts";

const body = new TextEncoder().encode("<h1>a page, a page, a page</h1>");
const files: PageFile[] = [
  { path: "/", type: "text/html; charset=utf-8", body, isImmutable: false },
  { path: "/assets/page-AB12.js", type: "text/javascript; charset=utf-8", body, isImmutable: true },
];
const get = async (path: string, headers: Record<string, string> = {}) => {
  const route = pageRoutes(files).find((one) => one.path === path);
  if (!route) throw new Error(`there is nothing at ${path}`);
  return ask(route, { headers });
};

describe("the page", () => {
  test("connects only to its own origin and cannot be framed", async () => {
    const { headers } = await get("/");
    const policy = headers.get("content-security-policy");
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule);
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("is revalidated by its ETag, and cached for ever where its path changes with its contents", async () => {
    const { headers } = await get("/");
    expect(headers.get("cache-control")).toBe("no-cache");
    const tag = headers.get("etag") as string;
    for (const known of [tag, tag.slice(2), `"other", ${tag}`, "*"])
      expect((await get("/", { "if-none-match": known })).status).toBe(304);
    expect((await get("/", { "if-none-match": '"other"' })).status).toBe(200);
    const asset = await get("/assets/page-AB12.js");
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("is compressed for clients that accept gzip", async () => {
    const compressed = await get("/", { "accept-encoding": "br, gzip" });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await compressed.arrayBuffer())).toEqual(Buffer.from(body));
    for (const encodings of ["", "br", "gzip;q=0"]) {
      const plain = await get("/", { "accept-encoding": encodings });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(plain.headers.get("vary")).toBe("accept-encoding");
      expect(new Uint8Array(await plain.arrayBuffer())).toEqual(body);
    }
  });

  test("answers 404 where it is not built", async () => {
    const [route, ...others] = pageRoutes(undefined);
    expect(others).toEqual([]);
    expect(route?.path).toBe("/");
    await expect(ask(route as Route)).rejects.toThrow(/The page is not built/);
  });
});
