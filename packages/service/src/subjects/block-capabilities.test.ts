import { describe, expect, test } from "vitest";
import type { ChainName } from "../chains/chain.ts";
import { blockCapabilities } from "./block-capabilities.ts";

const sources = (...names: ChainName[]) => new Map(names.map((name) => [name, {}]));

describe("block capabilities", () => {
  test("are those of the chains that are configured", () => {
    expect(Object.keys(blockCapabilities(sources("algorand")).chains)).toEqual(["algorand"]);
    expect(Object.keys(blockCapabilities(sources("algorand", "base")).chains)).toEqual(["algorand", "base"]);
  });

  test("name the level that is asked for", () => {
    expect(blockCapabilities(sources("base")).chains.base?.levels.required).toBe("finalized");
    expect(blockCapabilities(sources("base"), "safe").chains.base?.levels.required).toBe("safe");
    expect(blockCapabilities(sources("algorand"), "safe").chains.algorand?.levels.required).toBe("finalized");
  });

  test("say of each chain, and of all, what a proof does not prove", () => {
    const { chains, doesNotProve } = blockCapabilities(sources("algorand", "base"));
    for (const limits of [doesNotProve, chains.algorand?.doesNotProve, chains.base?.doesNotProve])
      expect(limits?.length).toBeGreaterThan(0);
  });
});
