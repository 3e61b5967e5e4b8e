import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, by the clock: started last, it would keep the run from ending. */
const FIRST = [
  "test/crash/sample.test.ts",
  "packages/service/simulation/simulation.test.ts",
  "test/web/look.test.ts",
  "packages/attestd/test/cli-sandbox.test.ts",
  "test/e2e/facilitators.test.ts",
  "test/web/verify.test.ts",
  "test/e2e/rails.test.ts",
  "test/web/buy.test.ts",
  "test/e2e/published.test.ts",
  "test/e2e/blocks.test.ts",
  "docs/verify/verify.test.ts",
  "test/e2e/raw-requests.test.ts",
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = FIRST.findIndex((file) => moduleId.endsWith(file));
      return found === -1 ? FIRST.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

/** The compiled code of dependencies, for the workers and all that they start. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "attestd-test-cache");

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,simulation}/**/*.test.ts", "docs/**/*.test.ts", "test/**/*.test.ts"],
    // Not threads: one that has started child processes may never end (Node waits for their handles for ever).
    pool: "forks",
    isolate: false,
    // Two more than the cores that CI has: all wait now and then for rounds, blocks and processes.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs is to fail by them: CI's machines differ by a factor of four.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
