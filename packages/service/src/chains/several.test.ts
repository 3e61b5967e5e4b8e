import { expect, it } from "vitest";
import { readSingly } from "../../test/fakes/read-singly.ts";
import { chainOf } from "../../test/fakes/source-chain.ts";
import type { SourceTransaction } from "./chain.ts";
import { MAX_SOURCE_BYTES } from "./several.ts";

const never = new AbortController().signal;
const transactionOf = (txnId: string, length: number): SourceTransaction => ({
  ...{ chain: "base", caip2: "eip155:8453", txnId, bytes: new Uint8Array(length), level: "safe" },
  block: { hash: "0x0", height: 1, time: 1 },
});

it("takes transactions up to the bound of bytes, and names the largest of those beyond it", async () => {
  const third = Math.floor(MAX_SOURCE_BYTES / 3);
  const sizes = { a: third, b: third, c: MAX_SOURCE_BYTES - 2 * third, d: 1 };
  const chain = chainOf(
    [],
    Object.entries(sizes).map(([id, length]) => transactionOf(id, length)),
  );
  const fitting = await readSingly(chain, ["a", "b", "c", "none"], never);
  expect([...fitting.keys()].toSorted()).toEqual(["a", "b", "c", "none"]);
  expect(fitting.get("none")).toMatchObject({ code: "source_not_found" });
  await expect(readSingly(chain, ["a", "b", "c", "d"], never)).rejects.toMatchObject({
    code: "sources_too_large",
    details: { txnIds: ["c", "a", "b", "d"] },
  });
});
