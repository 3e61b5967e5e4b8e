import { expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createNetworks } from "./networks.ts";

const PARAMETERS = { blockhash: "4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn", lastValidBlockHeight: 9 };

/** Makes one rail with a fake node, and a clock that the test sets. */
function networks() {
  const state = { now: 1_000, asked: 0 };
  const wallets = {
    async now() {
      state.asked += 1;
      return PARAMETERS;
    },
    isAddress: (text: string) => text === "known" || text === "poor",
    holding: async (address: string) => (address === "poor" ? undefined : 18_446_744_073_709_551_615n),
  };
  const rail = { network: "solana:1", wallets };
  const { parameters, balance } = createNetworks({
    rails: [{ rail }, { rail: { network: "eip155:8453" } }] as never,
    clock: { ...systemClock, now: () => state.now },
    deadlineMs: 1,
  });
  return { state, parameters, balance };
}

test("all callers share one answer about a network, for two seconds and not for longer", async () => {
  const { state, parameters } = networks();
  const answers = await Promise.all([1, 2, 3].map(() => parameters("solana:1")));
  expect(answers).toEqual(answers.map(() => ({ network: "solana:1", ...PARAMETERS })));
  state.now += 1_999;
  await parameters("solana:1");
  expect(state.asked).toBe(1);
  state.now += 1;
  await parameters("solana:1");
  expect(state.asked).toBe(2);
  // A clock that is set back does not keep anything for ever.
  state.now = 0;
  await parameters("solana:1");
  expect(state.asked).toBe(3);
});

test("balances are exact, and null without an account; what is no address or has no help is not found", async () => {
  const { parameters, balance } = networks();
  expect(await balance("solana:1", "known")).toMatchObject({ usdc: "18446744073709551615" });
  expect(await balance("solana:1", "poor")).toMatchObject({ usdc: null });
  const notFound = { code: "not_found" };
  await expect(balance("solana:1", "other")).rejects.toMatchObject(notFound);
  await expect(balance("eip155:8453", "known")).rejects.toMatchObject(notFound);
  await expect(parameters("solana:2")).rejects.toMatchObject(notFound);
});
