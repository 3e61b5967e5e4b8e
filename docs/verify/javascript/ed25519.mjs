// Ed25519 as Algorand's consensus verifies it, which is stricter than RFC 8032 about keys and encodings, and cofactored.
import { createHash } from "node:crypto";

const P = 2n ** 255n - 19n;
/** The order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (number) => ((number % P) + P) % P;
const integer = (bytes) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);

function power(base, exponent) {
  let result = 1n;
  for (const bit of exponent.toString(2)) result = mod(result * result * (bit === "1" ? base : 1n));
  return result;
}

const D = mod(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_1 = power(2n, (P - 1n) / 4n);
const BASE = decode(Buffer.from(`58${"66".repeat(31)}`, "hex"));
const NEUTRAL = [0n, 1n, 1n, 0n];

/** The point of 32 bytes, in extended coordinates (RFC 8032 section 5.1.3); undefined where they are not its one encoding. */
function decode(bytes) {
  const number = integer(bytes);
  const [y, sign] = [number % 2n ** 255n, number >> 255n];
  const [u, v] = [mod(y * y - 1n), mod(D * y * y + 1n)];
  let x = mod(u * v ** 3n * power(mod(u * v ** 7n), (P - 5n) / 8n));
  if (mod(v * x * x - u) !== 0n) x = mod(x * ROOT_OF_MINUS_1);
  if (y >= P || mod(v * x * x - u) !== 0n || (x === 0n && sign === 1n)) return undefined;
  if (x % 2n !== sign) x = P - x;
  return [x, y, 1n, mod(x * y)];
}

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const [a, b] = [(y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)];
  const [c, d] = [2n * D * t1 * t2, 2n * z1 * z2];
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [e * f, g * h, f * g, e * h].map(mod);
}

function multiply(point, scalar) {
  let result = NEUTRAL;
  for (const bit of scalar.toString(2)) {
    result = add(result, result);
    if (bit === "1") result = add(result, point);
  }
  return result;
}

const negate = ([x, y, z, t]) => [P - x, y, z, P - t];
const isNeutral = ([x, y, z]) => x % P === 0n && y === z;

/** Whether a signature of 64 bytes is right under a key of 32 bytes. */
export function verifiesEd25519(key, message, signature) {
  const [a, r, s] = [decode(key), decode(signature.subarray(0, 32)), integer(signature.subarray(32))];
  if (signature.length !== 64 || !a || !r || s >= L || isNeutral(multiply(a, 8n))) return false;
  const digest = createHash("sha512").update(signature.subarray(0, 32)).update(key).update(message).digest();
  const h = integer(digest) % L;
  const difference = add(add(multiply(BASE, s), multiply(negate(a), h)), negate(r));
  return isNeutral(multiply(difference, 8n));
}
