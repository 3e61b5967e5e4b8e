import { decodeMsgpackMap, encodeMsgpack, getMap, type MsgpackMap } from "@attestd/proof/algorand";
import { describe, expect, test } from "vitest";
import { vectors } from "../../../proof/test/vectors.ts";
import { CONSENSUS } from "./consensus.ts";
import { checkGroupFees } from "./group.ts";
import { decodeSignedTransactions } from "./transaction.ts";
import { verifyGroup } from "./verify.ts";

describe("a payment that go-algorand signed with Falcon-1024", () => {
  const recorded = vectors.text("go-algorand/falcon-signed.hex").trim();
  const nobody = { feeSink: "", rewardsPool: "" };
  const verify = (change: (envelope: MsgpackMap) => void = () => {}, version: keyof typeof CONSENSUS = "v42") => {
    const envelope = decodeMsgpackMap(new Uint8Array(Buffer.from(recorded, "hex")));
    change(envelope);
    verifyGroup(decodeSignedTransactions(encodeMsgpack(envelope)), nobody, CONSENSUS[version]);
  };
  const signature = (envelope: MsgpackMap) => getMap(envelope, "pqsig") as MsgpackMap;
  /** Flips one bit of the member. */
  const flipped = (name: string) => (envelope: MsgpackMap) => {
    const bytes = new Uint8Array(signature(envelope).get(name) as Uint8Array);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    signature(envelope).set(name, bytes);
  };

  test("is verified", () => expect(() => verify()).not.toThrow());

  test("is not known before v42", () => expect(() => verify(undefined, "v41")).toThrow("pq signature not enabled"));

  test("is refused beside an ed25519 signature", () =>
    expect(() => verify((envelope) => envelope.set("sig", new Uint8Array(64).fill(1)))).toThrow(
      "signedtxn should have only one type of signature",
    ));

  test("pays three times the minimum fee", () => {
    const withFee = (fee: number) => {
      const envelope = decodeMsgpackMap(new Uint8Array(Buffer.from(recorded, "hex")));
      getMap(envelope, "txn")?.set("fee", fee);
      checkGroupFees(decodeSignedTransactions(encodeMsgpack(envelope)), CONSENSUS.v42);
    };
    expect(() => withFee(3000)).not.toThrow();
    expect(() => withFee(2999)).toThrow("txgroup with 2.999mA fees is less than 3mA (usage=3.000000 * base=1mA)");
  });

  test("fails with another signature, key, salt, scheme or transaction", () => {
    const failed = "pq signature validation failed: ";
    expect(() => verify(flipped("sig"))).toThrow(`${failed}invalid falcon-1024 signature`);
    expect(() => verify((envelope) => getMap(envelope, "txn")?.set("fee", 5000))).toThrow(
      `${failed}invalid falcon-1024 signature`,
    );
    expect(() => verify(flipped("pk"))).toThrow(`${failed}pq signature authorizer mismatch: derived `);
    expect(() => verify((envelope) => signature(envelope).set("slt", 9))).toThrow(`${failed}pq signature authorizer`);
    expect(() => verify((envelope) => signature(envelope).set("sch", Buffer.from("f9")))).toThrow(
      `${failed}pq signature scheme not supported`,
    );
    expect(() => verify((envelope) => signature(envelope).delete("sig"))).toThrow(`${failed}pq signature is empty`);
  });
});
