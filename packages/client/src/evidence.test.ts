import { describe, expect, test } from "vitest";
import { testHistory } from "../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../test/bundles/evidence.ts";
import { fetchEvidence } from "./evidence.ts";

const { bundle, evidence, inclusion, stateProof, checkpoint } = testEvidence();
const bytes = new TextEncoder().encode(JSON.stringify(bundle));
const pending = () =>
  Response.json({ status: "pending", round: 1000 }, { status: 202, headers: { "retry-after": "15" } });
const busy = () => Response.json({ code: "journal_unavailable", detail: "Later." }, { status: 503 });

/** Fetches from a service that gives these answers in order; `Error` breaks the connection. */
function from(answers: (() => Response | Error)[], more: Partial<Parameters<typeof fetchEvidence>[0]> = {}) {
  const [asked, waits]: [string[], number[]] = [[], []];
  const fetch = async (url: string | URL | Request) => {
    asked.push(`${url}`);
    const answer = answers[Math.min(asked.length, answers.length) - 1]?.() ?? new Error("no answer");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const clock = {
    now: () => waits.reduce((sum, ms) => sum + ms, 0),
    wait: async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted();
      waits.push(ms);
    },
  };
  const service = "http://service.example/";
  const fetched = fetchEvidence({ service, bundle: bytes, trust: testHistory(), fetch, clock, ...more });
  return { fetched, asked, waits };
}

describe("fetchEvidence", () => {
  test("waits until it is whole, as long as the service says, and verifies it", async () => {
    const stake = { checkpoints: [checkpoint] };
    const answers = [pending, () => new Error("reset"), busy, () => Response.json(evidence)];
    const { fetched, asked, waits } = from(answers, { stake, maxWaitMs: 60_000 });
    const { evidenceBytes, report } = await fetched;
    expect(new TextDecoder().decode(evidenceBytes)).toBe(JSON.stringify(evidence));
    expect(report).toMatchObject({ verified: true, recordedBy: { round: 1000 }, authorisedBy: { alg: "ed25519" } });
    expect(waits).toEqual([15_000, 15_000, 15_000]);
    const id = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(bundle)));
    expect(new Set(asked)).toEqual(
      new Set([`http://service.example/bundles/${Buffer.from(id).toString("base64url")}/evidence`]),
    );
  });

  test("ends when the time is over, and at once where waiting does not help", async () => {
    await expect(from([pending]).fetched).rejects.toMatchObject({ code: "not_yet" });
    const { fetched, asked } = from([pending], { maxWaitMs: 5_000, intervalMs: 1_000 });
    await expect(fetched).rejects.toMatchObject({ code: "not_yet" });
    expect(asked).toHaveLength(6);
    await expect(from([busy]).fetched).rejects.toMatchObject({ code: "unreachable", message: "Later." });
    const unknown = () => Response.json({ code: "not_found", detail: "No delivered bundle." }, { status: 404 });
    const refused = from([unknown], { maxWaitMs: 60_000 });
    await expect(refused.fetched).rejects.toMatchObject({ code: "refused", problem: { code: "not_found" } });
    expect(refused.waits).toEqual([]);
    const stopped = from([pending], { maxWaitMs: 60_000, signal: AbortSignal.abort() });
    await expect(stopped.fetched).rejects.toMatchObject({ code: "interrupted" });
  });

  test.each<[string, () => Response, string]>([
    ["no JSON", () => new Response("{"), "not evidence"],
    ["another bundle's", () => Response.json({ ...evidence, bundle: `sha256:${"0".repeat(64)}` }), "is another bundle"],
    ["wrong", () => Response.json({ ...evidence, items: [{ ...inclusion, index: 0 }, stateProof] }), "contradicts"],
    ["endless", () => new Response(new Uint8Array(20 * 2 ** 20)), "larger"],
  ])("is not taken from a service that lies: %s", async (_, answer, message) => {
    const { fetched } = from([answer], { maxWaitMs: 60_000 });
    await expect(fetched).rejects.toMatchObject({
      code: "unexpected_answer",
      message: expect.stringContaining(message),
    });
  });

  test("is of a bundle", async () => {
    const { fetched, asked } = from([pending], { bundle: new TextEncoder().encode("{}") });
    await expect(fetched).rejects.toMatchObject({ code: "invalid_option" });
    expect(asked).toEqual([]);
  });
});

/** RFC 8785 of a value whose numbers are all integers: sorted members. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}
