import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProofBundle, parseKeyHistory, verify } from "@attestd/proof";
import {
  signBundle,
  testAttestor,
  testBaseTransaction,
  testBundle,
  testHistory,
  testPayment,
} from "@attestd/proof/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

const VERIFIER = fileURLToPath(new URL("verify.mjs", import.meta.url));
const SANDBOX = `algorand:${"s".repeat(32)}`;
const [attestor, successor, stranger] = [testAttestor(), testAttestor("successor"), testAttestor("stranger")];
const history = testHistory([
  { attestor, fromRound: 500 },
  { attestor: successor, fromRound: 2000 },
]);
const revoked = testHistory([{ attestor, fromRound: 500, revokedRound: 1500 }]);
const sandbox = testHistory([{ attestor, fromRound: 500 }], SANDBOX);

const algorand = testBundle();
const base = testBundle({ chain: "base", txnBytes: testBaseTransaction(1), level: "safe" });
const other = testBundle({ txnBytes: testPayment("other") });
const text = JSON.stringify(algorand);

function resigned(change: (bundle: ProofBundle) => void): ProofBundle {
  const bundle = structuredClone(algorand);
  change(bundle);
  const { signature: _, ...unsigned } = bundle;
  return signBundle(attestor, unsigned);
}

const changedNote = (from: string | RegExp, to: string) =>
  resigned(({ attest }) => {
    attest.note = attest.note.replace(from, to);
  });

/** Bundles with the verdict that is right, and the history to judge them by. */
const cases: [name: string, verified: boolean, bundle: ProofBundle | string, keys?: object][] = [
  ["an Algorand transaction", true, algorand],
  ["a Base transaction", true, base],
  ["a bundle without source.chain", true, resigned(({ source }) => delete source.chain)],
  ["a bundle with other spacing", true, JSON.stringify(algorand, null, 2)],
  ["a bundle of the current key", true, testBundle({ attestor: successor, round: 2000 })],
  ["a bundle of a sandbox, by the sandbox's keys", true, testBundle({ ledger: SANDBOX }), sandbox],
  ["a bundle of a sandbox, by other keys", false, testBundle({ ledger: SANDBOX })],
  ["a bundle by a stranger", false, testBundle({ attestor: stranger })],
  ["a bundle of a key that was replaced by then", false, testBundle({ round: 2000 })],
  ["a bundle of a revoked key", false, algorand, revoked],
  ["a changed round", false, { ...algorand, attest: { ...algorand.attest, round: 1001 } }],
  ["another's signature", false, { ...algorand, signature: other.signature }],
  ["another hash", false, resigned(({ source }) => Object.assign(source, { hashSha256: "0".repeat(64) }))],
  ["another id", false, resigned(({ source }) => Object.assign(source, { txnId: other.source.txnId }))],
  ["other bytes", false, resigned(({ source }) => Object.assign(source, { txnBytesBase64: "AAAA" }))],
  [
    "another address",
    false,
    resigned(({ attestor: by }) => Object.assign(by, { algorandAddress: stranger.algorandAddress })),
  ],
  ["a round that is text", false, resigned(({ attest }) => Object.assign(attest, { round: "1000" }))],
  ["an id that is none", false, resigned(({ attest }) => Object.assign(attest, { txnId: attest.txnId.slice(1) }))],
  ["an unknown member", false, resigned((bundle) => Object.assign(bundle, { extra: 1 }))],
  ["base64 without padding", false, text.replace(/=+"/, '"')],
  ["a member twice", false, text.replace('"round":1000', '"round":999,"round":1000')],
  ["a member twice, once escaped", false, text.replace('"round":1000', '"\\u0072ound":999,"round":1000')],
  ["a member once, escaped", true, text.replace('"round":1000', '"\\u0072ound":1000')],
  ["a note on another ledger", false, changedNote(/"g":"[^"]*"/, `"g":"${SANDBOX}"`)],
  ["a note of another hash", false, changedNote(/"h":"../, '"h":"00')],
  ["a note of another level", false, changedNote("finalized", "safe")],
  ["a note with white space", false, changedNote(",", ", ")],
  ["no JSON", false, text.slice(1)],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-verify-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | object): string {
  const path = join(folder, name.replace(/\W/g, "-"));
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** Exit code of the independent verifier. */
function run(bundle: string, keys: string): Promise<number | string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [VERIFIER, bundle, keys], (error) => resolve(error ? (error.code ?? "killed") : 0));
  });
}

it.concurrent.each(cases)(
  "%s: the independent verifier and ours say %s",
  async (name, verified, bundle, keys = history) => {
    expect(await run(write(`${name}.json`, bundle), write(`${name}.keys.json`, keys))).toBe(verified ? 0 : 1);
    const trust = parseKeyHistory(keys);
    const input = typeof bundle === "string" ? bundle : JSON.stringify(bundle);
    const ours = () => verify(input, { trust }).verified;
    if (name === "no JSON") expect(ours).toThrow();
    else expect(ours()).toBe(verified);
  },
);
