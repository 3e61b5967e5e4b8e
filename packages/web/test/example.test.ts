import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { exampleFile } from "../example.ts";

test("the page's example is the same in every build", () => {
  const script = `import { exampleFile } from ${JSON.stringify(import.meta.resolve("../example.ts"))};
    process.stdout.write(exampleFile());`;
  const built = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(built === exampleFile()).toBe(true);
});
