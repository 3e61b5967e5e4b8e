import { encodeQuantity, encodeRlp, type RlpItem } from "@attestd/proof/base";
import { fromHex, toHex, utf8 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { testAttestor, testBundle, testHistory } from "../../test/bundles/bundles.ts";

/** A ledger that does not exist: what is signed here is marked as not real wherever it is shown. */
const EXAMPLE_LEDGER = "algorand:attestd-example-ledger-not-real-";

/** An attestation of a transfer of 25 USDC on Base, and its key list. The same in every build. */
export function exampleFile(): string {
  const hedged = testAttestor("example of the page");
  const { secretKey } = ml_dsa65.keygen(hedged.pqSeed);
  const attestor = {
    ...hedged,
    sign: (message: Uint8Array) => ml_dsa65.sign(message, secretKey, { extraEntropy: false }),
  };
  const ledger = EXAMPLE_LEDGER;
  const bundle = testBundle({ attestor, ledger, chain: "base", txnBytes: usdcTransfer(), round: 1_000, level: "safe" });
  return JSON.stringify({ bundle, history: testHistory([{ attestor, fromRound: 1 }], ledger) });
}

/** The key of an account that has nothing. */
const PAYER = sha256(utf8("payer of the page's example"));

/** An EIP-1559 transaction that calls `transfer` of USDC, with its payer's signature. */
export function usdcTransfer(): Uint8Array {
  const word = (bytes: Uint8Array) => toHex(bytes).padStart(64, "0");
  const call = fromHex(`a9059cbb${word(utf8("receiver-of-25-usdc!"))}${word(encodeQuantity(25_000_000))}`);
  const quantities = [8453, 7, 1_000_000, 20_000_000, 60_000].map(encodeQuantity);
  const token = fromHex(RAILS.base.usdc.slice(2).toLowerCase());
  const unsigned = [...quantities, token, new Uint8Array(), call, []];
  const digest = keccak_256(Uint8Array.of(2, ...encodeRlp(unsigned)));
  const signature = secp256k1.sign(digest, PAYER, { prehash: false, format: "recovered" });
  const quantity = (part: Uint8Array) => encodeQuantity(BigInt(`0x${toHex(part)}`));
  const [yParity, r, s] = [signature.subarray(0, 1), signature.subarray(1, 33), signature.subarray(33)].map(quantity);
  return Uint8Array.of(2, ...encodeRlp([...unsigned, yParity, r, s] as RlpItem[]));
}
