import { type Bundle, verify } from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import { utf8 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testBundle, testHistory } from "../../../../test/bundles/bundles.ts";
import { KINDS, MAKING } from "../../test/certificates/make.ts";
import { isBundleOf, parsePointer, pointerUrl } from "../pointer.ts";
import { contentsOf, makingOf } from "./certificate.ts";
import { layOut } from "./layout.ts";
import { PAPERS, type Paper } from "./making.ts";
import { type Leaf, type Mark, type Node, runsWidth, wrap } from "./sheet.ts";

const sheetOf = (kind: string, paper: Paper) => {
  const [bundle, history, stated] = KINDS[kind] as (typeof KINDS)[string];
  const making = { ...MAKING, ...stated, paper };
  return layOut(contentsOf(utf8(JSON.stringify(bundle)), history, making), paper);
};
const leavesOf = (node: Node): Leaf[] => ("kids" in node ? node.kids.flatMap(leavesOf) : [node]);
const textOf = (marks: readonly Mark[]) =>
  marks.map((mark) => (mark.kind === "text" ? mark.runs.map(({ text }) => text).join("") : "")).join("");

describe.each(Object.keys(PAPERS) as Paper[])("a certificate on %s", (paper) => {
  test.each(Object.keys(KINDS))("stays within the margins, nothing over anything else: %s", (kind) => {
    const { width, height, document, artifacts } = sheetOf(kind, paper);
    const margin = (18 / 25.4) * 72 - 0.01;
    const leaves = leavesOf(document);
    for (const mark of [...leaves.flatMap(({ marks }) => marks), ...artifacts.flat()]) {
      if (mark.kind === "stamp") continue;
      const side = mark.kind === "code" ? mark.module * mark.dark.length : 0;
      const right = mark.kind === "text" ? runsWidth(mark.runs, mark.size) : mark.kind === "rule" ? mark.width : side;
      expect(mark.x).toBeGreaterThan(margin);
      expect(mark.x + right).toBeLessThan(width - margin);
      expect(mark.y).toBeGreaterThan(margin);
      expect(mark.y + (side || 2.5)).toBeLessThan(height - margin);
    }
    const boxes = leaves.flatMap(({ page, marks }) =>
      marks.map((mark) => {
        if (mark.kind !== "text") return { page, left: mark.x, right: width, top: mark.y, bottom: mark.y + 60 };
        const [top, right] = [mark.y - mark.size * 0.7, mark.x + runsWidth(mark.runs, mark.size)];
        return { page, left: mark.x, right, top, bottom: mark.y + mark.size * 0.2 };
      }),
    );
    for (const [index, one] of boxes.entries())
      for (const other of boxes.slice(index + 1)) {
        const isApart = one.right <= other.left || other.right <= one.left;
        const isAboveOther = one.bottom <= other.top || other.bottom <= one.top;
        expect(one.page !== other.page || isApart || isAboveOther).toBe(true);
      }
  });

  test.each(Object.keys(KINDS))("numbers its pages, each with the certificate's number: %s", (kind) => {
    const { document, artifacts } = sheetOf(kind, paper);
    const pages = new Set(leavesOf(document).map(({ page }) => page));
    expect([...pages]).toEqual(artifacts.map((_, page) => page));
    for (const [page, marks] of artifacts.entries()) {
      expect(textOf(marks)).toContain(`Page ${page + 1} of ${artifacts.length}`);
      expect(textOf(marks)).toMatch(/Certificate [0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}/);
      expect(marks.some(({ kind: mark }) => mark === "stamp")).toBe(kind === "sandbox");
    }
  });

  test("has the title as its largest text, and a QR code of 34 mm", () => {
    const { document, artifacts } = sheetOf("base-transfer", paper);
    const [title, ...rest] = leavesOf(document);
    const sizes = (marks: readonly Mark[]) => marks.flatMap((mark) => (mark.kind === "text" ? [mark.size] : []));
    const others = [...rest.flatMap(({ marks }) => sizes(marks)), ...sizes(artifacts.flat())];
    expect(Math.max(...others)).toBeLessThan(Math.max(...sizes(title?.marks ?? [])));
    const code = rest.flatMap(({ marks }) => marks).find((mark) => mark.kind === "code");
    expect(((code?.module ?? 0) * ((code?.dark.length ?? 0) + 8) * 25.4) / 72).toBeCloseTo(34);
  });
});

test("a failed transaction's certificate leads with the failure", () => {
  const leaves = leavesOf(sheetOf("base-failed", "a4").document).map(({ marks }) => textOf(marks));
  expect(leaves.slice(0, 3)).toEqual([
    "Certificate of attestation",
    "Failed on Base: nothing moved",
    "Tried: USDC transfer on Base, 25.00 USDC",
  ]);
  expect(leaves[3]).toMatch(/^On 21 November 2026 at 14:03:07 UTC, account ?\w+ ?tried to ?send ?25\.00 ?USDC/);
  expect(leaves.join("\n")).not.toMatch(/[Ss]ucceeded/);
});

test("is made only of a verified bundle", () => {
  const bundle: Bundle = testBundle();
  const history = testHistory();
  const keys = { history, basis: { basis: "file" as const, name: "keys.json", since: 0 } };
  const judged = { report: verify(bundle, { trust: history }), bundle, subject: subjectOf(bundle), keys };
  expect(makingOf(judged, new Date(999), "a4").checkedAt).toBe("1970-01-01T00:00:00Z");
  const report = verify(bundle, { trust: testHistory([]) });
  expect(() => makingOf({ ...judged, report }, new Date(0), "a4")).toThrow(/Only a verified bundle/);
});

test("has a QR code that identifies its bundle and no other", () => {
  const bundle = testBundle();
  const url = pointerUrl("https://attestd.example/", bundle);
  expect(url.length).toBeLessThanOrEqual(128);
  const pointer = parsePointer(new URL(url).hash);
  expect(pointer && isBundleOf(pointer, bundle)).toBe(true);
  expect(pointer && isBundleOf(pointer, testBundle({ round: 2 }))).toBe(false);
  for (const other of ["", "#", "#buy", "#c1.x.y", `${new URL(url).hash}x`])
    expect(parsePointer(other)).toBeUndefined();
});

test("breaks lines at spaces, and a word only where a line is too short for it", () => {
  const run = fc.record({
    text: fc.stringMatching(/^( ?[!-~]{1,30}){1,9} ?$/),
    font: fc.constantFrom("sans" as const, "bold" as const, "mono" as const),
  });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 8 }), (runs) => {
      const lines = wrap(runs, 10, 120);
      const whole = (text: string) => text.replaceAll(" ", "");
      const joined = (parts: readonly { text: string }[]) => parts.map(({ text }) => text).join("");
      expect(whole(lines.map(joined).join(""))).toBe(whole(joined(runs)));
      for (const line of lines) {
        expect(runsWidth(line, 10)).toBeLessThanOrEqual(120);
        expect(joined(line)).toMatch(/^\S(.*\S)?$/);
      }
      // Within a line no space is lost or added.
      for (const line of lines) expect(` ${joined(runs).replace(/ +/g, " ")} `).toContain(joined(line));
    }),
  );
});
