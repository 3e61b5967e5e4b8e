import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { keccak256 } from "viem";
import { serializeTransaction } from "viem/op-stack";
import { expect, test } from "vitest";
import { jsonRpcClient } from "../jsonrpc.ts";
import { startAnvil } from "./anvil.ts";

const OPTIONS = { blockMs: 1000, firstBlock: 1 };
const answers = (url: string) =>
  jsonRpcClient(url)("eth_chainId", []).then(
    () => true,
    () => false,
  );

test("has ended when close() returns, without a reason", async () => {
  const anvil = await startAnvil(OPTIONS);
  expect(await answers(anvil.url)).toBe(true);
  await anvil.close();
  expect(await answers(anvil.url)).toBe(false);
  expect(await anvil.exited).toBeUndefined();
  await anvil.close();
});

test("resolves `exited` with the reason when it aborts, as it does on a request for a deposit's bytes", async () => {
  const anvil = await startAnvil(OPTIONS);
  const call = jsonRpcClient(anvil.url);
  const from = "0x1111111111111111111111111111111111111111";
  const deposit = serializeTransaction({ type: "deposit", sourceHash: keccak256("0x01"), from, gas: 50_000n });
  const hash = await call("eth_sendRawTransaction", [deposit]);
  await call("evm_mine", []);
  await expect(call("eth_getRawTransactionByHash", [hash])).rejects.toThrow();
  expect(await anvil.exited).toMatch(/^anvil ended with status \d+: .*unknown transaction type 0x7e/s);
  await anvil.close();
});

test("is killed when its sandbox is killed", async () => {
  const script = `
    const { startAnvil } = await import(${JSON.stringify(new URL("./anvil.ts", import.meta.url).href)});
    console.log((await startAnvil(${JSON.stringify(OPTIONS)})).url);`;
  const sandbox = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface({ input: sandbox.stdout }), "line")) as [string];
  expect(await answers(url)).toBe(true);
  sandbox.kill("SIGKILL");
  await expect.poll(() => answers(url), { timeout: 30_000 }).toBe(false);
});
