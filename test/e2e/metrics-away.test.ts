import { expect, test } from "vitest";
import { startPostgres } from "../../packages/service/test/fakes/postgres.ts";
import { secret } from "../../packages/service/test/settings.ts";
import { increaseOf, sampleOf } from "../helpers/samples.ts";
import { startDeployment } from "./deployment.ts";

test("while PostgreSQL is away, everything is served but what only it knows", async () => {
  await using opened = new AsyncDisposableStack();
  const postgres = await startPostgres();
  opened.defer(() => postgres.close());
  const settings = { admin: { port: 0 }, journal: { url: secret(await postgres.database()) } };
  const deployment = await startDeployment({ networks: [] }, settings);
  opened.defer(() => deployment.close());
  const scrape = async () => {
    const response = await fetch(`${deployment.adminUrl}/metrics`);
    expect(response.status).toBe(200);
    return response.text();
  };

  const before = await scrape();
  expect(sampleOf(before, "attestd_journal_size_bytes")).toBeGreaterThan(0);
  // Nobody knows how much room a database on another host has: 0 would say that it is full.
  expect(sampleOf(before, "attestd_journal_free_bytes")).toBeUndefined();
  await postgres.stop();
  const away = await scrape();
  const journals = ["attestd_journal_size_bytes"];
  for (const metric of journals) {
    expect(sampleOf(away, metric), metric).toBeUndefined();
    expect(increaseOf([before, away], "attestd_metric_read_failures_total", { metric }), metric).toBe(1);
  }
  const namesIn = (text: string) => new Set(text.match(/^(?:attestd|nodejs|process)_\w+/gm));
  expect(namesIn(before).difference(namesIn(away))).toEqual(new Set(journals));

  await postgres.start();
  await expect.poll(async () => sampleOf(await scrape(), "attestd_journal_size_bytes")).toBeGreaterThan(0);
});
