import { toBase64Url, utf8 } from "@attestd/proof/encoding";
import type { Corpus } from "./corpus.ts";
import { canonicalJson, type Keys } from "./keys.ts";
import { alterBytes, type Random } from "./random.ts";
import { spell, spoil } from "./text.ts";
import { alterValue, type Json, respelledText } from "./values.ts";

/* Receipts, most with a mistake: in header, payload, spelling, base64url, parts, or in the file around them. */

type Members = Record<string, Json>;

/** Texts of every length and kind that a grammar by bytes tells apart. */
const TEXTS: Json[] = [
  ...[
    "",
    " ",
    "a",
    "é",
    "\u{1f600}",
    "\u0000",
    "\n",
    "\u007f",
    "\u0080",
    "~",
    "!",
    "a b",
    "\ud800",
    "\ufeff",
    "\u2028",
  ],
  ...[127, 128, 129, 7999, 8000, 8001].flatMap((length) => ["a".repeat(length), `${"a".repeat(length - 2)}é`]),
  ..."\u00e9 \u{1f511}".split(" ").flatMap((letter) => [2000, 4000, 4001].map((times) => letter.repeat(times))),
  ...["https://attestd.example/attest", "javascript:alert(1)", "//", "https://[", "HTTP://É.example", "mailto:a"],
];
const NETWORKS: Json[] = [
  ...["eip155:1", "ab:c", "abc:", ":a", "abc", "abcdefgh:d", "abcdefghi:d", "ABC:d", "abc:d:e", "abc:d e", "abc:é"],
  ...[`abc:${"d".repeat(32)}`, `abc:${"d".repeat(33)}`, "-a-:_-", "a_b:c", "abc:d\n", " abc:d", "eip155:0x1", "abc:%"],
];
const TIMES: Json[] = [0, 1, -1, 2 ** 31, 2 ** 43, 2 ** 53 - 1, "1", null, 1.5];

export function makeReceipt(random: Random, { signers }: Keys, _corpus: Corpus): Uint8Array {
  const { attestor } = random.pick(signers);
  const header: Members = { alg: "ML-DSA-65", kid: attestor.kid };
  const payload: Members = {
    type: "x402-receipt",
    version: 1,
    network: random.pick(["eip155:8453", "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"]),
    resourceUrl: "https://attestd.example/attest",
    payer: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
    transaction: `0x${"12".repeat(32)}`,
    issuedAt: 1_795_256_945,
  };
  const times = random.weigh([
    [1, 0],
    [8, 1],
    [2, 2],
  ]);
  const layers = Array.from({ length: times }, () => random.weigh(LAYERS));
  const has = (layer: Layer) => layers.includes(layer);
  if (has("header")) alterValue(random, header);
  if (has("payload")) alterValue(random, payload);
  if (has("field")) {
    const name = random.pick(["resourceUrl", "payer", "transaction", "network", "issuedAt"]);
    payload[name] = random.pick(name === "network" ? NETWORKS : name === "issuedAt" ? TIMES : TEXTS);
  }
  const parts = [header, payload].map((value) => {
    const text = has("spelling") ? spell(random, value) : canonicalJson(value);
    return toBase64Url(has("text") && random.once(2) ? spoil(random, text) : utf8(text));
  });
  const signed = parts.join(".");
  let signature = attestor.sign(utf8(signed));
  if (has("signature")) signature = alterBytes(random, signature);
  let jws = `${signed}.${toBase64Url(signature)}`;
  if (has("jws")) jws = alteredJws(random, jws);
  const file: Members = { format: "jws", signature: jws };
  if (has("file")) alterValue(random, file);
  const text = has("file") && random.once(3) ? spell(random, file) : canonicalJson(file);
  return has("file") && random.once(4) ? spoil(random, text) : utf8(text);
}

type Layer = "header" | "payload" | "field" | "spelling" | "text" | "signature" | "jws" | "file";
const LAYERS: [weight: number, layer: Layer][] = [
  [2, "header"],
  [4, "payload"],
  [6, "field"],
  [3, "spelling"],
  [2, "text"],
  [1, "signature"],
  [4, "jws"],
  [2, "file"],
];

function alteredJws(random: Random, jws: string): string {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  return random.pick([
    () => respelledText(random, jws),
    () => `${header}.${payload}`,
    () => `${header}.${payload}.${signature}.`,
    () => `${header}..${signature}`,
    () => `.${payload}.${signature}`,
    () => `${header}.${payload}.`,
    () => `${header}=.${payload}.${signature}`,
    () => `${header}.${payload}.${signature}=`,
    () => [respelledText(random, header), payload, signature].join("."),
    () => [header, respelledText(random, payload), signature].join("."),
    () => [header, payload, respelledText(random, signature)].join("."),
    () => jws.replaceAll("-", "+").replaceAll("_", "/"),
    () => [header, payload, signature].reverse().join("."),
    () => "",
  ])();
}
