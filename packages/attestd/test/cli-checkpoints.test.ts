import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { checkpointAt, checkpointRoot, decodeCheckpointTable } from "@attestd/proof/evidence";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attestd, start } from "../../../test/helpers/command.ts";
import { answerOf, checkpointsOf, type Mischief, startStateProofNode } from "../../../test/helpers/state-proof-node.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { flip } from "../../proof/test/flips.ts";
import { mainnetProofs, privateProofs } from "../../proof/test/state-proofs.ts";

/* Walks over state proofs that go-algorand made: MainNet's, and a private network's. */

describe("attestd checkpoints", () => {
  const proofs = privateProofs();
  const expected = checkpointsOf(proofs);
  let node: Awaited<ReturnType<typeof startStateProofNode>>;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    node = await startStateProofNode(proofs);
    writeFileSync(join(folder.path, "c.json"), JSON.stringify(expected[0]));
  });
  afterEach(async () => {
    await node.close();
    await folder[Symbol.asyncDispose]();
  });
  const run = (...args: string[]) => attestd(["checkpoints", ...args], { cwd: folder.path });
  const arguments_ = () => ["sync", "t", "--algod", node.url];
  const sync = (...more: string[]) => run(...arguments_(), ...more);
  /** The checkpoints of the table's file; none where there is no file. */
  const written = () => {
    if (!readdirSync(folder.path).includes("t")) return [];
    const table = decodeCheckpointTable(readFileSync(join(folder.path, "t")));
    return expected.slice(0, table.entries.length / 72).map((_, index) => checkpointAt(table, index));
  };

  it("walk from a checkpoint to the newest, show what they have, and continue", async () => {
    node.last = 64;
    const first = await sync("--from", "c.json");
    expect(first.stdout).toContain("t: 3 state proofs verified, to round 64");
    expect(written()).toEqual(expected.slice(0, 4));
    node.last = 112;
    node.asked = 0;
    const { stdout, code } = await sync("--json");
    const head = JSON.parse(stdout);
    expect(head).toMatchObject({ verified: 3, size: 7, interval: 16, firstRound: 16, last: expected[6] });
    expect([code, node.asked, written()]).toEqual([0, 3, expected]);

    const rootOf = async (...args: string[]) => JSON.parse((await run("show", "t", "--json", ...args)).stdout).root;
    expect(await rootOf()).toBe(head.root);
    expect(await rootOf("--size", "4")).toBe(first.stdout.match(/root (\w+)/)?.[1]);
    expect((await run("show", "t")).stdout).toContain("7 checkpoints, rounds 16 to 112, one every 16");
    expect((await sync()).stdout).toContain("t is up to date");
    expect((await sync("--from", "c.json")).stderr).toContain("t is there already");
    expect((await run("show", "t", "--size", "8")).stderr).toContain("--size is 1 to 7");
  });

  it("end where they are told to, and write nothing where nothing follows", async () => {
    expect((await sync("--from", "c.json", "--to", "33")).stdout).toContain("to round 48");
    node.last = 20;
    const other = await run("sync", "u", "--algod", node.url, "--from", "c.json");
    expect([other.code, readdirSync(folder.path)]).toEqual([0, ["c.json", "t"]]);
    expect((await run("sync", "u", "--algod", node.url)).stderr).toContain("mainnet-59999744");
  });

  it.each<[string, Mischief, string]>([
    [
      "another bit in a state proof",
      (response, proven) => node.json(response, answerOf({ ...proven, stateProof: flip(proven.stateProof, 9_000) })),
      "that does not verify",
    ],
    [
      "other voters",
      (response, proven) => {
        const votersCommitment = toBase64(flip(fromBase64(proven.message.votersCommitment), 7));
        node.json(response, answerOf({ ...proven, message: { ...proven.message, votersCommitment } }));
      },
      "that does not verify",
    ],
  ])("keep what was verified when a node gives %s", async (_, mischief, said) => {
    node.mischief.set(80, mischief);
    const ended = await sync("--from", "c.json");
    expect(ended.stderr).toContain(said);
    expect(ended.stderr).toContain("Verified up to round 64.");
    expect([ended.code, written()]).toEqual([1, expected.slice(0, 4)]);
    node.mischief.clear();
    expect((await sync()).stdout).toContain("3 state proofs verified, to round 112");
  });

  it("take no node of another network, and no table that was changed", async () => {
    node.genesisHash = toBase64(new Uint8Array(32));
    expect((await sync("--from", "c.json")).stderr).toContain("is on the network of genesis");
    node.genesisHash = expected[0]?.genesisHash;
    await sync("--from", "c.json");
    const file = join(folder.path, "t");
    const bytes = readFileSync(file);
    for (const wrong of [
      flip(bytes, bytes.length * 4),
      flip(bytes, 8 * bytes.length - 9),
      bytes.subarray(0, -72),
      bytes.subarray(0, -1),
    ]) {
      writeFileSync(file, wrong);
      expect((await sync()).stderr).toContain("t is not a table of checkpoints");
      expect(readFileSync(file)).toEqual(Buffer.from(wrong));
    }
  });

  it("are whole whenever the process is killed, and go on from there", async () => {
    let size = 0;
    for (const round of [48, 96]) {
      const reached = Promise.withResolvers<void>();
      // The node never answers for these rounds. What came before is written meanwhile.
      node.mischief.set(round, () => reached.resolve());
      const from = size === 0 ? ["--from", "c.json"] : [];
      const child = start(["checkpoints", ...arguments_(), ...from], { cwd: folder.path });
      await reached.promise;
      await expect.poll(() => written().length, { interval: 5, timeout: 20_000 }).toBeGreaterThan(size);
      child.kill("SIGKILL");
      await child.ended;
      node.mischief.clear();
      const now = written();
      expect(now).toEqual(expected.slice(0, now.length));
      size = now.length;
    }
    writeFileSync(join(folder.path, "t.0123456789ab"), "half");
    await sync();
    expect([written(), readdirSync(folder.path)]).toEqual([expected, ["c.json", "t"]]);
  });

  const pair = mainnetProofs("a walk over state proofs of MainNet");
  it.skipIf(!pair)("walk MainNet's recorded pair from the checkpoint that comes with attestd", async () => {
    if (pair === undefined) return;
    const mainnet = await startStateProofNode(pair);
    const { stdout } = await run("sync", "m", "--algod", mainnet.url, "--from", "mainnet-59999744", "--json");
    await mainnet.close();
    const table = decodeCheckpointTable(readFileSync(join(folder.path, "m")));
    expect([0, 1, 2].map((index) => checkpointAt(table, index))).toEqual(checkpointsOf(pair));
    expect(JSON.parse(stdout)).toMatchObject({ verified: 2, size: 3, interval: 256, root: checkpointRoot(table) });
    expect((await run("show")).stdout).toContain("round 59999744, from a recording by others");
  });
});
