import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/{src,test,simulation,crash}/**/*.test.ts", "docs/**/*.test.ts", "test/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
