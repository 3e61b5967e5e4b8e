import { encodeRlp, utf8 } from "@attestd/proof";
import { encodeQuantity } from "@attestd/proof/base/rlp";
import { testAttestor, testBundle, testHistory } from "../../test/bundles/bundles.ts";

/** A ledger that no one runs: what is signed here is marked as not real wherever it is shown. */
const EXAMPLE_LEDGER = "algorand:attestd-example-ledger-not-real-";
const USDC = Uint8Array.fromHex("833589fcd6edb6e08f4c7c32d4f71b54bda02913");

/** An attestation of a transfer of 25 USDC on Base, with the key list that it needs. The same in every build. */
export function exampleFile(): string {
  const attestor = testAttestor("example of the page");
  const ledger = EXAMPLE_LEDGER;
  const bundle = testBundle({ attestor, ledger, chain: "base", txnBytes: usdcTransfer(), round: 1_000, level: "safe" });
  return JSON.stringify({ bundle, history: testHistory([{ attestor, fromRound: 1 }], ledger) });
}

/** An EIP-1559 transaction that calls `transfer` of USDC, its signature made up. */
export function usdcTransfer(): Uint8Array {
  const to = utf8("receiver-of-25-usdc!");
  const word = (bytes: Uint8Array) => {
    const padded = new Uint8Array(32);
    padded.set(bytes, 32 - bytes.length);
    return padded;
  };
  const call = [Uint8Array.fromHex("a9059cbb"), word(to), word(encodeQuantity(25_000_000))];
  const data = Uint8Array.from(call.flatMap((part) => [...part]));
  const quantities = [8453, 7, 1_000_000, 20_000_000, 60_000].map(encodeQuantity);
  const [r, s] = [new Uint8Array(32).fill(17), new Uint8Array(32).fill(34)];
  return Uint8Array.of(2, ...encodeRlp([...quantities, USDC, new Uint8Array(), data, [], new Uint8Array(), r, s]));
}
