import { join } from "node:path";
import { bundleId, type ProofBundle, parseNote } from "@attestd/proof";
import { encodeNote } from "@attestd/proof/attestor";
import { toHex } from "@attestd/proof/encoding";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RECORDED, vectors } from "../../packages/proof/test/vectors.ts";
import { secret } from "../../packages/service/test/settings.ts";
import { signBundle, testAttestor, testBundle } from "../bundles/bundles.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";

/** The service's key, with which a test signs bundles that an honest attestor would not sign. */
const attestor = testAttestor("e2e");

let deployment: Deployment;
let bundle: ProofBundle;
beforeAll(async () => {
  deployment = await startDeployment({ networks: [] }, { attestor: { pq_seed: secret(toHex(attestor.pqSeed)) } });
  bundle = await buy(deployment.sandbox.sampleTransactions.algorand);
});
afterAll(() => deployment.close());

async function buy(txid: string, where = deployment): Promise<ProofBundle> {
  const url = `${where.url}/attest`;
  const answer = await pay(url, { txid }, await sign(url, { txid }, algorandClient(where.sandbox)));
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

const verify = (body: unknown, query = "") => post(`${deployment.url}/verify${query}`, body);

type Report = { checks: Record<string, string>; failures: { check: string; pointer?: string }[]; attestor: object };
async function failures(body: unknown, query = ""): Promise<string[]> {
  const { status, json } = await verify(body, query);
  expect([status, json.code]).toEqual([400, "bundle_rejected"]);
  return [...new Set((json.report as Report).failures.map(({ check }) => check))];
}

/** Every leaf of the bundle, as a path. */
const LEAVES: string[][] = [
  ["version"],
  ["network"],
  ...["chain", "txnId", "hashSha256", "txnBytesBase64"].map((name) => ["source", name]),
  ...["txnId", "round", "note"].map((name) => ["attest", name]),
  ...["algorandAddress", "pqPublicKey"].map((name) => ["attestor", name]),
  ...["alg", "sigBase64"].map((name) => ["signature", name]),
];

function edited(path: readonly string[], edit: (value: never) => unknown): ProofBundle {
  const copy = structuredClone(bundle) as unknown as Record<string, Record<string, unknown>>;
  const last = path.at(-1) as string;
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((o, key) => o[key] as Record<string, unknown>, copy);
  const value = edit(parent[last] as never);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy as unknown as ProofBundle;
}

describe("/verify", () => {
  test("reports the checks of our own bundle, and asks the chains only with ?chain=1", async () => {
    const offline = await verify(bundle);
    expect(offline).toMatchObject({
      status: 200,
      json: {
        verified: true,
        checks: { schema: "pass", keyTrust: "pass", signature: "pass", note: "pass", chainAttest: "not_checked" },
        attestor: { kid: attestor.kid, status: "current" },
        warnings: ["sandbox"],
        failures: [],
      },
    });
    for (const query of ["?chain=1", "?chain=true"])
      expect((await verify(bundle, query)).json).toMatchObject({
        checks: { chainSource: "pass", chainAttest: "pass" },
        recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
    expect(offline.json).not.toHaveProperty("recordedAt");
    expect(await verify(bundle, "?chain=yes")).toMatchObject({ status: 400, json: { code: "query_invalid" } });
  });

  test.each(LEAVES)("rejects a bundle without %s %s", async (...path) => {
    const body = edited(path, () => undefined);
    // Without a named chain the bundle is well formed, but differs from the signed one.
    expect(await failures(body)).toEqual(path.at(-1) === "chain" ? ["signature"] : ["schema"]);
  });

  test.each(LEAVES)("rejects a bundle with two members %s %s", async (...path) => {
    const name = JSON.stringify(path.at(-1));
    const text = JSON.stringify(bundle).replaceAll(`${name}:`, `${name}:0,${name}:`);
    expect(await failures(text)).toEqual(["schema"]);
  });

  const flip = (text: string) => (text.startsWith("A") ? `B${text.slice(1)}` : `A${text.slice(1)}`);
  test.each<[string[], (value: never) => unknown, string]>([
    [["version"], () => 2, "schema"],
    [["version"], () => "1", "schema"],
    [["network"], () => "algorand-testnet", "schema"],
    [["source", "chain"], () => "base", "schema"],
    [["source", "txnId"], (id: string) => flip(id), "transactionId"],
    [["source", "txnId"], (id: string) => id.toLowerCase(), "schema"],
    [["source", "hashSha256"], () => "0".repeat(64), "hashPreimage"],
    [["source", "hashSha256"], (hash: string) => hash.toUpperCase(), "schema"],
    [["source", "txnBytesBase64"], (bytes: string) => flip(bytes), "hashPreimage"],
    [["source", "txnBytesBase64"], (bytes: string) => bytes.replace(/=*$/, ""), "schema"],
    [["source", "txnBytesBase64"], (bytes: string) => `${bytes.slice(0, 8)}\n${bytes.slice(8)}`, "schema"],
    [["attest", "txnId"], (id: string) => flip(id), "signature"],
    [["attest", "round"], (round: number) => round + 1, "signature"],
    [["attest", "round"], (round: number) => String(round), "schema"],
    [["attest", "round"], () => 2 ** 53, "schema"],
    [["attest", "note"], (note: string) => note.replace('"a"', ' "a"'), "note"],
    [["attest", "note"], (note: string) => note.replace("/v1:j", "/v1:u"), "note"],
    [["attestor", "algorandAddress"], () => testAttestor("other").algorandAddress, "keyTrust"],
    [["attestor", "pqPublicKey"], () => Buffer.from(testAttestor("other").publicKey).toString("base64"), "keyTrust"],
    [["signature", "alg"], () => "ML-DSA-44", "schema"],
    [["signature", "sigBase64"], (signature: string) => flip(signature), "signature"],
    [["signature", "sigBase64"], (signature: string) => signature.slice(0, 400), "schema"],
  ])("refuses a changed %s, naming the check", async (path, edit, check) => {
    expect(await failures(edited(path, edit))).toContain(check);
  });

  test("rejects a stranger's well signed bundle before it asks a chain", async () => {
    const stranger = testBundle({ attestor: testAttestor("stranger"), ledger: deployment.sandbox.ledgerCaip2 });
    expect(await failures(stranger, "?chain=1")).toEqual(["keyTrust"]);
    expect((await verify(stranger)).json.report).toMatchObject({ attestor: { status: "unknown" } });
  });

  test.each<[string, (note: Record<string, unknown>) => void]>([
    ["another ledger", (note) => Object.assign(note, { g: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k" })],
    ["another key", (note) => Object.assign(note, { a: testAttestor("other").keySha256 })],
    ["another chain", (note) => Object.assign(note, { c: "eip155:8453" })],
    ["another hash", (note) => Object.assign(note, { h: "0".repeat(64) })],
    ["another level", (note) => Object.assign(note, { l: "safe" })],
    ["another transaction", (note) => Object.assign(note, { t: bundle.attest.txnId })],
  ])("refuses a note of %s under our own signature", async (_, change) => {
    const note = { ...parseNote(bundle.attest.note) };
    change(note);
    const { signature: _signature, ...unsigned } = bundle;
    const lie = signBundle(attestor, { ...unsigned, attest: { ...bundle.attest, note: encodeNote(note) } });
    expect(await failures(lie)).toEqual(["note"]);
  });

  test("compares a bundle with the ledger that our own signature alone does not prove", async () => {
    const { signature: _, ...unsigned } = bundle;
    const resigned = (attest: Partial<ProofBundle["attest"]>) =>
      signBundle(attestor, { ...unsigned, attest: { ...bundle.attest, ...attest } });
    expect(await failures(resigned({ round: bundle.attest.round + 1 }), "?chain=1")).toEqual(["chainAttest"]);
    for (const lie of [{ b: bundle.source.txnId }, { n: 1 }, { u: 1 }]) {
      const [member, stated] = Object.entries(lie)[0] as [string, string | number];
      const note = { ...parseNote(bundle.attest.note), ...lie };
      const { status, json } = await verify(resigned({ note: encodeNote(note) }), "?chain=1");
      const { [member as keyof typeof note]: computed } = parseNote(bundle.attest.note) as typeof note;
      expect([status, (json.report as Report).failures]).toEqual([
        400,
        [
          { check: "chainSource", pointer: `/attest/note/${member}`, stated: `${stated}`, computed: `${computed}` },
          expect.objectContaining({ check: "chainAttest", pointer: "/attest/note" }),
        ],
      ]);
    }
    // A transaction that exists, but is not an attestation.
    expect(await failures(resigned({ txnId: bundle.source.txnId }), "?chain=1")).toEqual(["chainAttest"]);
    const unknown = await verify(resigned({ txnId: `${"A".repeat(51)}Q` }), "?chain=1");
    expect(unknown).toMatchObject({ status: 404, json: { code: "record_not_found", check: "chainAttest" } });
  });

  test("answers a flood with 503 and Retry-After, while purchases continue", async () => {
    const { signature: _, ...unsigned } = bundle;
    const flood = new AbortController();
    const refused = Promise.withResolvers<Response>();
    const statuses: number[] = [];
    for (let n = 0; n < 200; n++) {
      const txnId = `${String.fromCharCode(65 + (n % 26)).repeat(50)}${String.fromCharCode(65 + Math.floor(n / 26))}Q`;
      const body = JSON.stringify(signBundle(attestor, { ...unsigned, attest: { ...bundle.attest, txnId } }));
      const request = { method: "POST", headers: { "content-type": "application/json" }, body, signal: flood.signal };
      void fetch(`${deployment.url}/verify?chain=1`, request).then(
        (response) => {
          statuses.push(response.status);
          if (response.status === 503) refused.resolve(response);
        },
        () => undefined,
      );
    }
    const answer = await refused.promise;
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: "over_capacity" });
    expect(await buy(deployment.sandbox.sampleTransactions.algorand)).toHaveProperty("signature");
    flood.abort();
    expect([...new Set(statuses)].toSorted()).toEqual(statuses.includes(404) ? [404, 503] : [503]);
  });

  test("sells nothing while the journal's disk is low, with disk_low at /ready, and still returns delivered bundles", async () => {
    await deployment.restart({ journal: { disk_reserve_mib: 1_000_000_000 } });
    const ready = await fetch(`${deployment.url}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { reasons: [expect.stringMatching(/^disk_low: /)] },
    ]);
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const payment = await sign(`${deployment.url}/attest`, body, algorandClient(deployment.sandbox));
    const sale = await pay(`${deployment.url}/attest`, body, payment);
    expect(sale).toMatchObject({ status: 503, json: { code: "disk_low" } });
    const given = await fetch(`${deployment.url}/bundles/${bundleId(bundle)}`);
    expect([given.status, await given.json()]).toEqual([200, bundle]);
    await deployment.restart({ journal: { disk_reserve_mib: undefined } });
    expect((await fetch(`${deployment.url}/ready`)).status).toBe(200);
    expect(await pay(`${deployment.url}/attest`, body, payment)).toMatchObject({ status: 200 });
  });

  test.each([
    ["no JSON", "{", 400, "body_not_json"],
    ["another JSON", "[]", 400, "bundle_rejected"],
    ["1 MB of brackets", "[".repeat(1024 * 1024), 400, "bundle_rejected"],
    ["3 MB", " ".repeat(3 * 1024 * 1024), 413, "body_too_large"],
  ])("refuses %s", async (_, body, status, code) => {
    expect(await verify(body)).toMatchObject({ status, json: { code } });
  });
});

describe("recorded MainNet transactions", () => {
  test("are attested with their real ids and bytes", async () => {
    const transactions = vectors.json("replay/algorand/transactions/mainnet.json");
    const replay = await startDeployment({ networks: [], replayDir: join(RECORDED, "replay") });
    try {
      for (const { txid, txnMsgpackBase64 } of transactions.slice(0, 3)) {
        const real = await buy(txid, replay);
        expect(real.source).toMatchObject({ chain: "algorand", txnId: txid, txnBytesBase64: txnMsgpackBase64 });
        expect(parseNote(real.attest.note)).toMatchObject({
          c: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
          g: replay.sandbox.ledgerCaip2,
          t: txid,
        });
        const verified = await post(`${replay.url}/verify?chain=1`, real);
        expect(verified.json).toMatchObject({ verified: true, checks: { chainSource: "pass", chainAttest: "pass" } });
      }
    } finally {
      await replay.close();
    }
  });
});
