import { createHash } from "node:crypto";
import { encodeAddress } from "@attestd/proof/algorand";
import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { falconAccount, verifyFalcon } from "@attestd/proof/falcon";
import pino from "pino";
import { afterAll, describe, expect, it } from "vitest";
import recorded from "../../../proof/test/recorded/falcon-account.json" with { type: "json" };
import { systemClock } from "../lib/clock.ts";
import { accountForm } from "./account-form.ts";
import { falconKey } from "./falcon.ts";
import { guardKey } from "./guard.ts";

const never = new AbortController().signal;

/* Algorand's own Falcon makes the same keys and addresses from the same bytes. */

describe("a Falcon key", async () => {
  const { entropy, publicKey, salt, account, message, signature } = recorded
    .accounts[1] as (typeof recorded.accounts)[0];
  const key = await falconKey(fromBase64(entropy));
  afterAll(() => key.close());

  it("is the one that Algorand's Falcon makes of the seed", () => expect(toBase64(key.publicKey)).toBe(publicKey));

  it("has go-algorand's account and salt", () => {
    const form = accountForm({ algorithm: "falcon-1024", publicKey: key.publicKey });
    expect({ ...form, account: toBase64(form.account) }).toEqual({
      account,
      salt,
      minimumFees: 3n,
      minFee: 3_000n,
      maxFee: 30_000n,
    });
  });

  it("signs the same message with the same bytes, whenever and with whichever thread", async () => {
    const bytes = new Uint8Array(300).fill(7);
    const again = await falconKey(fromBase64(entropy));
    const signatures = [await key.sign(bytes, never), await key.sign(bytes, never), await again.sign(bytes, never)];
    await again.close();
    const hashes = signatures.map((one) => createHash("sha256").update(one).digest("hex"));
    // With another value this key would sign one message in two ways, which reveals it. A change of the library needs
    // new keys.
    expect(new Set(hashes)).toEqual(new Set(["15a8cd0c0441b369eaf19a9b3c14d84698834d76db9154e995229dc60af186e5"]));
    expect(verifyFalcon(key.publicKey, bytes, signatures[0] as Uint8Array)).toBe(true);
  });

  it("is guarded: a signature of another message is not passed on", async () => {
    const options = {
      use: "account",
      kind: "seed",
      words: "test",
      log: pino({ level: "silent" }),
      clock: systemClock,
    } as const;
    const sign = (bytes: Uint8Array) =>
      key.sign(
        Uint8Array.from(bytes, (byte) => byte ^ 1),
        never,
      );
    await expect(guardKey({ ...key, sign }, options).sign(fromBase64(message), never)).rejects.toMatchObject({
      details: { failure: "wrong" },
    });
    expect(() => guardKey(key, { ...options, use: "pq" })).toThrow("a key of falcon-1024");
  });

  it("has Algorand's own signatures verified", () =>
    expect(verifyFalcon(fromBase64(publicKey), fromBase64(message), fromBase64(signature))).toBe(true));
});

it.each(
  [
    "KJGJA2DTCQH6LT2I2OH2YO5GIIBFC6JHX5O6UPA5ZZ5ZURFT3LHKMTRCEM",
    "GYBWVYVQIQF6CO7BUMG4UQ66DQYHASFOCA2P7PBYOIPKGWUZIBX4KA3TP4",
    "YJFADDEP6Z3WAWY6ZMLN6MF4T4NK3BXKCVLPCYB6C4SQHE76LLQSZ5JG7Q",
    "II4DO6IIP3EAEQMWJEOLOUU3VBRVCH3WF4MX6UCRUD36DOQJ3YSHA2DV5A",
    "3JXWI6BYYEO6WO6M7TC4SOZAZUWAD4RQO5GJ2ED6MYIEVVLOVJOETMGG4A",
    "FLX4VRWXQ65HD5G5BI2EPHJWMERHA2EBBQ7XMTZLATXH4XEOWPQSIYVIF4",
  ].map((address, index) => [address, index] as const),
)("%s is the address in go-algorand's own test", (address, index) => {
  const { publicKey, salt } = recorded.addresses[index] as (typeof recorded.addresses)[0];
  expect(encodeAddress(falconAccount(salt, fromBase64(publicKey)))).toBe(address);
});

it("has the lowest salt whose account is no point of ed25519", () => {
  const salts = recorded.accounts.map(({ publicKey }) =>
    accountForm({ algorithm: "falcon-1024", publicKey: fromBase64(publicKey) }),
  );
  expect(salts.map(({ salt }) => salt)).toEqual(recorded.accounts.map(({ salt }) => salt));
  expect(new Set(salts.map(({ salt }) => salt)).size).toBeGreaterThan(1);
});
