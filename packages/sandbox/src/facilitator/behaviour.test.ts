import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type StubRail, stubPayment, stubRail } from "../../test/stub-rail.ts";
import { createBehaviours } from "./behaviour.ts";
import { type Facilitator, startFacilitator } from "./server.ts";

let rail: StubRail;
let facilitator: Facilitator;
beforeEach(async () => {
  rail = stubRail();
  facilitator = await startFacilitator({ rails: [rail.register] });
});
afterEach(() => facilitator.close());

/** @returns the status, with the reason and the transaction of a settlement, or "nothing" without an answer */
async function ask(operation: "verify" | "settle", nonce = "1", { url } = facilitator): Promise<unknown> {
  const { payload, requirements } = stubPayment(nonce);
  const body = JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: requirements });
  try {
    const response = await fetch(`${url}/${operation}`, { method: "POST", body });
    const answer = (await response.json()) as Record<string, unknown>;
    const { success, isValid, errorReason, invalidReason, transaction } = answer;
    return [response.status, success ?? isValid, errorReason ?? invalidReason, transaction];
  } catch {
    return "nothing";
  }
}

describe("a settlement on demand", () => {
  test.each([
    ["", [200, true, undefined, "0x1"], 1],
    ["settle=away", "nothing", 0],
    ["settle=lost", "nothing", 1],
    ["settle=unauthorized", [401, undefined, undefined, undefined], 0],
    ["settle=exhausted", [403, undefined, undefined, undefined], 0],
    ["settle=limited", [429, undefined, undefined, undefined], 0],
    ["settle=failing", [500, undefined, undefined, undefined], 0],
    ["settle=slow:10", [200, true, undefined, "0x1"], 1],
    ["settle=late:10", [200, true, undefined, "0x1"], 1],
    ["settle=pending", [200, false, "settlement_pending", "0x1"], 1],
    ["settle=unsent", [200, false, "settlement_pending", ""], 0],
    ["settle=claimed", [200, true, undefined, "no such transaction"], 0],
    ["settle=empty", [200, true, undefined, ""], 1],
    ["settle=duplicate", [409, false, "duplicate_settlement", ""], 0],
    ["settle=denied:transaction_failed", [200, false, "transaction_failed", "0x1"], 1],
    [
      "settle=refused:settle_exact_svm_block_height_exceeded",
      [200, false, "settle_exact_svm_block_height_exceeded", ""],
      0,
    ],
    ["verify=limited", [200, true, undefined, "0x1"], 1],
  ])("%s", async (behaviour, answer, settlements) => {
    facilitator.behave(behaviour);
    expect(await ask("settle")).toEqual(answer);
    expect(rail.settled).toHaveLength(settlements);
  });

  test("that is pending for a time settles after it", async () => {
    facilitator.behave("settle=pending:200");
    expect(await ask("settle")).toEqual([200, false, "settlement_pending", ""]);
    expect(rail.settled).toEqual([]);
    await expect.poll(() => rail.settled, { timeout: 5_000 }).toEqual(["1"]);
  });

  test("that waits is given up when the facilitator closes", async () => {
    const closing = await startFacilitator({ rails: [rail.register], behaviour: "settle=slow*1" });
    const asked = ask("settle", "1", closing);
    const left = async () => (await fetch(new URL("/sandbox/behaviour", closing.url))).text();
    await expect.poll(left).toBe("");
    await closing.close();
    expect(await asked).toBe("nothing");
    expect(rail.settled).toEqual([]);
  });
});

test("a verification on demand", async () => {
  facilitator.behave("verify=refused:kyt_risk_detected*1");
  expect(await ask("verify")).toEqual([200, false, "kyt_risk_detected", undefined]);
  expect(await ask("verify")).toEqual([200, true, undefined, undefined]);
});

test("a verification that says no settles later", async () => {
  facilitator.behave("verify=kept:200*1");
  expect(await ask("verify")).toEqual([200, false, "invalid_payload", undefined]);
  expect(rail.settled).toEqual([]);
  await expect.poll(() => rail.settled, { timeout: 5_000 }).toEqual(["1"]);
});

test("a verification without an answer settles later", async () => {
  facilitator.behave("verify=swallowed:200*1");
  expect(await ask("verify")).toBe("nothing");
  await expect.poll(() => rail.settled, { timeout: 5_000 }).toEqual(["1"]);
});

test("is set and listed over HTTP, and counts the requests that it is for", async () => {
  const url = new URL("/sandbox/behaviour", facilitator.url);
  const put = async (body: string) => {
    const response = await fetch(url, { method: "PUT", body });
    return [response.status, await response.text()];
  };
  expect(await put("settle=limited*2, verify=slow:5")).toEqual([200, "settle=limited*2,verify=slow:5"]);
  expect((await ask("settle")) as unknown[]).toContain(429);
  expect(await put("settle=never")).toEqual([400, expect.stringContaining("never is not one of away, ")]);
  expect(await (await fetch(url)).text()).toBe("settle=limited*1,verify=slow:5");
  expect((await ask("settle")) as unknown[]).toContain(429);
  expect((await ask("settle")) as unknown[]).toContain(200);
});

test.each([
  ["settle", "settle is not OPERATION=NAME"],
  ["pay=away", "pay is not one of verify, settle, supported"],
  ["settle=toString", "toString is not one of away, "],
  ["verify=pending", "pending is no behaviour of verify"],
  ["settle=away:1", "away takes no argument"],
  ["settle=denied", "denied needs its reason"],
  ["settle=late:1s", "1s is no time up to 600000 ms"],
  ["settle=late:600001", "600001 is no time up to"],
  ["settle=away*0", "0 is not 1 to 1000000 times"],
  ["settle=away,settle=lost", "settle has two behaviours"],
  [`settle=away,${" ".repeat(1_000)}`, "more than 1000 characters"],
])("refuses %s", (text, message) => {
  expect(() => createBehaviours(text)).toThrow(message);
});
