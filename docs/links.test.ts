import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import GithubSlugger from "github-slugger";
import { marked, type Token, type Tokens, walkTokens } from "marked";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const files = (pattern: string) =>
  globSync(pattern, { cwd: ROOT, exclude: ["**/node_modules", "**/dist", "**/.attestd"] }).toSorted();
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** What a page links to, and the anchors that it has. */
function pageOf(file: string): { links: string[]; anchors: string[] } {
  const links: string[] = [];
  const anchors: string[] = [];
  const slugger = new GithubSlugger();
  walkTokens(marked.lexer(read(file)), (token) => {
    if (token.type === "link" || token.type === "image") links.push((token as Tokens.Link | Tokens.Image).href);
    if (token.type === "heading") anchors.push(slugger.slug(plain((token as Tokens.Heading).tokens)));
  });
  return { links, anchors };
}

/** Text without its marks. */
function plain(tokens: readonly Token[]): string {
  return tokens.map((token) => ("tokens" in token && token.tokens ? plain(token.tokens) : token.raw)).join("");
}

const PAGES = new Map(files("{*.md,{docs,packages}/**/*.md}").map((file) => [file, pageOf(file)]));

test.each([...PAGES])("every relative link and anchor of %s leads somewhere", (file, { links }) => {
  const broken = links.filter((link) => {
    if (URL.canParse(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? file : normalize(join(dirname(file), decodeURIComponent(path)));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !PAGES.get(target)?.anchors.includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("links are looked at", () => {
  expect(PAGES.get("README.md")?.links).toContain("docs/format.md");
  expect([...PAGES.values()].flatMap(({ links }) => links.filter((link) => link.includes("#"))).length).toBeGreaterThan(
    10,
  );
});

test("every page that a comment, a message or a configuration names exists", () => {
  const named = files("{.env,*,{bench,build,docs,test,packages}/**/*}.{ts,mjs,js,json,yml,example,py,go}").flatMap(
    (file) => [...read(file).matchAll(/\bdocs\/[\w./-]+\.(?:md|yml|json|conf)\b/g)].map(([path]) => ({ file, path })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});
