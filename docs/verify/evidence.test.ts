import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verify } from "@attestd/proof";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import {
  checkpointEntry,
  checkpointRoot,
  proveCheckpoint,
  SHIPPED_CHECKPOINTS,
  withEvidence,
} from "@attestd/proof/evidence";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flip } from "../../packages/proof/test/flips.ts";
import { testHistory } from "../../test/bundles/bundles.ts";
import { type TestEvidence, testEvidence } from "../../test/bundles/evidence.ts";
import { PROGRAMS, type Program, run } from "./programs.ts";

/* What the verifiers of this folder, and the library, say of evidence: in Go by Algorand's own Falcon and sumhash. */

const own = testEvidence();
const { bundle, evidence, inclusion, stateProof, authorisation, checkpoint } = own;
const rekeyed = testEvidence(undefined, undefined, "rekeyed");
const forged = testEvidence(undefined, undefined, "nobody");
const other = { ...checkpoint, lnProvenWeight: 7 };
const table = {
  genesisHash: checkpoint.genesisHash,
  firstRound: checkpoint.round - 2 * 16,
  interval: 16,
  entries: Buffer.concat([other, other, checkpoint, other, other].map(checkpointEntry)),
};
const root = checkpointRoot(table);
const path = proveCheckpoint(table, 2);
const proof = fromBase64(stateProof.stateProofBase64 ?? "");
const { stateProofBase64: _, ...named } = stateProof;
const changed = (base64: string, bit: number) => toBase64(flip(fromBase64(base64), bit));
const first = changed(stateProof.siblings[0] ?? "", 3);
const { message } = stateProof;

type Result = "pass" | "fail" | "not_checked";
const [pass, fail, open] = ["pass", "fail", "not_checked"] as const;
type Case = [
  name: string,
  results: [schema: Result, inclusion: Result, stateProof: Result, authorisation?: Result],
  items: unknown[],
  trusts?: string | undefined,
  of?: TestEvidence,
];

/** By hand from docs/format.md. */
const CASES: Case[] = [
  ["both items, on a checkpoint that is trusted", [pass, pass, pass], [inclusion, stateProof]],
  ["all items, on a checkpoint that is trusted", [pass, pass, pass, pass], evidence.items],
  ["an account's signature, without the stake's", [pass, pass, open, pass], [inclusion, authorisation]],
  ["an authorisation alone", [pass, open, open, open], [authorisation]],
  ["another algorithm", [pass, pass, open, fail], [inclusion, { ...authorisation, alg: "falcon-1024" }]],
  [
    "an authorizer that the block does not name",
    [pass, pass, open, fail],
    [inclusion, { ...authorisation, authorizer: bundle.attestor.algorandAddress }],
  ],
  ["an unknown algorithm", [fail, open, open], [inclusion, { ...authorisation, alg: "falcon-512" }]],
  [
    "an authorizer that is no address",
    [fail, open, open],
    [inclusion, { ...authorisation, authorizer: "A".repeat(58) }],
  ],
  [
    "a signature that is nobody's",
    [pass, pass, open, fail],
    [forged.inclusion, forged.authorisation],
    undefined,
    forged,
  ],
  [
    "a rekeyed account, without the stake's word for that",
    [pass, pass, open, open],
    [rekeyed.inclusion, rekeyed.authorisation],
    undefined,
    rekeyed,
  ],
  [
    "a rekeyed account, the authorizer left out",
    [pass, pass, open, fail],
    [rekeyed.inclusion, { type: rekeyed.authorisation.type, alg: "falcon-1024" }],
    undefined,
    rekeyed,
  ],
  ["the order of items does not matter", [pass, pass, pass], [stateProof, { type: "later/1", x: 1 }, inclusion]],
  ["a path to a trusted root", [pass, pass, pass], [inclusion, { ...stateProof, path }], root],
  ["a path to another root", [pass, pass, open], [inclusion, { ...stateProof, path: { ...path, index: 1 } }], root],
  [
    "a path with a hash too many",
    [pass, pass, open],
    [inclusion, { ...stateProof, path: { ...path, hashes: [...path.hashes, path.hashes[0]] } }],
    root,
  ],
  ["no path to the root", [pass, pass, open], [inclusion, stateProof], root],
  ["a state proof that is elsewhere", [pass, pass, open], [inclusion, named]],
  ["nothing", [pass, open, open], []],
  ["an unknown item alone", [pass, open, open], [{ type: "algorand-inclusion/2" }]],
  ["a state proof alone", [pass, open, open], [stateProof]],
  ["an item twice", [fail, open, open], [inclusion, inclusion]],
  ["an item without a type", [fail, open, open], [inclusion, {}]],
  ["a member more", [fail, open, open], [{ ...inclusion, more: 1 }]],
  ["a path out of its table", [fail, open, open], [{ ...stateProof, path: { ...path, index: 5 } }]],
  ["another place", [pass, fail, open], [{ ...inclusion, index: 0 }, stateProof]],
  [
    "another header",
    [pass, fail, open],
    [{ ...inclusion, headerBase64: changed(inclusion.headerBase64, 99) }, stateProof],
  ],
  [
    "another transaction",
    [pass, fail, open],
    [{ ...inclusion, txnBytesBase64: changed(inclusion.txnBytesBase64, 900) }, stateProof],
  ],
  [
    "another way to the commitment",
    [pass, pass, fail],
    [inclusion, { ...stateProof, siblings: stateProof.siblings.with(0, first) }],
  ],
  ["one level too few", [pass, pass, fail], [inclusion, { ...stateProof, siblings: stateProof.siblings.slice(1) }]],
  [
    "another network's checkpoint",
    [pass, pass, fail],
    [inclusion, { ...stateProof, checkpoint: { ...checkpoint, genesisHash: toBase64(new Uint8Array(32)) } }],
  ],
  [
    "rounds after the header's",
    [pass, pass, fail],
    [inclusion, { ...stateProof, message: { ...message, firstAttestedRound: 1009, lastAttestedRound: 1024 } }],
  ],
  [
    "a hash that is not the state proof's",
    [pass, pass, fail],
    [inclusion, { ...stateProof, stateProofSha256: "00".repeat(32) }],
  ],
  [
    "a checkpoint of another weight, on which one participant proves it too",
    [pass, pass, open],
    [inclusion, { ...stateProof, checkpoint: { ...checkpoint, lnProvenWeight: checkpoint.lnProvenWeight + 1 } }],
  ],
];
/** What Python cannot check, having no Falcon. */
const FALCON: Case[] = [
  ["a rekeyed account of Falcon-1024", [pass, pass, pass, pass], rekeyed.evidence.items, undefined, rekeyed],
  [
    "a message of another weight",
    [pass, pass, fail],
    [inclusion, { ...stateProof, message: { ...message, lnProvenWeight: 7 } }],
  ],
  ...[4000, 20_000].map((bit): Case => {
    const bytes = flip(proof, bit);
    const stateProofSha256 = createHash("sha256").update(bytes).digest("hex");
    const item = { ...stateProof, stateProofSha256, stateProofBase64: toBase64(bytes) };
    return [`bit ${bit} of the state proof`, [pass, pass, fail], [inclusion, item]];
  }),
];

const RECORDED = "recorded 1000 2026-05-28T20:27:01.000Z 599900000000000";

let folder: string;
const write = (name: string, value: object) => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-evidence-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([...CASES, ...FALCON])("the library says what is right: %s", (_name, results, items, trusts, of = own) => {
  const trusted = trusts === undefined ? { checkpoints: [of.checkpoint] } : { roots: [trusts] };
  const report = withEvidence(
    verify(of.bundle, { trust: testHistory() }),
    of.bundle,
    { ...of.evidence, items },
    trusted,
  );
  const { schema, inclusion: included, stateProof: proven, authorisation: signed } = report.evidence ?? {};
  expect([schema, included, proven, signed]).toEqual([...results.slice(0, 3), results[3] ?? open]);
  expect(report.verified).toBe(!results.includes(fail));
  expect(report.recordedBy !== undefined).toBe(results[2] === pass);
});

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
    const { command, args } = verifier;
    const keys = write("keys.json", testHistory());
    const hasFalcon = language !== "Python";
    // Node and Python take longer to start than to verify: they get every fifth.
    const all = [...CASES, ...(hasFalcon ? FALCON : [])];
    for (const [index, [name, results, items, trusts, of = own]] of all.entries()) {
      if (language !== "Go" && index % 5 !== 0) continue;
      const [schema, included, proven, signed = open] = results;
      const files = [write("bundle.json", of.bundle), keys];
      const checkpointFile = write("checkpoint.json", of.checkpoint);
      const file = write("evidence.json", { ...of.evidence, items });
      const ofStake = hasFalcon ? [trusts ?? checkpointFile] : [];
      const { code, stdout } = await run(command, [...args, "--evidence", file, ...ofStake, ...files]);
      const found = hasFalcon || proven === fail ? proven : open;
      const isGood = !results.includes(fail);
      const { alg, authorizer = of.bundle.attestor.algorandAddress } = of.authorisation;
      expect([name, ...stdout.trim().split("\n").slice(9)]).toEqual([
        name,
        ...[
          `${schema} evidence.schema`,
          `${included} evidence.inclusion`,
          `${found} evidence.stateProof`,
          `${signed} evidence.authorisation`,
        ].map((line) => line.replace("fail", "FAIL")),
        ...(found === pass ? [RECORDED] : []),
        ...(signed === pass ? [`authorised ${alg} ${authorizer}`] : []),
        isGood ? "verified, stated as recorded on Algorand in round 1000" : "not verified",
      ]);
      expect(code).toBe(isGood ? 0 : 1);
    }
  });
});
