"""Canonical msgpack, as Algorand writes it: members in order, each length and integer in its shortest form."""

import io

# The least that each form of a length or an integer may hold: what would fit a shorter one must be in that.
INTEGER = (0x80, 2**8, 2**16, 2**32)
TEXT = (32, 2**8, 2**16)
BYTES = (0, 2**8, 2**16)
LIST = (16, 2**16)

EMPTY = (b"\x00", b"\x80", b"\x90", b"\xa0", b"\xc0", b"\xc2", b"\xc4\x00")  # 0, {}, [], "", nil, false, no bytes


def read_map(data: bytes, is_struct: bool = False) -> dict[bytes, bytes]:
    """The members of a map whose keys are text, each as it is encoded. A struct leaves out what is empty."""
    stream = io.BytesIO(data)
    members = value(stream, is_struct, 0)
    if members is None or stream.tell() != len(data):
        raise ValueError("msgpack: not one map")
    return members


def value(stream: io.BytesIO, is_struct: bool, depth: int):
    if depth > 64:
        raise ValueError("msgpack: nested deeper than 64")
    kind = take(stream, 1)[0]
    if kind < 0x80 or kind in (0xC0, 0xC2, 0xC3):
        return None
    if kind < 0x90:
        return members(stream, is_struct, depth + 1, kind & 0x0F)
    if kind in (0xDE, 0xDF):
        return members(stream, is_struct, depth + 1, uint(stream, 2 << kind - 0xDE, LIST[kind - 0xDE]))
    if kind < 0xA0 or kind in (0xDC, 0xDD):
        count = kind & 0x0F if kind < 0xA0 else uint(stream, 2 << kind - 0xDC, LIST[kind - 0xDC])
        for _ in range(count):
            value(stream, is_struct, depth + 1)
    elif kind < 0xC0:
        take(stream, kind & 0x1F)
    elif 0xC4 <= kind <= 0xC6:
        take(stream, uint(stream, 1 << kind - 0xC4, BYTES[kind - 0xC4]))
    elif 0xCC <= kind <= 0xCF:
        uint(stream, 1 << kind - 0xCC, INTEGER[kind - 0xCC])
    elif 0xD9 <= kind <= 0xDB:
        take(stream, uint(stream, 1 << kind - 0xD9, TEXT[kind - 0xD9]))
    else:
        raise ValueError("msgpack: a type that Algorand does not use")
    return None


def members(stream: io.BytesIO, is_struct: bool, depth: int, count: int) -> dict[bytes, bytes]:
    """Keys are integers, which go before, by value, or text, by its bytes."""
    found, last = {}, (False, b"")
    for index in range(count):
        key, member = encoded(stream, is_struct, depth), encoded(stream, is_struct, depth)
        size = 1 + 2 ** (key[0] - 0xD9) if 0xD9 <= key[0] <= 0xDB else 1
        is_text = size > 1 or key[0] & 0xE0 == 0xA0
        if not is_text and key[0] >= 0x80 and not 0xCC <= key[0] <= 0xCF:
            raise ValueError("msgpack: a key of another type")
        name = key[size:] if is_text else key
        if index > 0 and (is_text, name) <= last:
            raise ValueError("msgpack: members out of order")
        if is_struct and is_text and member in EMPTY:
            raise ValueError("msgpack: an empty member")
        if is_text:
            found[name] = member
        last = is_text, name
    return found


def encoded(stream: io.BytesIO, is_struct: bool, depth: int) -> bytes:
    start = stream.tell()
    value(stream, is_struct, depth)
    return stream.getbuffer()[start : stream.tell()].tobytes()


def uint(stream: io.BytesIO, length: int, least: int) -> int:
    number = int.from_bytes(take(stream, length), "big")
    if number < least:
        raise ValueError("msgpack: not in its shortest form")
    return number


def take(stream: io.BytesIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise ValueError("msgpack: truncated")
    return data
