import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Attestation } from "@attestd/client";
import { expect, test } from "vitest";
import { testEvidence } from "../../../../../test/bundles/evidence.ts";
import { temporaryFolder } from "../../../../../test/helpers/temporary-folder.ts";
import { EXIT } from "../../failure.ts";
import { saveEvidence } from "./purchase.ts";

const { bundle, evidence } = testEvidence();
const bundleBytes = new TextEncoder().encode(JSON.stringify(bundle));

/** Asks a service that answers so, for a bundle that was bought and saved. */
async function ask(status: number, body: object) {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const folder = await temporaryFolder();
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(folder.path, "b.json");
  const trusted = undefined;
  const of = { bundle, bundleBytes } as unknown as Attestation;
  const found = await saveEvidence(file, of, { service, trusted, signal: AbortSignal.timeout(10_000) });
  const saved = await readFile(join(folder.path, "b.evidence.json"), "utf8").catch(() => undefined);
  await folder[Symbol.asyncDispose]();
  server.close();
  return { found, saved };
}

test("the evidence of what was bought is saved beside it", async () => {
  const { found, saved } = await ask(200, evidence);
  expect(found).toMatchObject({
    file: expect.stringMatching(/b\.evidence\.json$/),
    report: { evidence: { inclusion: "pass" } },
  });
  expect(JSON.parse(saved ?? "")).toEqual(evidence);
});

test.each([
  ["of another bundle", 200, { ...evidence, bundle: `sha256:${"0".repeat(64)}` }],
  ["refused", 404, { code: "not_found", detail: "No delivered bundle has this id." }],
])("a purchase whose evidence is %s ends with the exit code of a service that is away", async (_, status, body) => {
  const { found, saved } = await ask(status, body);
  expect(found).toMatchObject({
    exitCode: EXIT.unreachable,
    message: expect.stringContaining("is saved, but its evidence is not"),
  });
  expect(saved).toBeUndefined();
});
