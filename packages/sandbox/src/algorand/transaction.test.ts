import { encodeMsgpack, type MsgpackKey, type MsgpackMap, type MsgpackValue, RawString } from "@attestd/proof/algorand";
import { concatBytes } from "@attestd/proof/encoding";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CONSENSUS } from "./consensus.ts";
import { msgpackEnd } from "./msgpack-end.ts";
import { Rejection } from "./rejection.ts";
import { decodeSignedTransactions } from "./transaction.ts";
import { verifyGroup } from "./verify.ts";

const NAMES =
  "type gen snd rekey fee fv lv note gh grp lx rcv amt close xaid apar caid sig msig lsig pqsig txn sgnr sch slt pk thr v subsig".split(
    " ",
  );

/** Values that a hostile client may put anywhere. */
const { value } = fc.letrec<{ value: MsgpackValue; map: MsgpackMap }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<MsgpackValue>(null, true, false, "pay", "axfer", "", 0, 1000, 2n ** 64n - 1n),
    fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(1), new Uint8Array(64).fill(2), new Uint8Array()),
    fc.constant(new RawString(Uint8Array.of(0xff, 0xfe))),
    fc.uint8Array({ maxLength: 4 }),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("map"),
  ),
  map: fc
    .array(fc.tuple(fc.constantFrom<MsgpackKey>(...NAMES), tie("value")), { maxLength: 8 })
    .map((members) => new Map(members)),
}));
const MEMBERS = NAMES.slice(0, 14);

/** A payment with one member changed. */
const payment = fc.tuple(fc.constantFrom<MsgpackKey>(...MEMBERS), value).map(([name, member]): MsgpackValue => {
  const snd = new Uint8Array(32).fill(1);
  return new Map<MsgpackKey, MsgpackValue>([
    ["type", "pay"],
    ["snd", snd],
    ["lv", 5],
    ["gen", "x"],
    [name, member],
  ]);
});
const envelope = fc
  .tuple(fc.oneof(payment, value), value, fc.constantFrom("sig", "msig", "lsig", "pqsig"))
  .map(([txn, signature, kind]): MsgpackValue => {
    const members = [["txn", txn] as const, [kind, signature] as const];
    return new Map(members.filter(([, member]) => member !== null));
  });

test("any bytes are a group or are rejected", () => {
  const bodies = fc.oneof(
    envelope.map(encodeMsgpack),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(fc.oneof(envelope, value), { maxLength: 3 }).map((values) => concatBytes(...values.map(encodeMsgpack))),
  );
  const special = { feeSink: "", rewardsPool: "" };
  fc.assert(
    fc.property(bodies, fc.constantFrom(CONSENSUS.v41, CONSENSUS.v42), (body, consensus) => {
      try {
        verifyGroup(decodeSignedTransactions(body), special, consensus);
      } catch (error) {
        expect(error).toBeInstanceOf(Rejection);
      }
    }),
    { numRuns: 4000 },
  );
});

test("the end of a value is found as its encoding is long, and never in a part of it", () => {
  fc.assert(
    fc.property(value, fc.uint8Array({ maxLength: 3 }), fc.nat(), (given, after, cut) => {
      const bytes = encodeMsgpack(given);
      expect(msgpackEnd(concatBytes(after, bytes, after), after.length)).toBe(after.length + bytes.length);
      expect(msgpackEnd(bytes.subarray(0, cut % bytes.length), 0)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
