import { defineConfig } from "vitest/config";

/** The sample of the crash and fault tests, a minute of real processes: npm run test:crash:sample. */
export default defineConfig({
  test: { include: ["packages/attestd/crash/sample.ts"], pool: "forks", testTimeout: 60_000, hookTimeout: 180_000 },
});
