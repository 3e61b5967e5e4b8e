import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SERVICE = fileURLToPath(new URL("../../packages/service/src/service.ts", import.meta.url));

test("a service that starts loads nothing that makes Falcon's tables, which take 15 ms", () => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(SERVICE)});
    console.log(JSON.stringify(loaded));`;
  const run = ["--input-type=module", "--eval", program];
  const loaded: string[] = JSON.parse(execFileSync(process.execPath, run, { encoding: "utf8" }));
  expect(loaded).toContainEqual(expect.stringContaining("post-quantum/ml-dsa.js"));
  expect(loaded.filter((url) => url.includes("post-quantum/falcon"))).toEqual([]);
});
