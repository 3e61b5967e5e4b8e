import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import algosdk from "algosdk";
import { recoverTypedDataAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORIZATION_TYPES } from "../../../test/helpers/eip3009.ts";
import { ALGORAND_OFFER, BASE_OFFER } from "../test/fake-service.ts";
import { keyWallet } from "./wallet.ts";

const required = (...accepts: PaymentRequirements[]): PaymentRequired => ({
  x402Version: 2,
  resource: { url: "http://service/attest" },
  accepts,
});

describe("a wallet with a Base key", () => {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  const wallet = keyWallet({ base: { address, privateKey } });

  test("pays on Base and nowhere else", () => {
    expect(wallet.payer(BASE_OFFER.network)).toBe(address);
    expect(wallet.payer(ALGORAND_OFFER.network)).toBeUndefined();
    expect(wallet.payer("eip155:1")).toBeUndefined();
  });

  test("signs exactly the offer, in the domain that it names (EIP-3009, EIP-712)", async () => {
    const { x402Version, accepted, payload } = await wallet.sign(
      required(ALGORAND_OFFER, BASE_OFFER),
      BASE_OFFER,
      1_800_000_000_000,
    );
    expect(x402Version).toBe(2);
    expect(accepted).toEqual(BASE_OFFER);
    const { authorization, signature } = payload as {
      signature: `0x${string}`;
      authorization: Record<string, string>;
    };
    expect(authorization).toMatchObject({ from: address, to: BASE_OFFER.payTo, value: "1000" });
    expect([authorization.validAfter, authorization.validBefore]).toEqual(["1799999400", "1800000120"]);
    const signer = await recoverTypedDataAddress({
      domain: {
        name: "USD Coin (attestd sandbox)",
        version: "2",
        chainId: 8453,
        verifyingContract: BASE_OFFER.asset as `0x${string}`,
      },
      types: AUTHORIZATION_TYPES,
      primaryType: "TransferWithAuthorization",
      message: authorization as never,
      signature,
    });
    expect(signer).toBe(address);
  });

  test("refuses a key of another address", async () => {
    const other = privateKeyToAccount(generatePrivateKey()).address;
    const wrong = keyWallet({ base: { address: other, privateKey } });
    await expect(wrong.sign(required(BASE_OFFER), BASE_OFFER, 0)).rejects.toThrow(address.toLowerCase());
  });
});

describe("a wallet with an Algorand key", () => {
  const genesisHash = Buffer.alloc(32, 7).toString("base64");
  const params = {
    "consensus-version": "future",
    fee: 0,
    "genesis-hash": genesisHash,
    "genesis-id": "own-v1",
    "last-round": 1000,
    "min-fee": 1000,
  };
  const algod = createServer((_, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(params)),
  );
  beforeAll(() => new Promise<void>((resolve) => algod.listen(0, "127.0.0.1", resolve)));
  afterAll(() => new Promise((resolve) => algod.close(resolve)));

  const account = algosdk.generateAccount();
  const key = { address: account.addr.toString(), mnemonic: algosdk.secretKeyToMnemonic(account.sk) };
  const offer = {
    ...ALGORAND_OFFER,
    payTo: algosdk.generateAccount().addr.toString(),
    extra: { feePayer: algosdk.generateAccount().addr.toString() },
  };
  const sign = async (count: number) => {
    const wallet = keyWallet(
      { algorand: key },
      { algodUrl: `http://127.0.0.1:${(algod.address() as AddressInfo).port}` },
    );
    const payments = await Promise.all(Array.from({ length: count }, () => wallet.sign(required(offer), offer, 0)));
    return payments.map(({ payload }) => {
      const { paymentGroup, paymentIndex } = payload as { paymentGroup: string[]; paymentIndex: number };
      return algosdk.decodeSignedTransaction(Uint8Array.fromBase64(paymentGroup[paymentIndex] ?? "")).txn;
    });
  };

  test("signs for the ledger of its algod", async () => {
    const [txn] = await sign(1);
    expect(Buffer.from(txn?.genesisHash ?? []).toString("base64")).toBe(genesisHash);
    expect(txn?.sender.toString()).toBe(key.address);
    expect(txn?.assetTransfer).toMatchObject({ amount: 1000n, assetIndex: 31566704n });
    expect(txn?.assetTransfer?.receiver.toString()).toBe(offer.payTo);
  });

  test("makes as many payments as it signs, also at once", async () => {
    const txids = (await sign(20)).map((txn) => txn.txID());
    expect(new Set(txids).size).toBe(20);
  });
});
