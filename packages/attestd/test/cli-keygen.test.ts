import { createPrivateKey, createPublicKey } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { keyId } from "@attestd/proof/attestor";
import algosdk from "algosdk";
import { expect, test } from "vitest";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";

test("keygen makes an attestor's keys, in files that only the owner can read, and prints the next steps", async () => {
  await using folder = await temporaryFolder();
  const { code, stdout } = await attestd(["keygen", "--dir", "keys"], { cwd: folder.path });
  expect(code).toBe(0);

  const mnemonicFile = join(folder.path, "keys", "attestor.mnemonic");
  const seedFile = join(folder.path, "keys", "attestor.pq-seed");
  for (const path of [mnemonicFile, seedFile]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  const [mnemonic, seed] = await Promise.all([mnemonicFile, seedFile].map((path) => readFile(path, "utf8")));
  expect(stdout).toContain(algosdk.mnemonicToSecretKey(mnemonic?.trim() ?? "").addr.toString());
  expect(seed).toMatch(/^[0-9a-f]{64}\n$/);
  const key = Buffer.from(seed?.trim() ?? "", "hex");
  const privateKey = createPrivateKey({ key, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
  expect(stdout).toContain(keyId(createPublicKey(privateKey).export({ format: "raw-public" })));
  expect(stdout).toContain(`mnemonic = "file:${mnemonicFile}"\n`);
  expect(stdout).toContain(`pq_seed = "file:${seedFile}"\n`);
  expect(stdout).not.toContain(seed?.trim());
  expect(stdout).not.toContain(mnemonic?.trim());
});

test("keygen does not replace a key", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "attestor.pq-seed"), "precious");
  const result = await attestd(["keygen"], { cwd: folder.path });
  expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/is there already.*\n.*--dir/) });
  expect(await readFile(join(folder.path, "attestor.pq-seed"), "utf8")).toBe("precious");
  expect(await readdir(folder.path)).toEqual(["attestor.pq-seed"]);
});

test("keygen --json prints what it made, and no secret", async () => {
  await using folder = await temporaryFolder();
  const { stdout } = await attestd(["keygen", "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout)).toEqual({
    algorandAddress: expect.stringMatching(/^[A-Z2-7]{58}$/),
    kid: expect.stringMatching(/^[\w-]{43}$/),
    settings: {
      "attestor.mnemonic": `file:${join(folder.path, "attestor.mnemonic")}`,
      "attestor.pq_seed": `file:${join(folder.path, "attestor.pq-seed")}`,
    },
  });
});
