import { toBase64, toBase64Url, utf8 } from "@attestd/proof/encoding";
import { algorandSubject } from "./algorand-subject.ts";
import { baseSubject } from "./base-subject.ts";
import type { Corpus } from "./corpus.ts";
import { canonicalJson, type Keys } from "./keys.ts";
import type { Random } from "./random.ts";
import { spell, spoil } from "./text.ts";
import { alterValue, type Json, respelledText } from "./values.ts";

/** What is altered of a bundle. */
type Layer = "bytes" | "proof" | "value" | "note" | "signature" | "spelling" | "text";
const LAYERS: [weight: number, layer: Layer][] = [
  [40, "bytes"],
  [22, "proof"],
  [12, "value"],
  [10, "note"],
  [2, "signature"],
  [8, "spelling"],
  [6, "text"],
];

/** A bundle by one of the keys' signers. */
export function makeBundle(random: Random, keys: Keys, corpus: Corpus): Uint8Array {
  const layers = Array.from(
    {
      length: random.weigh([
        [1, 0],
        [13, 1],
        [5, 2],
        [1, 4],
      ]),
    },
    () => random.weigh(LAYERS),
  );
  const times = (layer: Layer) => layers.filter((one) => one === layer).length;
  const signer = random.pick(keys.signers);
  const bundle = unsigned(random, keys, signer, corpus, { bytes: times("bytes"), proof: times("proof") });
  const sign = () => signer.attestor.sign(utf8(canonicalJson(bundle)));
  const early = random.once(15) ? sign() : undefined;
  if (times("note") > 0) alterNote(random, bundle.attest as Record<string, Json>);
  for (let left = times("value"); left > 0; left--) alterValue(random, bundle);
  const signature = early ?? sign();
  for (let left = times("signature"); left > 0; left--) signature[random.below(signature.length)] = random.below(256);
  const signed: Json = { ...bundle, signature: { alg: "ML-DSA-65", sigBase64: toBase64(signature) } };
  if (times("value") > 0 && random.once(8)) alterValue(random, signed);
  const text = times("spelling") > 0 ? spell(random, signed) : canonicalJson(signed);
  return times("text") > 0 ? spoil(random, text) : utf8(text);
}

type Signer = Keys["signers"][number];

function unsigned(
  random: Random,
  { ledger }: Keys,
  { attestor, address, rounds }: Signer,
  corpus: Corpus,
  times: { bytes: number; proof: number },
) {
  const kind =
    times.proof > 0 ? "inclusion" : random.pick(["transaction", "transaction", "block", "inclusion"] as const);
  const make = random.once(2) ? algorandSubject : baseSubject;
  const { note, levels, ...members } = make(random, corpus, kind, ledger, times);
  const payment = toBase64Url(random.bytes(16));
  const text = `${PREFIX}${canonicalJson({ a: attestor.keySha256, g: ledger, l: random.pick(levels), p: payment, ...note })}`;
  const bundle: Record<string, Json> = {
    ...(kind === "transaction" ? {} : { type: kind === "block" ? "block-attestation" : "tx-inclusion" }),
    version: 1,
    network: "algorand-mainnet",
    ...members,
    attest: { txnId: "YUCWFYUWNKVCTVNU6M7KSAL7LXB7TPWJPN5KSID3R77E3HUE4MHQ", round: random.pick(rounds), note: text },
    attestor: { algorandAddress: address, pqPublicKey: toBase64(attestor.publicKey) },
  };
  if (random.once(12)) delete (bundle.source as { chain?: string } | undefined)?.chain;
  return bundle;
}

const PREFIX = "attestd/v1:j";
/** Texts whose canonical JSON not every writer makes alike. */
const ODD_NOTES = [
  "",
  "<>&",
  "\u2028\u2029",
  "\u007f\u0080",
  "\b\f\n\r\t\u0001",
  '"\\/',
  "\u{1f600}é",
  "\ud800",
  "\udc00\ud800",
  "\ufeff",
  "\u0000",
  "é".repeat(512),
  "é".repeat(513),
  "a".repeat(1024),
  "a".repeat(1025),
  PREFIX,
  `${PREFIX}{}`,
  `${PREFIX}null`,
  `${PREFIX}[]`,
];

/** What a transaction's note may state of its block, and what it may not. */
const ODD_FACTS: Json[] = [
  ...[0, 1, 2, -1, 2 ** 53 - 1, "0", "1", "", true, null],
  ...[
    `0x${"0".repeat(64)}`,
    `0x${"A".repeat(64)}`,
    `0x${"0".repeat(63)}`,
    "A".repeat(52),
    `${"A".repeat(51)}B`,
    "a".repeat(52),
  ],
];

function alterNote(random: Random, attest: Record<string, Json>): void {
  const text = String(attest.note);
  const json = JSON.parse(text.slice(PREFIX.length)) as Record<string, Json>;
  const altered = () => {
    if (random.once(2)) alterValue(random, json);
    return json;
  };
  attest.note = random.weigh<() => string>([
    [2, () => `${PREFIX}${canonicalJson(altered())}`],
    [3, () => `${PREFIX}${spell(random, altered())}`],
    [1, () => `${PREFIX}${Buffer.from(spoil(random, canonicalJson(json))).toString("utf8")}`],
    [2, () => respelledText(random, text)],
    [2, () => random.pick(ODD_NOTES)],
    [1, () => text + random.pick(ODD_NOTES)],
    [3, () => `${PREFIX}${canonicalJson({ ...json, [random.pick([..."bnstu"])]: random.pick(ODD_FACTS) })}`],
    [
      1,
      () =>
        `${PREFIX}${canonicalJson({ ...json, l: random.pick(["included", "safe", "finalized", "Safe", "", "final"]) })}`,
    ],
    [
      1,
      () =>
        `${PREFIX}${canonicalJson({ ...json, p: random.pick(["AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAAA\n", "AAAAAAAAAAAAAAAAAAAAA", "", "é", 1] as Json[]) })}`,
    ],
  ])();
}
