import { printable } from "../src/printable.ts";
import { actions, button, type Child, h } from "./dom.ts";
import { heading } from "./parts.ts";
import { fetchJson, type Site } from "./site.ts";

type Explanation = { code: string; status: number; title: string; advice: string };

const RULES =
  "Only a 402 means that it is safe to sign a new payment. If a problem has retry.sameHeader, money may have moved: wait, and send the same request with the same payment again.";

/** The view of one problem's code, or of all. */
export async function openProblemsPage(site: Site, focus: boolean): Promise<void> {
  const { pathname } = location;
  const options = { headers: { accept: "application/json" } };
  const value = await fetchJson<Explanation | { problems: Explanation[] }>(pathname, options);
  if (pathname !== location.pathname) return;
  if (value === undefined) return site.show(missing(site), focus);
  site.show("problems" in value ? listView(value.problems) : oneView(value), focus);
}

const seeAll = () => h("p", { class: "block" }, h("a", { class: "see", href: "/problems" }, "All problems"));

function oneView({ code, status, title, advice }: Explanation): Child[] {
  return [
    heading(title),
    h("p", { class: "hint" }, h("code", {}, code), `, HTTP status ${status}`),
    h("h2", {}, "What to do"),
    h("p", {}, ...withCode(advice)),
    h("h2", {}, "Before you pay again"),
    h("p", {}, RULES),
    seeAll(),
  ];
}

function listView(problems: readonly Explanation[]): Child[] {
  const item = ({ code, status, title, advice }: Explanation) => [
    h("dt", {}, h("a", { class: "see", href: `/problems/${code}` }, code), ` ${status}`),
    h("dd", {}, h("p", {}, title), h("p", { class: "hint" }, ...withCode(advice))),
  ];
  return [
    heading("Problems"),
    h("p", { class: "block" }, "Every error of the service has one of these codes. ", RULES),
    h("dl", { class: "problems" }, ...problems.flatMap(item)),
  ];
}

/** There is no such code, or the service does not answer. */
function missing(site: Site): Child[] {
  const again = button("Ask again", () => void openProblemsPage(site, true));
  return [
    heading("No such problem"),
    h("p", { class: "block" }, "There is no problem with this code, or the service doesn't answer now."),
    actions(again),
    seeAll(),
  ];
}

/** Sets what stands between backquotes as code. */
function withCode(advice: string): Child[] {
  return advice.split("`").map((part, index) => (index % 2 === 1 ? h("code", {}, printable(part)) : printable(part)));
}
