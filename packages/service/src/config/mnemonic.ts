import { hash } from "node:crypto";
import { wordlist } from "@scure/bip39/wordlists/english";

const WORDS = 25;
const BITS_A_WORD = 11;
const SEED_BYTES = 32;

/**
 * The 32-byte ed25519 seed behind an Algorand mnemonic: 24 words of BIP 39's English list carry 11 bits each, the lowest
 * first, and the last word the lowest 11 bits of the seed's SHA-512/256 (Algorand developer docs, "Transformation from
 * private key to 25-word mnemonic").
 *
 * @throws RangeError with the fault, to follow the setting's name; it quotes no word, because each is part of the secret
 */
export function seedOfMnemonic(mnemonic: string): Uint8Array {
  const words = mnemonic.trim().split(/\s+/);
  if (words.length !== WORDS) throw new RangeError(`must be ${WORDS} words`);
  const numbers = words.map((word, place) => {
    const number = wordlist.indexOf(word);
    if (number < 0)
      throw new RangeError(`must be ${WORDS} words of BIP 39's English list, which word ${place + 1} is not`);
    return number;
  });
  const packed = numbers
    .slice(0, -1)
    .reduce((sum, number, place) => sum | (BigInt(number) << BigInt(BITS_A_WORD * place)), 0n);
  const seed = new Uint8Array(SEED_BYTES).map((_, place) => Number((packed >> BigInt(8 * place)) & 0xffn));
  const [low = 0, high = 0] = hash("sha512-256", seed, "buffer");
  const isSeed = packed >> BigInt(8 * SEED_BYTES) === 0n;
  if (!isSeed || numbers.at(-1) !== (low | ((high << 8) & 0x7ff)))
    throw new RangeError("has a wrong word, or words in the wrong order: its checksum is wrong");
  return seed;
}
