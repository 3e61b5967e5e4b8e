import type { KeyHistory } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { expect, test } from "vitest";
import { makeCertificate } from "../../packages/web/src/certificate/certificate.ts";
import { judge } from "../../packages/web/src/judge.ts";
import { MAKING } from "../../packages/web/test/certificates/make.ts";
import { testBatch } from "../bundles/batches.ts";
import { testBaseTransaction } from "../bundles/blocks.ts";
import { testHistory } from "../bundles/bundles.ts";
import { payUntilAnswered, sign, startDeployment } from "./deployment.ts";
import { requireEdges, sourcesOfBoth } from "./many-sources.ts";
import { railsOf } from "./rails.ts";

test("a batch of a thousand transactions of two chains is bought", async () => {
  const deployment = await startDeployment();
  try {
    const { client } = (await railsOf(deployment.sandbox)).algorand;
    const ids = await sourcesOfBoth(deployment.sandbox, 1000);
    const [url, body] = [`${deployment.url}/attest-batch`, { items: ids.map((txid) => ({ txid })) }];
    const bought = await payUntilAnswered(url, body, await sign(url, body, client));
    const history = await (await fetch(`${deployment.url}/.well-known/attestor-keys.json`)).json();
    await requireEdges(bought, ids, history as KeyHistory);
  } finally {
    await deployment.close();
  }
});

test("the certificate of a thousand transactions carries each of them, and matches them", async () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({ chain: "base", txnBytes: testBaseTransaction(i) }) as const);
  const batch = utf8(JSON.stringify(testBatch(items)));
  const { bytes } = makeCertificate("pdf", batch, testHistory(), { ...MAKING, ledger: undefined });
  const judged = await judge(bytes, { history: testHistory(), historyAge: 0 });
  if (judged.kind !== "batch") throw new Error(judged.kind);
  expect([judged.certificate?.words, judged.bundles.length]).toEqual(["pass", 1000]);
});
