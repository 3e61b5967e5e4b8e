"""Keccak-256 with Ethereum's padding, which is older than SHA-3's and not in Python's hashlib."""

RATE = 136
MASK = 2**64 - 1


def keccak(data: bytes) -> bytes:
    padded = bytearray(data + bytes(RATE - len(data) % RATE))
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), RATE):
        for lane in range(RATE // 8):
            lanes[lane] ^= int.from_bytes(padded[start + 8 * lane : start + 8 * lane + 8], "little")
        permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def permute(a: list[int]) -> None:
    """Keccak-f[1600] (FIPS 202, section 3); lane x, y is a[x + 5 * y]."""
    lfsr = 1
    for _ in range(24):
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        for i in range(25):
            a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1)
        x, y, lane = 1, 0, a[1]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            a[x + 5 * y], lane = rotate(lane, (t + 1) * (t + 2) // 2 % 64), a[x + 5 * y]
        for y in range(0, 25, 5):
            a[y : y + 5] = [a[y + x] ^ (~a[y + (x + 1) % 5] & a[y + (x + 2) % 5]) for x in range(5)]
        for j in range(7):
            lfsr = (lfsr << 1 ^ (lfsr >> 7) * 0x71) % 256
            a[0] ^= (lfsr >> 1 & 1) << (1 << j) - 1


def rotate(lane: int, bits: int) -> int:
    return (lane << bits | lane >> 64 - bits) & MASK
