import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { isProviderError, unavailable } from "./provider.ts";
import { agree, type Conflict, failover, fastest, type Minority, majorityOf, type QuorumRules } from "./quorum.ts";

type Behaviour = { answers: string } | "fails" | "hangs";
type Fake = { name: string; behaviour: Behaviour; cancelled: boolean };

const providers = (...behaviours: Behaviour[]): Fake[] =>
  behaviours.map((behaviour, i) => ({ name: `node${i}`, behaviour, cancelled: false }));

function ask(provider: Fake, signal: AbortSignal): Promise<string> {
  const { name, behaviour } = provider;
  if (behaviour === "fails") return Promise.reject(unavailable(`${name} is down`));
  if (behaviour !== "hangs") return Promise.resolve(behaviour.answers);
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => {
      provider.cancelled = true;
      reject(signal.reason);
    });
  });
}

function vote(nodes: Fake[], options: Partial<QuorumRules> & { signal?: AbortSignal } = {}) {
  const conflicts: Conflict[] = [];
  const minorities: Minority[] = [];
  const { signal = new AbortController().signal, ...rest } = options;
  const rules: QuorumRules = {
    onConflict: (conflict) => conflicts.push(conflict),
    onMinority: (minority) => minorities.push(minority),
    ...rest,
  };
  const question = { about: "the fact", same: (answer: string) => answer, signal };
  return { conflicts, minorities, result: agree(nodes, ask, question, rules) };
}

/** Resolves after everything that is ready now. */
const turnOfTheLoop = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value));

const yes = { answers: "yes" };
const no = { answers: "no" };
const conflict = expect.objectContaining({ code: "providers_conflict" });
const silence = expect.objectContaining({ code: "providers_unavailable" });

test("a majority is more than half", () => {
  expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3]);
});

describe("agree", () => {
  it("takes one provider's word where only one is configured", async () => {
    expect(await vote(providers(yes)).result).toEqual(["yes"]);
  });

  it("refuses two that contradict each other, and reports the answer of each", async () => {
    const { result, conflicts } = vote(providers(yes, no));
    await expect(result).rejects.toEqual(conflict);
    expect(conflicts).toEqual([
      {
        about: "the fact",
        answers: [
          { provider: "node0", answer: "yes" },
          { provider: "node1", answer: "no" },
        ],
      },
    ]);
  });

  it("takes no single word of two, and does not wait for the one that could make no majority any more", async () => {
    await expect(vote(providers("fails", yes)).result).rejects.toThrow(/2 of 2 must agree.*node0 is down/);
    const nodes = providers("fails", "hangs");
    await expect(vote(nodes).result).rejects.toEqual(silence);
    expect(nodes[1]?.cancelled).toBe(true);
  });

  it("waits for the second of two until the asker's time is up", async () => {
    const deadline = new AbortController();
    const { result } = vote(providers(yes, "hangs"), { signal: deadline.signal });
    expect(await Promise.race([result.catch(() => "given up"), turnOfTheLoop("still waiting")])).toBe("still waiting");
    deadline.abort(new DOMException("late", "TimeoutError"));
    await expect(result).rejects.toEqual(silence);
  });

  it("believes the second of two, who comes late, and not the first", async () => {
    let late = (_: string) => {};
    const second = new Promise<string>((resolve) => {
      late = resolve;
    });
    const question = { about: "the fact", same: String, signal: new AbortController().signal };
    const nodes = [{ name: "liar" }, { name: "honest" }];
    const asked = ({ name }: { name: string }) => (name === "liar" ? Promise.resolve("failed") : second);
    const result = agree(nodes, asked, question, { onConflict: () => {} });
    expect(await Promise.race([result.catch(() => "given up"), turnOfTheLoop("still waiting")])).toBe("still waiting");
    late("succeeded");
    await expect(result).rejects.toEqual(conflict);
  });

  it("takes fewer than a majority where the operator allows it, and says whose word it is", async () => {
    const { result, minorities } = vote(providers("fails", yes, "fails"), { quorum: 1 });
    expect(await result).toEqual(["yes"]);
    expect(minorities).toEqual([{ about: "the fact", answered: ["node1"], of: 3 }]);
  });

  it("says nothing of a lower quorum while a majority answers, nor takes it where they contradict each other", async () => {
    const agreed = vote(providers(yes, yes), { quorum: 1 });
    expect(await agreed.result).toEqual(["yes", "yes"]);
    expect(agreed.minorities).toEqual([]);
    await expect(vote(providers(yes, no, "fails"), { quorum: 1 }).result).rejects.toEqual(conflict);
  });

  it("outvotes one of three, and reports it", async () => {
    const { result, conflicts } = vote(providers(no, yes, yes));
    expect(await result).toEqual(["yes", "yes"]);
    expect(conflicts).toHaveLength(1);
  });

  it("does not wait for the third once two of three agree", async () => {
    expect(await vote(providers(yes, "hangs", yes)).result).toEqual(["yes", "yes"]);
  });

  it("takes no single word of three", async () => {
    await expect(vote(providers(yes, "fails", "fails")).result).rejects.toEqual(silence);
  });

  it("lets no minority quorum outvote anyone", async () => {
    await expect(vote(providers(yes, yes, no, "fails"), { quorum: 2 }).result).rejects.toEqual(conflict);
  });

  it("names the providers that failed", async () => {
    await expect(vote(providers("fails", "hangs", "fails")).result).rejects.toThrow(/node0 is down; node2 is down/);
    await expect(vote([]).result).rejects.toEqual(silence);
  });

  describe("leaves out answers whose provider only lags", () => {
    const question = {
      about: "the round",
      same: String,
      behind: (round: number, others: readonly number[]) => others.some((other) => other > round),
      signal: new AbortController().signal,
    };
    const rules = { onConflict: () => expect.fail("who lags contradicts nobody") };
    const at = (...rounds: number[]) => rounds.map((round) => ({ name: `at ${round}`, round }));
    const roundOf = async ({ round }: { round: number }) => round;

    it("where the others are a majority", async () => {
      expect(await agree(at(90, 100, 100), roundOf, question, rules)).toEqual([100, 100]);
    });

    it.each([[at(90, 100)], [at(90, 100, 95)]])("and takes no single word of those that do not: %j", async (nodes) => {
      await expect(agree(nodes, roundOf, question, rules)).rejects.toEqual(silence);
    });
  });

  it("turns the caller's deadline into providers_unavailable, and any other abort into its reason", async () => {
    const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    await expect(vote(providers("hangs"), { signal: late }).result).rejects.toEqual(silence);
    const deadline = new AbortController();
    const { result } = vote(providers("hangs", "hangs"), { signal: deadline.signal });
    deadline.abort(new DOMException("late", "TimeoutError"));
    await expect(result).rejects.toEqual(silence);

    const caller = new AbortController();
    const other = vote(providers("hangs"), { signal: caller.signal });
    caller.abort(new Error("stopping"));
    await expect(other.result).rejects.toThrow("stopping");
  });

  it("throws an error that is no provider's failure", async () => {
    const rules = { onConflict: () => {} };
    const question = { about: "a fact", same: String, signal: new AbortController().signal };
    const broken = () => Promise.reject(new TypeError("our own mistake"));
    await expect(agree(providers(yes), broken, question, rules)).rejects.toThrow("our own mistake");
    const same = () => {
      throw new TypeError("our own mistake");
    };
    await expect(agree(providers(yes), ask, { ...question, same }, rules)).rejects.toThrow("our own mistake");
  });

  it("never returns a fact with fewer votes than the quorum, nor a disputed one without a majority", async () => {
    const behaviour = fc.constantFrom<Behaviour>(yes, no, { answers: "perhaps" }, "fails");
    const quorum = fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined });
    const property = async (behaviours: Behaviour[], k: number | undefined) => {
      const { result } = vote(providers(...behaviours), k === undefined ? {} : { quorum: k });
      const answers = await result.catch((error: unknown) => {
        expect(error).toSatisfy(isProviderError);
        return [];
      });
      if (answers.length === 0) return;
      const n = behaviours.length;
      const needed = Math.min(k ?? majorityOf(n), n);
      expect(answers.length).toBeGreaterThanOrEqual(needed);
      expect(new Set(answers).size).toBe(1);
      const disputed = behaviours.some((other) => typeof other === "object" && other.answers !== answers[0]);
      if (disputed) expect(answers.length).toBeGreaterThan(n / 2);
    };
    await fc.assert(fc.asyncProperty(fc.array(behaviour, { minLength: 1, maxLength: 6 }), quorum, property));
  });
});

describe("failover", () => {
  const question = { about: "the fact", signal: new AbortController().signal };

  it("asks the next provider only when one fails", async () => {
    const asked = vi.fn(ask);
    expect(await failover(providers("fails", yes, no), asked, question)).toBe("yes");
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("fails when all do", async () => {
    await expect(failover(providers("fails", "fails"), ask, question)).rejects.toEqual(silence);
  });
});

describe("fastest", () => {
  const question = { about: "the fact", signal: new AbortController().signal };

  it("takes the first answer and cancels the others", async () => {
    const nodes = providers("hangs", yes, "fails");
    expect(await fastest(nodes, ask, question)).toBe("yes");
    expect(nodes[0]?.cancelled).toBe(true);
  });

  it("fails when all do", async () => {
    await expect(fastest(providers("fails", "fails"), ask, question)).rejects.toEqual(silence);
  });
});
