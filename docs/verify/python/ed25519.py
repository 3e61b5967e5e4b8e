"""Ed25519 as Algorand's consensus verifies it, which is stricter than RFC 8032 about keys and encodings, and cofactored."""

import hashlib

P = 2**255 - 19
# The order of the base point.
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def decode(data: bytes) -> tuple | None:
    """The point of 32 bytes, in extended coordinates (RFC 8032 section 5.1.3); None where they are not its one encoding."""
    number = int.from_bytes(data, "little")
    y, sign = number % 2**255, number >> 255
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    if (v * x * x - u) % P != 0:
        x = x * ROOT_OF_MINUS_1 % P
    if y >= P or (v * x * x - u) % P != 0 or (x == 0 and sign == 1):
        return None
    if x % 2 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add(one: tuple, other: tuple) -> tuple:
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    c, d = 2 * D * t1 * t2, 2 * z1 * z2
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(point: tuple, scalar: int) -> tuple:
    result = NEUTRAL
    for bit in f"{scalar:b}":
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def negate(point: tuple) -> tuple:
    x, y, z, t = point
    return -x % P, y, z, -t % P


def is_neutral(point: tuple) -> bool:
    return point[0] == 0 and point[1] == point[2]


BASE = decode(bytes([0x58] + 31 * [0x66]))


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes is right under a key of 32 bytes."""
    if len(signature) != 64:
        return False
    a, r, s = decode(key), decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or is_neutral(multiply(a, 8)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    difference = add(add(multiply(BASE, s), multiply(negate(a), h)), negate(r))
    return is_neutral(multiply(difference, 8))
