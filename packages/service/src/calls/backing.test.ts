import { beforeEach, describe, expect, test } from "vitest";
import { taken } from "../../test/fakes/taken.ts";
import type { Payment, Rail } from "../payment/rails/rail.ts";
import { createBacking } from "./backing.ts";

const PRICE = 1_000n;
const signal = AbortSignal.timeout(10_000);

describe("backing", () => {
  let open: bigint;
  let held: bigint;
  /** Happens between the journal's answer and the chain's. */
  let meanwhile: () => void;
  let backing: ReturnType<typeof createBacking>;
  beforeEach(() => {
    open = 0n;
    held = 3n * PRICE;
    meanwhile = () => undefined;
    backing = createBacking({ exposure: async () => open });
  });
  const rail = (name: Rail["name"] = "base") => {
    const balance = async () => {
      meanwhile();
      return held;
    };
    return { name, balance } as unknown as Rail;
  };
  const promise = async (key: string, payer = "PAYER", on = rail()) =>
    taken(await backing.promise(on, { key, payer, amount: PRICE } as Payment, signal));
  const putOff = { code: "over_capacity", retryAfter: 5, members: { retry: { sameHeader: true } } };

  test("takes as many promises as the balance covers, of all that come at once", async () => {
    const keys = Array.from({ length: 50 }, (_, n) => `key ${n}`);
    const settled = await Promise.allSettled(keys.map((key) => promise(key)));
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(settled.at(-1)).toMatchObject({ status: "rejected", reason: putOff });
  });

  test("counts what the journal has open, and lets go of what is in it or refused", async () => {
    open = 2n * PRICE;
    const release = await promise("one");
    await expect(promise("two")).rejects.toMatchObject(putOff);
    release();
    (await promise("two"))();
    (await promise("three"))();
  });

  test("misses no promise that is committed while the journal and the chain are read", async () => {
    held = PRICE;
    const release = await promise("first");
    meanwhile = () => {
      // The journal has said that nothing is open, and now the first is in it.
      meanwhile = () => undefined;
      open = PRICE;
      release();
    };
    await expect(promise("second")).rejects.toMatchObject(putOff);
  });

  test("counts one payment once, however many requests bring it", async () => {
    held = PRICE;
    const [one, two] = await Promise.all([promise("same"), promise("same")]);
    one();
    await expect(promise("other")).rejects.toMatchObject(putOff);
    two();
    (await promise("other"))();
  });

  test("counts each payer and each rail by itself", async () => {
    held = PRICE;
    await Promise.all([promise("one"), promise("two", "ANOTHER"), promise("three", "PAYER", rail("solana"))]);
  });

  test("forgets a promise whose backing could not be read", async () => {
    held = PRICE;
    meanwhile = () => {
      throw new Error("no node answers");
    };
    await expect(promise("one")).rejects.toThrow("no node answers");
    meanwhile = () => undefined;
    await promise("two");
  });
});
