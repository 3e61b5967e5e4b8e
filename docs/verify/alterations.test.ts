import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bundle, verify } from "@attestd/proof";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nativeCrypto } from "../../packages/proof/test/native-crypto.ts";
import { RECORDED, vectors } from "../../packages/proof/test/vectors.ts";
import {
  signBundle,
  type TestBlock,
  testAlgorandBlock,
  testAttestor,
  testBaseBlock,
  testBaseTransaction,
  testBlockBundle,
  testBundle,
  testHistory,
  testInclusionBundle,
} from "../../test/bundles/bundles.ts";
import { PROGRAMS, type Program, printed, run, type Verdict } from "./programs.ts";
import { replayedBlocks } from "./replayed.ts";

/* Beyond the table: what the library says of bundles altered by chance, and of real ones, the programs say too. */

const attestor = testAttestor();
const history = testHistory([{ attestor, fromRound: 1 }]);

/** The library's verdict. */
function ours(text: string): Verdict {
  const { checks, attestor: by, warnings, receipt, statement } = verify(text, { trust: history, crypto: nativeCrypto });
  const failed = (Object.keys(checks) as (keyof typeof checks)[]).filter((check) => checks[check] === "fail");
  const stated = checks.note === "pass" ? statement : undefined;
  return { failed, status: by.status, warnings, receipt: receipt?.status, statement: stated };
}

const VALUES = [
  null,
  true,
  0,
  1,
  -1,
  2 ** 53,
  1.5,
  1e300,
  "",
  "a",
  'a"b',
  "é",
  "0x",
  "AAAA",
  "gA==",
  "A===",
  [],
  {},
  [""],
  { a: 1 },
];

/** One member of a bundle, by steps from the outside in, and what becomes of it; `touch` changes one place of its value. */
const alteration = fc.record({
  bundle: fc.constantFrom<Bundle>(
    testBundle({ attestor }),
    testBundle({ attestor, chain: "base", txnBytes: testBaseTransaction(1) }),
    testBlockBundle({ attestor }),
    testInclusionBundle({ attestor, block: testAlgorandBlock(5), index: 3 }),
    testInclusionBundle({ attestor, block: testBaseBlock(40), index: 30 }),
  ),
  steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
  become: fc.oneof(
    fc.constant({ kind: "nothing" as const }),
    fc.record({ kind: fc.constant("value" as const), value: fc.constantFrom(...VALUES) }),
    fc.record({ kind: fc.constant("touch" as const), place: fc.nat(10_000), to: fc.nat(255) }),
  ),
});
type Alteration = typeof alteration extends fc.Arbitrary<infer A> ? A : never;

/** The bundle, altered and signed again, so that the signature finds nothing. */
function altered({ bundle, steps, become }: Alteration): string {
  const { signature: _, ...unsigned } = structuredClone(bundle) as Bundle & Record<string, unknown>;
  let at: Record<string, unknown> = unsigned;
  let name = "";
  for (const step of steps) {
    const names = Object.keys(at);
    name = names[step % names.length] ?? "";
    const next = at[name];
    if (step === steps.at(-1) || typeof next !== "object" || next === null) break;
    at = next as Record<string, unknown>;
  }
  if (become.kind === "nothing") delete at[name];
  else if (become.kind === "value") at[name] = become.value;
  else at[name] = touched(at[name], become.place, become.to);
  return JSON.stringify(signBundle(attestor, unsigned));
}

function touched(value: unknown, place: number, to: number): unknown {
  if (typeof value === "number") return value + (to % 3) - 1;
  if (typeof value !== "string" || value === "") return value;
  const at = place % value.length;
  try {
    const bytes = fromBase64(value);
    return toBase64(bytes.with(place % bytes.length, to));
  } catch {
    return `${value.slice(0, at)}${String.fromCharCode(33 + (to % 90))}${value.slice(at + 1)}`;
  }
}

/** Real transactions, headers and blocks. */
function* realBundles(): Generator<Bundle> {
  for (const { txnMsgpackBase64 } of vectors.json("algorand/mainnet/signed-transactions.json"))
    yield testBundle({ attestor, txnBytes: fromBase64(txnMsgpackBase64) });
  const bare: TestBlock = { chain: "algorand", header: new Uint8Array(), transactions: [], prove: () => fail() };
  for (const { headerMsgpackBase64 } of vectors.json("algorand/mainnet/headers-41000000.json"))
    yield testBlockBundle({ attestor, block: { ...bare, header: fromBase64(headerMsgpackBase64) } });
  for (const of of replayedBlocks(join(RECORDED, "replay"))) {
    yield testBlockBundle({ attestor, block: of });
    for (const index of of.transactions.keys()) yield testInclusionBundle({ attestor, block: of, index });
  }
}

function fail(): never {
  throw new Error("a header alone proves no inclusion");
}

let folder: string;
let keys: string;
const files = new Map<string, string>();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-alterations-"));
  keys = join(folder, "keys.json");
  writeFileSync(keys, JSON.stringify(history));
  const real = [...realBundles()].map((bundle) => JSON.stringify(bundle));
  const texts = [...real, ...fc.sample(alteration, { numRuns: 150, seed: 8 }).map(altered)];
  expect(real.filter((text) => ours(text).failed.length > 0)).toEqual([]);
  for (const [index, text] of texts.entries()) {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, text);
    files.set(file, text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(Object.entries(PROGRAMS))("the verifier in %s", (language, find) => {
  it("says of real bundles, and of bundles altered by chance, what the library says", async ({ skip }) => {
    const program: Program = await find(folder);
    if ("missing" in program) {
      console.warn(`skipped: the verifier in ${language}: ${program.missing}`);
      return skip();
    }
    const { stdout } = await run(program.command, [...program.args, ...files.keys(), keys]);
    expect(stdout.trim().split("\n")).toEqual([...files].flatMap(([file, text]) => printed(file, text, ours(text))));
  });
});
