import { createHash } from "node:crypto";

/** Choices by chance, the same for the same seed: sfc32 (C. Doty-Humphrey, PractRand), seeded by SHA-256. */
export class Random {
  readonly #state: Int32Array;

  constructor(seed: string) {
    const digest = createHash("sha256").update(seed).digest();
    this.#state = Int32Array.from([0, 4, 8], (at) => digest.readInt32LE(at)).slice();
    this.#state = Int32Array.of(...this.#state, 1);
    for (let round = 0; round < 12; round++) this.#next();
  }

  /** 32 bits, unsigned. */
  #next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = this.#state;
    const sum = (a + b + counter) | 0;
    this.#state.set([b ^ (b >>> 9), (c + (c << 3)) | 0, (((c << 21) | (c >>> 11)) + sum) | 0, (counter + 1) | 0]);
    return sum >>> 0;
  }

  /** An integer from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.#next() / 2 ** 32) * end);
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  /** One of the values, each as often as its weight says. */
  weigh<T>(values: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.below(values.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, value] of values) {
      if (left < weight) return value;
      left -= weight;
    }
    throw new RangeError("nothing to choose from");
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let left = shuffled.length; left > 1; left--) {
      const at = this.below(left);
      [shuffled[left - 1], shuffled[at]] = [shuffled[at] as T, shuffled[left - 1] as T];
    }
    return shuffled;
  }
}

/** Bytes with one of the mistakes that any format may hold; at least one is left. */
export function alterBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const altered = alter(random, bytes);
  return altered.length > 0 ? altered : Uint8Array.of(0);
}

function alter(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  const some = random.bytes(1 + random.below(3));
  switch (random.below(6)) {
    case 0:
      return Uint8Array.of(...bytes.subarray(0, at), ...some, ...bytes.subarray(at));
    case 1:
      return Uint8Array.of(...bytes.subarray(0, at), ...bytes.subarray(at + some.length));
    case 2:
      return bytes.slice(0, at);
    case 3:
      return Uint8Array.of(...bytes, ...some);
    case 4:
      return bytes.map((byte, place) => (place === at ? byte ^ (1 << random.below(8)) : byte));
    default:
      return bytes.map((byte, place) => (place === at ? (some[0] as number) : byte));
  }
}

/** Replaces, adds, doubles, drops or moves one item of a list. */
export function alterItems<T>(random: Random, items: T[], make: () => T): void {
  const at = random.below(items.length);
  const choices: [number, () => unknown][] = [
    [2, () => items.splice(random.below(items.length + 1), 0, make())],
    [3, () => items.splice(at, 1, make())],
    [1, () => items.splice(at, 1)],
    [1, () => items.splice(at, 0, items[at] as T)],
    [1, () => items.splice(random.below(items.length), 0, ...items.splice(at, 1))],
  ];
  random.weigh(items.length === 0 ? choices.slice(0, 1) : choices)();
}
