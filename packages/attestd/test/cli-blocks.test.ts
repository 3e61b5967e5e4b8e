import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "@attestd/proof";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testBaseBlock, testBlockBundle, testHistory, testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import {
  ALGORAND_OFFER,
  BASE_OFFER,
  delivery,
  fakeService,
  paymentRequired,
  problem,
} from "../../client/test/fake-service.ts";

const block = testBlockBundle({ block: testBaseBlock(2) });
const inclusion = testInclusionBundle({ block: testBaseBlock(2), index: 1 });
const { height } = block.block;
const { txnId } = inclusion.source;
const encoded = (bundle: Bundle) => new TextEncoder().encode(JSON.stringify(bundle));
const offered = paymentRequired([ALGORAND_OFFER, BASE_OFFER]);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  const privateKey = generatePrivateKey();
  const payers = { base: { address: privateKeyToAccount(privateKey).address, privateKey } };
  await writeFile(join(folder.path, "wallet.json"), JSON.stringify({ payers }));
  await writeFile(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
});
afterEach(() => folder[Symbol.asyncDispose]());

function run(service: { url: string }, ...args: string[]) {
  const parties = ["--service", service.url, "--wallet", "wallet.json", "--keys", "keys.json"];
  return attestd([...args, ...parties], { cwd: folder.path, env: { XDG_STATE_HOME: join(folder.path, "state") } });
}

describe.each([
  ["attest-block", ["attest-block", "base", String(height)], block, `base-${height}-1000.json`],
  ["prove", ["prove", txnId, String(height)], inclusion, `${txnId.slice(0, 6)}-in-${height}-1000.json`],
] as const)("attestd %s", (_, args, bundle, name) => {
  test("buys a bundle, checks and saves it; attestd verify verifies it", async () => {
    await using service = await fakeService(offered, delivery(encoded(bundle)));
    const { code, stdout, stderr } = await run(service, ...args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      new RegExp(`✓ recorded round 1000 .*\n {2}✓ verified, saved ${name}\n {4}rests on the key list in .*\n$`),
    );
    expect(await readFile(join(folder.path, name))).toEqual(Buffer.from(encoded(bundle)));
    const verified = await attestd(["verify", name, "--keys", "keys.json"], { cwd: folder.path });
    expect(verified.stdout).toContain(`✓ Verified  ${name}`);
    expect(verified.stdout).toContain(`block ${height}`);
    expect(verified.code).toBe(0);
  });

  test("prints why the service refuses", async () => {
    await using service = await fakeService(offered, problem(404, "block_not_found"));
    const { code, stderr } = await run(service, ...args);
    expect(stderr).toContain("attestd: not attested (block_not_found)\n  detail of block_not_found\n");
    expect(code).toBe(6);
  });
});

test.each([
  [["attest-block", "base", "1.5"], "<height> can't be '1.5'. Write the height of a block, a whole number."],
  [["attest-block", "solana", "1"], "<chain> can't be 'solana'. Allowed choices are algorand, base."],
  [["prove", txnId, "latest"], "<height> can't be 'latest'. Write the height of a block, a whole number."],
  [["prove", "0x12", "1"], "0x12 is not a transaction id"],
])("attestd %j is a usage error, and sends no request", async (args, message) => {
  await using service = await fakeService();
  const { code, stderr } = await run(service, ...args);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
  expect(service.requests).toEqual([]);
});
