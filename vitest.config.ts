import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,simulation,crash}/**/*.test.ts", "docs/**/*.test.ts", "test/**/*.test.ts"],
    // Not threads: one that has started child processes may never end (Node waits for their handles for ever).
    pool: "forks",
    isolate: false,
    // One more than the cores that CI has: some of the time goes by waiting for rounds, blocks and processes.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
