import type { BaseInclusion } from "@attestd/proof/base";
import {
  testAlgorandBlock,
  testBaseBlock,
  testBaseTransaction,
  testBlockBundle,
  testBundle,
  testInclusionBundle,
} from "../../../test/bundles/bundles.ts";
import { type Case, is } from "./case.ts";
import {
  altered,
  attestedBy,
  baseBlock,
  baseInclusion,
  block,
  blocks,
  call,
  deposit,
  first,
  inclusion,
  legacy,
  lightHeader,
  local,
  nameless,
  now,
  ofBase,
  payment,
  SANDBOX,
  SEED_LEAF,
  text,
  third,
  transfer,
  v38,
  withProof,
} from "./ingredients.ts";
import { recordedInclusions, recordedStateProofs } from "./recorded.ts";

/** Bundles that every verifier takes. */
export const VERIFIED: readonly Case[] = [
  // Transactions, verified.
  is("algorand payment", payment),
  is("algorand application call", testBundle({ ...now, txnBytes: call })),
  is("algorand payment that names no network", testBundle({ ...now, txnBytes: nameless })),
  is("base transfer", transfer),
  is(
    "base transfer seen as included",
    testBundle({ ...now, chain: "base", txnBytes: testBaseTransaction(2), level: "included" }),
    {
      warnings: ["included_only"],
    },
  ),
  is(
    "base transfer that failed",
    testBundle({ ...now, chain: "base", txnBytes: testBaseTransaction(1), statement: { s: 0 } }),
    {
      statement: {
        block: { hash: `0x${"b10c".repeat(16)}`, height: 46_000_000, time: 1_780_000_000 },
        outcome: "failed",
      },
      warnings: ["transaction_failed"],
    },
  ),
  is("a transaction of the first block and second", testBundle({ ...now, statement: { n: 0, u: 0 } }), {
    statement: { block: { hash: `${"BLOCK".repeat(10)}AA`, height: 0, time: 0 }, outcome: "not_applicable" },
  }),
  is(
    "a transaction of the last height and second that JSON has",
    testBundle({ ...now, statement: { n: 2 ** 53 - 1, u: 2 ** 53 - 1 } }),
    {
      statement: {
        block: { hash: `${"BLOCK".repeat(10)}AA`, height: 9007199254740991, time: 9007199254740991 },
        outcome: "not_applicable",
      },
    },
  ),
  is("base legacy transaction", ofBase(legacy(Uint8Array.of(0x42, 0x2d)))),
  is("base legacy transaction before EIP-155", ofBase(legacy(Uint8Array.of(27)))),
  is("base deposit", ofBase(deposit)),
  is(
    "no source.chain",
    altered(payment, ({ source }) => delete source.chain),
  ),
  is("other spacing and order", JSON.stringify(payment, null, 2)),
  is("an escaped member name", text.replace('"round"', '"\\u0072ound"')),
  is("retired key in its last round", testBundle({ attestor: first, round: 999 }), { status: "retired" }),
  is("current key in its first round", testBundle({ attestor: third, round: 2000 })),
  is("sandbox, by its own keys", testBundle({ attestor: local, ledger: SANDBOX }), {
    keys: "sandbox",
    warnings: ["sandbox"],
  }),
  // Blocks, verified.
  is("algorand block", block),
  is("base block", baseBlock),
  is("sandbox block, by its own keys", testBlockBundle({ attestor: local, ledger: SANDBOX }), {
    keys: "sandbox",
    warnings: ["sandbox"],
  }),
  // Inclusions, verified.
  is("algorand inclusion", inclusion),
  is("algorand inclusion in a block of one", testInclusionBundle({ ...now, block: testAlgorandBlock(1) })),
  is("algorand inclusion in a plain tree", testInclusionBundle({ ...now, block: blocks.plain, index: 4 })),
  is("algorand inclusion with a light header", withProof(inclusion, { lightHeader })),
  ...recordedInclusions.map(({ consensus, block, index }) =>
    is(`algorand inclusion as a node of ${consensus} proved it`, testInclusionBundle({ ...now, block, index })),
  ),
  ...recordedStateProofs.map(({ round, block, lightHeader }) =>
    is(
      `algorand inclusion under a node's state proof, round ${round}`,
      withProof(testInclusionBundle({ ...now, block }), { lightHeader }),
    ),
  ),
  is("algorand inclusion under a state proof before consensus v39", attestedBy(v38, SEED_LEAF)),
  is(
    "algorand inclusion without source.chain",
    altered(inclusion, ({ source }) => delete source.chain),
  ),
  is("base inclusion", baseInclusion, { receipt: "succeeded" }),
  is("base inclusion of the first", testInclusionBundle({ ...now, block: blocks.base, index: 0 }), {
    receipt: "succeeded",
  }),
  is("base inclusion of the second", testInclusionBundle({ ...now, block: blocks.base, index: 1 }), {
    receipt: "succeeded",
  }),
  is("base inclusion in a block of one", testInclusionBundle({ ...now, block: testBaseBlock(1) }), {
    receipt: "succeeded",
  }),
  is(
    "base inclusion without a receipt",
    altered(baseInclusion, (copy) => delete (copy.inclusion as BaseInclusion).receipt),
  ),
];
