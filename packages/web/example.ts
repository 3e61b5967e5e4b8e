import { encodeQuantity, encodeRlp } from "@attestd/proof/base";
import { fromHex, toHex, utf8 } from "@attestd/proof/encoding";
import { RAILS } from "@attestd/proof/rails";
import { testAttestor, testBundle, testHistory } from "../../test/bundles/bundles.ts";

/** A ledger that does not exist: what is signed here is marked as not real wherever it is shown. */
const EXAMPLE_LEDGER = "algorand:attestd-example-ledger-not-real-";

/** An attestation of a transfer of 25 USDC on Base, and its key list. The same in every build. */
export function exampleFile(): string {
  const attestor = testAttestor("example of the page");
  const ledger = EXAMPLE_LEDGER;
  const bundle = testBundle({ attestor, ledger, chain: "base", txnBytes: usdcTransfer(), round: 1_000, level: "safe" });
  return JSON.stringify({ bundle, history: testHistory([{ attestor, fromRound: 1 }], ledger) });
}

/** An EIP-1559 transaction that calls `transfer` of USDC, its signature made up. */
export function usdcTransfer(): Uint8Array {
  const word = (bytes: Uint8Array) => toHex(bytes).padStart(64, "0");
  const call = fromHex(`a9059cbb${word(utf8("receiver-of-25-usdc!"))}${word(encodeQuantity(25_000_000))}`);
  const quantities = [8453, 7, 1_000_000, 20_000_000, 60_000].map(encodeQuantity);
  const token = fromHex(RAILS.base.usdc.slice(2).toLowerCase());
  const [none, r, s] = [new Uint8Array(), new Uint8Array(32).fill(17), new Uint8Array(32).fill(34)];
  return Uint8Array.of(2, ...encodeRlp([...quantities, token, none, call, [], none, r, s]));
}
