import { describe, expect, test } from "vitest";
import { chainOf } from "../../test/fakes/source-chain.ts";
import { AlgorandSource } from "../chains/algorand/source.ts";
import type { ConfirmationLevel } from "../chains/chain.ts";
import { blockCapabilities } from "./block-capabilities.ts";

const sources = (names: string[], required: ConfirmationLevel = "finalized") =>
  new Map(names.map((name) => [name, chainOf([], [], { required })]));

describe("block capabilities", () => {
  test("are those of the chains that are configured", () => {
    expect(Object.keys(blockCapabilities(sources(["algorand"])).chains)).toEqual(["algorand"]);
    expect(Object.keys(blockCapabilities(sources(["algorand", "base"])).chains)).toEqual(["algorand", "base"]);
  });

  test("name the level that is asked for", () => {
    expect(blockCapabilities(sources(["base"])).chains.base?.levels.required).toBe("finalized");
    expect(blockCapabilities(sources(["base"], "safe")).chains.base?.levels.required).toBe("safe");
    const algorand = new AlgorandSource({ nodes: { algods: [], indexers: [], rules: { onConflict() {} } }, caip2: "" });
    expect(blockCapabilities(new Map([["algorand", algorand]])).chains.algorand?.levels.required).toBe("finalized");
  });

  test("say of each chain, and of all, what a proof does not prove", () => {
    const { chains, doesNotProve } = blockCapabilities(sources(["algorand", "base"]));
    for (const limits of [doesNotProve, chains.algorand?.doesNotProve, chains.base?.doesNotProve])
      expect(limits?.length).toBeGreaterThan(0);
  });
});
