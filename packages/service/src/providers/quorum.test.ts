import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { isProviderError, unavailable } from "./provider.ts";
import { agree, type Conflict, failover, fastest, type QuorumRules } from "./quorum.ts";

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
  const { signal = new AbortController().signal, ...rest } = options;
  const rules: QuorumRules = { onConflict: (conflict) => conflicts.push(conflict), patienceMs: 1, ...rest };
  const question = { about: "the fact", same: (answer: string) => answer, signal };
  return { conflicts, result: agree(nodes, ask, question, rules) };
}

const yes = { answers: "yes" };
const no = { answers: "no" };
const conflict = expect.objectContaining({ code: "providers_conflict" });
const silence = expect.objectContaining({ code: "providers_unavailable" });

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

  it.each(["fails", "hangs"] as const)("tolerates that one of two %s", async (behaviour) => {
    const nodes = providers(behaviour, yes);
    const { result, conflicts } = vote(nodes);
    expect(await result).toEqual(["yes"]);
    expect(conflicts).toEqual([]);
    expect(nodes[0]?.cancelled).toBe(behaviour === "hangs");
  });

  it("outvotes one of three, and reports it", async () => {
    const { result, conflicts } = vote(providers(no, yes, yes));
    expect(await result).toEqual(["yes", "yes"]);
    expect(conflicts).toHaveLength(1);
  });

  it("does not wait for the third once two of three agree", async () => {
    expect(await vote(providers(yes, "hangs", yes), { patienceMs: 1e9 }).result).toEqual(["yes", "yes"]);
  });

  it("takes no single word of three", async () => {
    await expect(vote(providers(yes, "fails", "fails")).result).rejects.toEqual(silence);
  });

  it("lets no minority quorum outvote anyone", async () => {
    await expect(vote(providers(yes, yes, no, yes), { quorum: 2 }).result).rejects.toEqual(conflict);
  });

  it("names every provider that failed when none answered", async () => {
    await expect(vote(providers("fails", "fails")).result).rejects.toThrow(/node0 is down; node1 is down/);
    await expect(vote([]).result).rejects.toEqual(silence);
  });

  it("leaves out answers whose provider only lags", async () => {
    const rounds = [
      { name: "slow", round: 90 },
      { name: "fast", round: 100 },
    ];
    const question = {
      about: "the round",
      same: String,
      behind: (round: number, others: readonly number[]) => others.some((other) => other > round),
      signal: new AbortController().signal,
    };
    const answer = agree(rounds, async ({ round }) => round, question, { onConflict: () => {} });
    expect(await answer).toEqual([100]);
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
      const needed = Math.min(k ?? (n < 3 ? 1 : Math.floor(n / 2) + 1), n);
      expect(answers.length).toBeGreaterThanOrEqual(needed);
      expect(new Set(answers).size).toBe(1);
      const disputed = behaviours.some((other) => typeof other === "object" && other.answers !== answers[0]);
      if (disputed) expect(n >= 3 && needed > n / 2).toBe(true);
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
