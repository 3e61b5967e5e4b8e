import { tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * `npm run test:long`: tests that run other programs (browsers, compilers, package managers, services that are killed), and
 * those of many cases, faults, rounds or bytes. These few files take longer than all others, which are `npm test`.
 */
const LONG = [
  "docs/verify/**/*.test.ts",
  "packages/attestd/test/cli-{checkpoints,sandbox}.test.ts",
  "packages/proof/src/one-bit.test.ts",
  "packages/sandbox/src/base/token.test.ts",
  "packages/service/simulation/*.test.ts",
  "test/{alerts,bench,crash,drills,web}/*.test.ts",
  "test/e2e/{audit,blacklist,documents-client,evidence,fuzz,kms,megabytes,published,strangers}.test.ts",
  "test/e2e/{clock,facilitators,facilitator-failover,failover,falcon,keys-replicas}.test.ts",
];

/** `npm run test:rows`: the largest batches that are sold, and services with a heap of 256 MiB on journals of them. It takes minutes. */
const ROWS = ["test/crash/large-rows.test.ts", "test/e2e/largest-batch.test.ts"];

/** What takes longest, by the clock: started last, it would keep the run from ending. */
const FIRST = [
  "test/crash/sample.test.ts",
  "packages/service/simulation/simulation.test.ts",
  "test/web/look.test.ts",
  "packages/attestd/test/cli-sandbox.test.ts",
  "test/web/verify.test.ts",
  "test/web/buy.test.ts",
  "test/drills/drills.test.ts",
  "docs/verify/verify.test.ts",
  "test/e2e/published.test.ts",
  "test/e2e/facilitators.test.ts",
  "test/e2e/rails.test.ts",
  "test/e2e/blocks.test.ts",
  "packages/service/src/journal/postgres/journal.test.ts",
];

/** After the slowest, files that wait for rounds and processes are spread between those that compute. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => FIRST.findIndex((file) => moduleId.endsWith(file));
    const kindOf = (file: TestSpecification) => {
      if (place(file) >= 0) return "first";
      return file.moduleId.includes("/test/") ? "waiting" : "computing";
    };
    const { first = [], waiting = [], computing = [] } = Object.groupBy(await super.sort(files), kindOf);
    return [...first.toSorted((one, other) => place(one) - place(other)), ...spread(waiting, computing)];
  }
}

/** Both lists in one, each in its order and at its own even pace. */
function spread<T>(...lists: T[][]): T[] {
  const placed = lists.flatMap((list) => list.map((one, index) => ({ one, at: index / list.length })));
  return placed.toSorted((one, other) => one.at - other.at).map(({ one }) => one);
}

/** The compiled code of dependencies, for the workers and all that they start. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "attestd-test-cache");

export default defineConfig({
  test: {
    // Not threads: one that has started child processes may never end (Node waits for their handles for ever).
    pool: "forks",
    isolate: false,
    setupFiles: ["test/helpers/setup.ts"],
    // Four more than the cores that CI has: with four, a third of their time was idle, for rounds, blocks and processes.
    maxWorkers: 6,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs is to fail by them: CI's machines differ by a factor of four.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: "short",
          include: ["packages/*/{src,test,simulation}/**/*.test.ts", "docs/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...LONG, ...ROWS],
        },
      },
      { extends: true, test: { name: "long", include: LONG, exclude: [...configDefaults.exclude, ...ROWS] } },
      { extends: true, test: { name: "rows", include: ROWS } },
    ],
  },
});
