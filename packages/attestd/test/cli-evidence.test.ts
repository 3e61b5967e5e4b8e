import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBase64 } from "@attestd/proof/encoding";
import {
  checkpointEntry,
  checkpointRoot,
  checkpointTableHead,
  encodeCheckpointTable,
  proveCheckpoint,
} from "@attestd/proof/evidence";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testHistory } from "../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../test/bundles/evidence.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

const { bundle, evidence, inclusion, stateProof, authorisation, checkpoint } = testEvidence();
const { genesisHash, round } = checkpoint;
const table = { genesisHash, firstRound: round, interval: 16, entries: checkpointEntry(checkpoint) };
const { stateProofBase64 = "", ...named } = stateProof;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const files = {
    "b.json": bundle,
    "keys.json": testHistory(),
    "e.json": evidence,
    "by-root.json": {
      ...evidence,
      items: [inclusion, { ...stateProof, path: proveCheckpoint(table, 0) }, authorisation],
    },
    "wrong.json": { ...evidence, items: [{ ...inclusion, index: 0 }] },
    "c.json": checkpoint,
    "published.json": { ...checkpointTableHead(table), last: [checkpoint] },
    "many/b.json": bundle,
    "many/b.evidence.json": { ...evidence, items: [inclusion, named] },
    "many/again/b.json": bundle,
    "many/again/b.evidence.json": { ...evidence, items: [inclusion, named] },
    "many/without.json": bundle,
    "no-checkpoint.json": { ...checkpoint, round: "992" },
  };
  await mkdir(join(folder.path, "many/again"), { recursive: true });
  await mkdir(join(folder.path, "proofs"));
  await writeFile(join(folder.path, `proofs/${stateProof.stateProofSha256}.msgpack`), fromBase64(stateProofBase64));
  await writeFile(join(folder.path, "table"), encodeCheckpointTable(table));
  for (const [name, value] of Object.entries(files)) await writeFile(join(folder.path, name), JSON.stringify(value));
  await writeFile(join(folder.path, "text.json"), "{");
});
afterAll(() => folder[Symbol.asyncDispose]());

const verify = (...args: string[]) =>
  attestd(["verify", "b.json", "--keys", "keys.json", ...args], { cwd: folder.path });

test("verify says which stake recorded a bundle, on a trusted checkpoint", async () => {
  const { code, stdout } = await verify("--evidence", "e.json", "--checkpoint", "c.json");
  expect(stdout).toContain("  recorded on Algorand in round 1000, 2026-05-28 20:27:01 UTC\n");
  expect(stdout).toContain(
    "  stake of more than 599,900,000 ALGO signed for the round; rests on the checkpoint of round 992, in c.json\n",
  );
  expect(stdout).toContain("  its transaction was signed by the ed25519 key of ");
  expect(stdout).toContain("  stake also signed for the block of the source: round 995, 2026-05-28 20:26:46 UTC\n");
  expect(code).toBe(0);
});

const root = checkpointRoot(table);

test.each([
  ["checkpoint", "c.json", "e.json", ["--checkpoint", "c.json"], undefined],
  ["table", "table", "e.json", ["--checkpoint", "table"], undefined],
  ["root", root, "by-root.json", ["--checkpoint", root], root],
  ["published", "published.json", "by-root.json", ["--checkpoint", "published.json"], root],
  ["table", "table", "by-root.json", ["--checkpoint", "mainnet-59999744", "--checkpoint", "table"], undefined],
])("verify says that evidence rests on a %s: %s", async (basis, name, file, args, known) => {
  const { code, stdout } = await verify("--evidence", file, ...args, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    verified: true,
    evidence: { schema: "pass", inclusion: "pass", stateProof: "pass", authorisation: "pass" },
    recordedBy: {
      round: 1000,
      provenWeight: 599_900_000_000_000,
      checkpoint: { round: 992, ...(known && { root: known }) },
    },
    restsOn: { basis, name },
  });
  expect(code).toBe(0);
});

test("verify finds evidence beside the bundles of a folder, and state proofs by their hash", async () => {
  const many = (...more: string[]) =>
    attestd(["verify", "many", "--keys", "keys.json", "--checkpoint", "c.json", "--json", ...more], {
      cwd: folder.path,
    });
  const recorded = ({ stdout }: { stdout: string }) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ evidence }) => evidence?.stateProof === "pass").length;
  const shared = await many("--state-proofs", "proofs");
  expect([recorded(shared), shared.code]).toEqual([2, 0]);
  expect(recorded(await many())).toBe(0);
  await writeFile(join(folder.path, "many/again/b.evidence.json"), "{");
  const broken = await many("--state-proofs", "proofs");
  expect([recorded(broken), broken.code]).toEqual([1, 3]);
  expect(broken.stdout).toContain("b.evidence.json is no evidence. Not JSON");
});

test("verify without a checkpoint leaves the record the attestor's word", async () => {
  const { code, stdout } = await verify("--evidence", "e.json");
  expect(stdout).toContain("  stated as recorded on Algorand in round 1000\n");
  expect(stdout).toContain("no state proof on a trusted --checkpoint\n");
  expect(code).toBe(0);
});

test("verify fails a bundle that its evidence contradicts", async () => {
  const { code, stdout } = await verify("--evidence", "wrong.json", "--checkpoint", "c.json");
  expect(stdout).toContain("Not verified");
  expect(stdout).toContain("  evidence  /items/0/siblings does not lead to the header's txn256\n");
  expect(code).toBe(1);
});

test.each([
  ["a checkpoint alone", ["--checkpoint", "c.json"], 3, "can't read b.evidence.json"],
  ["several bundles", ["keys.json", "--evidence", "e.json"], 2, "evidence beside each bundle is checked"],
  ["no such evidence", ["--evidence", "none.json"], 3, "There is no such file."],
  ["evidence that is no JSON", ["--evidence", "text.json"], 3, "text.json is no evidence"],
  ["no such checkpoint", ["--evidence", "e.json", "--checkpoint", "none.json"], 3, "mainnet-59999744"],
  ["another thing as a checkpoint", ["--evidence", "e.json", "--checkpoint", "no-checkpoint.json"], 3, "/round"],
])("verify says what is wrong with %s", async (_, args, code, said) => {
  const ended = await verify(...args);
  expect(ended.stderr).toContain(said);
  expect(ended.code).toBe(code);
});

test("a certificate carries the evidence beside its bundle, and is verified by it", async () => {
  const run = (...args: string[]) => attestd([...args, "--keys", "keys.json"], { cwd: folder.path });
  for (const format of ["pdf", "svg"]) {
    const made = await run("certificate", "b.json", "--evidence", "e.json", "--out", `with.${format}`);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const { code, stdout } = await run("verify", `with.${format}`, "--checkpoint", "c.json", "--json");
    expect(code).toBe(0);
    const whole = { inclusion: "pass", stateProof: "pass", authorisation: "pass" };
    expect(JSON.parse(stdout)).toMatchObject({ verified: true, evidence: whole, certificate: { words: "pass" } });
    // Another one carries what stands beside its bundle.
    await run("certificate", "many/b.json", "--out", `beside.${format}`);
    expect(await readFile(join(folder.path, `beside.${format}`), "latin1")).toContain("attestd.evidence/1");
  }
  const wrong = await run("certificate", "b.json", "--evidence", "wrong.json", "--out", "wrong.pdf");
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^attestd: no certificate: not verified/) });
});

test("evidence in a certificate that contradicts it fails it without being asked for", async () => {
  const run = (...args: string[]) => attestd([...args, "--keys", "keys.json"], { cwd: folder.path });
  await run("certificate", "b.json", "--evidence", "e.json", "--out", "good.svg");
  const svg = await readFile(join(folder.path, "good.svg"), "utf8");
  const index = `&quot;index&quot;:${inclusion.index}`;
  expect(svg).toContain(index);
  await writeFile(join(folder.path, "forged.svg"), svg.replace(index, `&quot;index&quot;:${inclusion.index + 1}`));
  const { code, stdout } = await run("verify", "forged.svg");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✕ Not verified {2}forged\.svg\n {2}evidence /);
});

test("a bundle that was saved as UTF-16 is named as that", async () => {
  await writeFile(join(folder.path, "utf16.json"), `\ufeff${JSON.stringify(bundle)}`, "utf16le");
  const { code, stderr } = await attestd(["evidence", "utf16.json", "--algod", "http://127.0.0.1:1"], {
    cwd: folder.path,
  });
  expect(stderr).toMatch(/^attestd: utf16\.json is not a bundle\n {2}Not JSON: it is text in UTF-16/);
  expect(code).toBe(3);
});
