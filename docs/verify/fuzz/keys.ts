import { ALGORAND_MAINNET } from "@attestd/proof";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import { type TestAttestor, testAttestor } from "../../../test/bundles/bundles.ts";
import type { Random } from "./random.ts";
import { spell, spoil } from "./text.ts";
import { alterValue, type Json } from "./values.ts";

/* Whom the verifiers believe: key histories, right and wrong, and the attestors whose bundles are judged by them. */

export type Signer = { attestor: TestAttestor; address: string; rounds: number[] };
export type Keys = {
  /** The file of a history, or the `kid` of the one key. */
  trust: Uint8Array | string;
  ledger: string;
  signers: Signer[];
};

const ATTESTORS = ["first", "second", "third", "fourth", "a stranger"].map(testAttestor);
const LEDGERS = [ALGORAND_MAINNET, ALGORAND_MAINNET, ALGORAND_MAINNET, "algorand:qUgMV4zaO1YMxC9yp6mpyF6mXj1Kz9qb"];
const ORIGINS = [
  ...[
    "https://attestd.example",
    "http://127.0.0.1:4020",
    "https://[::1]:8",
    "https://UPPER.example",
    "https://a.example:443",
  ],
  ...[
    "https://a.example/",
    "https://a b.example",
    "https://a.example\n",
    "https://é.example",
    "https://xn--4ca.example",
  ],
  ..."\u0085 \u00a0 \u1680 \u180e \u2000 \u2028 \u202f \u205f \u3000 \ufeff \u200b \u001c \u001f \u007f \u0001 < > & \\ \" ' @ ; \ud800"
    .split(" ")
    .map((character) => `https://a${character}.example`),
  ...[
    "https://a?b",
    "https://a#b",
    "https://",
    "ftp://a",
    "HTTPS://a",
    "https:/a",
    "https://a\t",
    "https://\u{1f600}",
    "",
    "https://a%20b",
  ],
];

/** JSON with sorted members, whatever it holds: RFC 8785 where there is one. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] as Json)}`).join(",")}}`;
}

/** One key, or a history that every verifier takes. */
export function rightKeys(random: Random): Keys {
  const { keys, entries, ledger } = history(random);
  const { kid } = random.pick(keys);
  if (random.once(6)) return { trust: kid, ledger: ALGORAND_MAINNET, signers: signers(entries, keys) };
  return { trust: utf8(canonicalJson({ version: 1, ledger, keys: entries })), ledger, signers: signers(entries, keys) };
}

/** A history with mistakes: some that its keys have signed, some of its text. */
export function oddKeys(random: Random): Keys {
  // Of one place alone, half of the time: of several, the first hides the others.
  const [isOne, at] = [random.once(2), random.below(8)];
  const made = history(random, (entry, index) => {
    if (isOne && index !== at) return;
    if (random.once(3)) entry.origin = random.pick(ORIGINS);
    if (random.once(8)) entry.algorandAddress = random.pick(ATTESTORS).algorandAddress;
    if (random.once(10)) entry.fromRound = random.pick([0, 1, 2 ** 53 - 1, index]);
    if (random.once(10)) alterValue(random, entry);
  });
  const value: Json = { version: 1, ledger: made.ledger, keys: made.entries };
  if (random.once(isOne ? 8 : 3)) alterEntries(random, made.entries);
  if (random.once(isOne ? 8 : 4)) alterValue(random, value);
  const text = random.once(3) ? spell(random, value) : canonicalJson(value);
  return {
    trust: random.once(isOne ? 20 : 5) ? spoil(random, text) : utf8(text),
    ledger: made.ledger,
    signers: signers(made.entries, made.keys),
  };
}

type Entry = Record<string, Json>;

function history(random: Random, alter: (entry: Entry, index: number) => unknown = () => undefined) {
  const keys = random.shuffle(ATTESTORS.slice(0, 4)).slice(0, 1 + random.below(4));
  const ledger = random.pick(LEDGERS);
  const starts = keys.map((_, index) => random.pick([0, 1, 5]) + 1000 * index);
  const entries = keys.map((attestor, index): Entry => {
    const entry: Entry = {
      type: "attestor-key",
      version: 1,
      kid: attestor.kid,
      keySha256: attestor.keySha256,
      pqPublicKey: toBase64(attestor.publicKey),
      algorandAddress: keys[0]?.algorandAddress ?? "",
      origin: "https://attestd.example",
      fromRound: starts[index] ?? 0,
    };
    alter(entry, index);
    const endorser = keys[index - 1];
    const endorsement = endorser && toBase64(endorser.sign(utf8(canonicalJson(entry))));
    const next = starts[index + 1];
    if (next !== undefined) entry.untilRound = next;
    if (random.once(12)) entry.revokedRound = random.pick([0, starts[index] ?? 0, 500, 2 ** 53 - 1]);
    if (endorsement) entry.endorsement = endorsement;
    return entry;
  });
  return { keys, ledger, entries };
}

/** What no signature forbids: entries removed, doubled, moved, and their spans. */
function alterEntries(random: Random, entries: Entry[]): void {
  const at = random.below(entries.length);
  const entry = entries[at] ?? {};
  const change = random.pick([
    () => entries.splice(at, 1),
    () => entries.splice(at, 0, { ...entry }),
    () => entries.reverse(),
    () => delete entry.untilRound,
    () => delete entry.endorsement,
    () => Object.assign(entry, { untilRound: random.pick([0, 1, 1000, 1001, null, "1000"]) }),
    () => Object.assign(entry, { revokedRound: random.pick([-1, 0, 1, null, "1", 2 ** 53]) }),
    () => Object.assign(entry, { endorsement: random.pick(entries).endorsement ?? null }),
    () => Object.assign(entry, { endorsement: toBase64(random.pick(ATTESTORS).sign(utf8(canonicalJson(entry)))) }),
    () => Object.assign(entry, { kid: random.pick(ATTESTORS).kid }),
    () => Object.assign(entry, { keySha256: random.pick(ATTESTORS).keySha256 }),
  ]);
  change();
}

/** Who may sign what is judged by these entries: their own keys mostly, in rounds at the ends of their spans. */
function signers(entries: Entry[], keys: TestAttestor[]): Signer[] {
  const own = keys.map((attestor, index): Signer => {
    const { fromRound, untilRound, revokedRound, algorandAddress } = entries[index] ?? {};
    const ends = [fromRound, untilRound, revokedRound].filter((round) => typeof round === "number");
    const rounds = ends.flatMap((round) => [round, round + 1, round - 1]).filter((round) => round > 0);
    const address = typeof algorandAddress === "string" ? algorandAddress : attestor.algorandAddress;
    const within = 500 + 1000 * index;
    return { attestor, address, rounds: [...rounds, within, within, within, within] };
  });
  const stranger = ATTESTORS.at(-1) as TestAttestor;
  return [...Array(5).fill(own).flat(), { attestor: stranger, address: stranger.algorandAddress, rounds: [1] }];
}
