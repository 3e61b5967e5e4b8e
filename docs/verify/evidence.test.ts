import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verify } from "@attestd/proof";
import { SHIPPED_CHECKPOINTS, withEvidence } from "@attestd/proof/evidence";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testHistory } from "../../test/bundles/bundles.ts";
import { fail, open, own, pass, type Result } from "./bundles/evidence.ts";
import { EVIDENCE, FALCON_EVIDENCE } from "./bundles.ts";
import { PROGRAMS, type Program, runAll } from "./programs.ts";

/* What the verifiers of this folder, and the library, say of evidence: in Go by Algorand's own Falcon and sumhash. */

const RECORDED = "recorded 1000 2026-05-28T20:27:01.000Z 599900000000000";
const SOURCE = "source 995 2026-05-28T20:26:46.000Z 599900000000000";

let folder: string;
const write = (name: string, value: object) => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-evidence-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([...EVIDENCE, ...FALCON_EVIDENCE])(
  "the library says what is right: %s",
  (_name, results, items, trusts, of = own) => {
    const trusted = trusts === undefined ? { checkpoints: [of.checkpoint] } : { roots: [trusts] };
    const report = withEvidence(
      verify(of.bundle, { trust: testHistory() }),
      of.bundle,
      JSON.stringify({ ...of.evidence, items }),
      trusted,
    );
    const { failures: _, ...found } = report.evidence ?? { failures: [] };
    expect(Object.values(found)).toEqual(Array.from({ length: 6 }, (_, index) => results[index] ?? open));
    expect(report.verified).toBe(!results.includes(fail));
    expect([report.recordedBy !== undefined, report.sourceRecordedBy !== undefined]).toEqual([
      results[2] === pass,
      results[5] === pass,
    ]);
  },
);

it.each(Object.entries(SHIPPED_CHECKPOINTS))("the checkpoint %s is also a file here", (name, { checkpoint }) => {
  expect(JSON.parse(readFileSync(join(import.meta.dirname, `checkpoints/${name}.json`), "utf8"))).toEqual(checkpoint);
});

describe.each(Object.entries(PROGRAMS))("the verifier in %s", (language, find) => {
  let verifier: Program;
  beforeAll(async () => {
    verifier = await find(folder);
    if ("missing" in verifier) console.warn(`skipped: the verifier in ${language}: ${verifier.missing}`);
  });

  it("says the same of evidence", async ({ skip }) => {
    if ("missing" in verifier) return skip();
    const keys = write("keys.json", testHistory());
    const hasFalcon = language !== "Python";
    const all = [...EVIDENCE, ...(hasFalcon ? FALCON_EVIDENCE : [])];
    const lists = all.map(([, , items, trusts, of = own], index) => {
      const bundleFile = write(`${index}.bundle.json`, of.bundle);
      const evidenceFile = write(`${index}.evidence.json`, { ...of.evidence, items });
      const trusted = trusts ?? write(`${index}.checkpoint.json`, of.checkpoint);
      return ["--evidence", evidenceFile, ...(hasFalcon ? [trusted] : []), bundleFile, keys];
    });
    const { answers } = await runAll(verifier, lists);
    for (const [index, [name, results, , , of = own]] of all.entries()) {
      const { code, stdout } = answers[index] ?? {};
      const [schema, included, proven, signed = open, inBlock = open, ofStake = open] = results;
      const found = (result: Result) => (hasFalcon || result === fail ? result : open);
      const isGood = !results.includes(fail);
      const { alg, authorizer = own.bundle.attestor.algorandAddress } = of.authorisation;
      const lines = stdout?.trim().split("\n") ?? [];
      const schemaLine = lines.findIndex((line) => line.endsWith(" evidence.schema"));
      expect([name, ...lines.slice(schemaLine)]).toEqual([
        name,
        ...[
          `${schema} evidence.schema`,
          `${included} evidence.inclusion`,
          `${found(proven)} evidence.stateProof`,
          `${signed} evidence.authorisation`,
          `${inBlock} evidence.sourceInclusion`,
          `${found(ofStake)} evidence.sourceStateProof`,
        ].map((line) => line.replace("fail", "FAIL")),
        ...(found(proven) === pass ? [RECORDED] : []),
        ...(signed === pass ? [`authorised ${alg} ${authorizer}`] : []),
        ...(found(ofStake) === pass ? [SOURCE] : []),
        isGood ? "verified, stated as recorded on Algorand in round 1000" : "not verified",
      ]);
      expect(code).toBe(isGood ? 0 : 1);
    }
  });
});
