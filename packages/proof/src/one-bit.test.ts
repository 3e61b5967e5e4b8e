import { describe, expect, it } from "vitest";
import {
  testAlgorandBlock,
  testAttestor,
  testBaseBlock,
  testHistory,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { nativeCrypto } from "../test/native-crypto.ts";
import type { InclusionBundle } from "./bundle.ts";
import { fromBase64, toBase64 } from "./encoding.ts";
import type { CheckName } from "./report.ts";
import type { Crypto } from "./signature.ts";
import { verify } from "./verify.ts";

const attestor = testAttestor();
const trust = testHistory([{ attestor, fromRound: 500 }]);

/** Accepts every signature, as if the attestor had signed the change: the other checks must find it. */
const signsAnything: Crypto = { ...nativeCrypto, mldsa65: { verify: () => true } };

/** Returns the checks that fail after a change; "schema" if it is no longer a bundle. */
function failing(bundle: InclusionBundle, change: (copy: InclusionBundle) => void, crypto: Crypto): CheckName[] {
  const copy = structuredClone(bundle);
  change(copy);
  const { verified, failures } = verify(copy, { trust, crypto });
  expect(verified).toBe(failures.length === 0);
  return failures.map(({ check }) => check);
}

/** Flips each bit of some bytes in turn. */
function* flips(base64: string): Generator<string> {
  const bytes = fromBase64(base64);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = bytes.slice();
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    yield toBase64(changed);
  }
}

type Member = { base64: string; set: (copy: InclusionBundle, value: string) => void; check: CheckName };

function inBlockMap(base64: string): Member {
  return { base64, set: ({ inclusion }, value) => Object.assign(inclusion, { stibBase64: value }), check: "inclusion" };
}

/** The members of an inclusion bundle that are bytes, each with the check that must find a change. */
function members({ block, source, inclusion }: InclusionBundle): Record<string, Member> {
  const list = (name: string, values: readonly string[], of: (copy: InclusionBundle) => string[]) =>
    values.map((base64, place): [string, Member] => [
      `${name} ${place}`,
      { base64, set: (copy, value) => void of(copy).splice(place, 1, value), check: "inclusion" },
    ]);
  const proof =
    inclusion.kind === "mpt"
      ? [
          ...list("node", inclusion.nodes, (copy) => (copy.inclusion as typeof inclusion).nodes),
          ...list("receipt's node", inclusion.receipt?.nodes ?? [], (copy) => {
            return (copy.inclusion as typeof inclusion).receipt?.nodes ?? [];
          }),
        ]
      : [
          ...list("sibling", inclusion.siblings, (copy) => (copy.inclusion as typeof inclusion).siblings),
          ["in-block map", inBlockMap(inclusion.stibBase64)] as const,
        ];
  return {
    header: {
      base64: block.headerBase64,
      set: (copy, value) => Object.assign(copy.block, { headerBase64: value }),
      check: "hashPreimage",
    },
    transaction: {
      base64: source.txnBytesBase64,
      set: (copy, value) => Object.assign(copy.source, { txnBytesBase64: value }),
      check: "hashPreimage",
    },
    ...Object.fromEntries(proof),
  };
}

describe.each([
  ["an Algorand inclusion", testInclusionBundle({ attestor, block: testAlgorandBlock(5), index: 4 })],
  [
    "an Algorand inclusion of an old round",
    testInclusionBundle({ attestor, block: testAlgorandBlock(3, "txn"), index: 1 }),
  ],
  ["a Base inclusion", testInclusionBundle({ attestor, block: testBaseBlock(18), index: 17 })],
])("one bit of %s", (_, bundle) => {
  it.each(Object.entries(members(bundle)))("in its %s is missed by no check", (_name, { base64, set, check }) => {
    for (const changed of flips(base64))
      expect(failing(bundle, (copy) => set(copy, changed), signsAnything)).toContain(check);
  });

  it.each<[string, CheckName, (copy: InclusionBundle, bit: number) => void]>([
    ["index", "inclusion", ({ inclusion }, bit) => Object.assign(inclusion, { index: inclusion.index ^ (1 << bit) })],
    ["height", "blockHash", ({ block }, bit) => Object.assign(block, { height: block.height ^ (1 << bit) })],
  ])("in its %s is missed by no check", (_name, check, change) => {
    for (let bit = 0; bit < 31; bit++)
      expect(failing(bundle, (copy) => change(copy, bit), signsAnything)).toContain(check);
  });
});

it("of a note, its payment commitment included, does not fit the signature", () => {
  const bundle = testInclusionBundle({ attestor, block: testBaseBlock(2), index: 1 });
  const { note } = bundle.attest;
  for (let bit = 0; bit < note.length * 7; bit++) {
    const place = Math.floor(bit / 7);
    const character = String.fromCharCode(note.charCodeAt(place) ^ (1 << (bit % 7)));
    const changed = note.slice(0, place) + character + note.slice(place + 1);
    expect(failing(bundle, ({ attest }) => Object.assign(attest, { note: changed }), nativeCrypto)).toContain(
      "signature",
    );
  }
});
