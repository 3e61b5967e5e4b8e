import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isProviderError, unavailable } from "./provider.ts";
import { agreeOnQuantity } from "./quantity.ts";

type Answer = number | "away" | "hangs";

const never = new AbortController().signal;
const about = "the balance";

function ask(answer: Answer, signal: AbortSignal): Promise<number> {
  if (answer === "away") return Promise.reject(unavailable("it is away"));
  if (answer !== "hangs") return Promise.resolve(answer);
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

const told = (answers: Answer[], quorum?: number, signal = never) =>
  agreeOnQuantity(answers, ask, { about, signal }, quorum === undefined ? {} : { quorum });

describe("a quantity on which nodes agree", () => {
  it.each<[Answer[], number]>([
    [[7], 7],
    [[7, 9], 7],
    [[0, 7, 9], 7],
    [[99, 7, 9], 9],
    [["away", 7, 9], 7],
    // Two of three have decided: nobody waits for the third.
    [["hangs", 7, 7], 7],
  ])("of %j is %j", async (answers, value) => {
    expect(await told(answers)).toBe(value);
  });

  it("is the greatest where an operator rests on one of two", async () => {
    expect(await told([7, "away"], 1)).toBe(7);
  });

  it.each<[Answer[]]>([[["away"]], [[7, "away"]], [["away", 7, "away"]], [[]]])(
    "of %j is not known",
    async (answers) => {
      await expect(told(answers)).rejects.toMatchObject({ code: "providers_unavailable" });
    },
  );

  it("is not known when the asker's time is up, or it leaves", async () => {
    const late = AbortSignal.timeout(1);
    await expect(told([7, "hangs"], undefined, late)).rejects.toSatisfy(isProviderError);
    await expect(told([7, "hangs"], undefined, AbortSignal.abort(new Error("stopping")))).rejects.toThrow("stopping");
  });

  it("is one that an honest node sees, or between two, whatever a minority says, in whatever order", async () => {
    const nodes = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 5 }).chain((honest) => {
      const lie = fc.oneof(fc.integer({ min: 0, max: 1_000_000_000 }), fc.constant("away" as const));
      const lies = fc.array(lie, { maxLength: honest.length - 1 });
      const inAnyOrder = (all: Answer[]) => fc.shuffledSubarray(all, { minLength: all.length });
      return fc.tuple(
        fc.constant(honest),
        lies.chain((made) => inAnyOrder([...honest, ...made])),
      );
    });
    await fc.assert(
      fc.asyncProperty(nodes, async ([honest, all]) => {
        const value = await told(all);
        expect(honest.some((seen) => seen <= value) && honest.some((seen) => seen >= value)).toBe(true);
      }),
    );
  });
});
