import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They wait for time-outs, or run on every core: started last, they would keep the run from ending. */
const FIRST = ["test/crash/sample.test.ts", "packages/service/simulation/simulation.test.ts"];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFirst = ({ moduleId }: TestSpecification) => FIRST.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,simulation}/**/*.test.ts", "docs/**/*.test.ts", "test/**/*.test.ts"],
    // Not threads: one that has started child processes may never end (Node waits for their handles for ever).
    pool: "forks",
    isolate: false,
    // One more than the cores that CI has: some of the time goes by waiting for rounds, blocks and processes.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
