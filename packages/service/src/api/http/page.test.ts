import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ask } from "../../../test/fakes/transport.ts";
import { Problem } from "../../lib/problems.ts";
import { json } from "../endpoints/answer.ts";
import type { Handler, Route } from "../endpoints/transport.ts";
import { forBrowsers, type PageFile, pageRoutes, viewOf } from "./page.ts";

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
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"])
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

  test("allows a document only what it names beside its own origin", async () => {
    const docs = { ...files[0], path: "/docs", allows: { "img-src": ["data:"] } } as PageFile;
    const [own, plain] = pageRoutes([docs, files[0] as PageFile]);
    const policy = async (route: Route) => (await ask(route)).headers.get("content-security-policy");
    expect(await policy(plain as Route)).toContain("img-src 'self';");
    expect(await policy(own as Route)).toBe(
      (await policy(plain as Route))?.replace("img-src 'self'", "img-src 'self' data:"),
    );
  });

  describe("in the place of an endpoint's JSON", () => {
    const handle = async () => json(200, "{}");
    const missing = () => Promise.reject(new Problem("not_found", "nothing"));
    const accepting = (accept: string | undefined, made: Handler, built = files) =>
      ask(
        { method: "GET", path: "/status", handle: forBrowsers(made, viewOf(built)) },
        { headers: accept === undefined ? {} : { accept } },
      );
    const type = (answer: Response) => answer.headers.get("content-type")?.split(";")[0];

    test.each<[string, string | undefined, string]>([
      ["Chrome", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html"],
      ["curl, fetch", "*/*", "application/json"],
      ["one that says nothing", undefined, "application/json"],
      ["one that prefers JSON", "application/json, text/html;q=0.5", "application/json"],
      ["one that refuses HTML", "text/html;q=0, */*", "application/json"],
      ["one that writes it oddly", "Text/HTML ; Q=1", "text/html"],
    ])("%s gets the form that it asks for", async (_, accept, expected) => {
      const answer = await accepting(accept, handle);
      expect([answer.status, type(answer)]).toEqual([200, expected]);
      expect(answer.headers.get("vary")).toMatch(/(^|, )accept$/);
      const hasPolicy = answer.headers.get("content-security-policy") !== null;
      expect(hasPolicy).toBe(expected === "text/html");
    });

    test("what is missing is so for both, and where the page is not built all get JSON", async () => {
      const answer = await accepting("text/html", missing);
      expect([answer.status, type(answer)]).toEqual([404, "text/html"]);
      await expect(accepting("application/json", missing)).rejects.toThrow("nothing");
      await expect(accepting("text/html", missing, [])).rejects.toThrow("nothing");
    });
  });

  test("answers 404 where it is not built", async () => {
    const [route, ...others] = pageRoutes(undefined);
    expect(others).toEqual([]);
    expect(route?.path).toBe("/");
    await expect(ask(route as Route)).rejects.toThrow(/The page is not built/);
  });
});
