import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { findAlertmanager, startAlertmanager } from "./alertmanager.ts";

const found = findAlertmanager();
if ("missing" in found) console.log(`${found.missing}: its example is not tried`);

test.skipIf("missing" in found)("the example sends a page to its webhook, and its end, and no ticket", async () => {
  await using folder = await temporaryFolder();
  await using alertmanager = await startAlertmanager(join(folder.path, "alertmanager"), 100);
  const tell = async (alertname: string, severity: string, endsAt: number) => {
    const alert = { labels: { alertname, severity, instance: "a" }, endsAt: new Date(endsAt).toISOString() };
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify([alert]),
    });
    expect(response.status).toBe(200);
  };

  await tell("AttestdAlgoLow", "ticket", Date.now() + 60_000);
  await tell("AttestdDown", "page", Date.now() + 60_000);
  // Half a minute and five minutes, divided by a hundred.
  await expect.poll(alertmanager.messages, { timeout: 15_000 }).toEqual([{ alert: "AttestdDown", status: "firing" }]);
  await tell("AttestdDown", "page", Date.now() - 1);
  await expect.poll(() => alertmanager.messages().at(-1)?.status, { timeout: 40_000 }).toBe("resolved");
  expect(alertmanager.messages().map(({ alert }) => alert)).toEqual(["AttestdDown", "AttestdDown"]);
});
