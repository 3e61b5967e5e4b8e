import { createHash, randomUUID } from "node:crypto";
import { canonicalBytes, type JsonObject } from "@attestd/proof/json";
import { afterAll, beforeAll, expect, test } from "vitest";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] });
});
afterAll(() => deployment?.close());

/** The answer of the skill `get-evidence` over A2A. */
async function asked(id: string): Promise<string> {
  const parts = [{ kind: "data", data: { skill: "get-evidence", id, detached: "1" } }];
  const message = { kind: "message", role: "user", messageId: randomUUID(), parts };
  const call = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
  return (await post(`${deployment.url}/a2a`, call)).text;
}

test("an agent asks for the evidence of a bundle, and learns the round that no state proof attests yet", async () => {
  const { sandbox, url } = deployment;
  const body = { txid: sandbox.sampleTransactions.algorand };
  const bought = await pay(`${url}/attest`, body, await sign(`${url}/attest`, body, algorandClient(sandbox)));
  expect(bought.status, bought.text).toBe(200);
  const id = createHash("sha256")
    .update(canonicalBytes(bought.json as JsonObject))
    .digest("base64url");
  const { round } = bought.json.attest as { round: number };
  expect(await asked(id)).toContain(JSON.stringify({ status: "pending", round }));
  expect(await asked("A".repeat(43))).toContain("not_found");
});
