"""RLP, in which everything has one encoding, and the kinds of fields that Ethereum's structures have."""

from typing import NamedTuple

# Bytes of one length each: an address, a hash, a Bloom filter, a nonce.
LENGTHS = {"a": 20, "h": 32, "B": 256, "N": 8}


class Item(NamedTuple):
    encoded: bytes
    payload: bytes
    items: list | None  # None where it is no list


def read_fields(data: bytes, kinds: str, least: int | None = None, most: int | None = None) -> list[Item]:
    """The items of a list, each of the kind that its letter says.

    Besides those above: q, a quantity of at most 32 bytes; c, one of at most 8; s, 0 or 1; o, an address or nothing; b,
    any bytes; l, a list of anything.
    """
    items = read_list(data)
    if not (least or len(kinds)) <= len(items) <= (most or len(kinds)):
        raise ValueError("RLP: fields too few or too many")
    if not all(is_of_kind(item, kind) for item, kind in zip(items, kinds)):
        raise ValueError("RLP: a field of another kind")
    return items


def is_of_kind(item: Item, kind: str) -> bool:
    length = len(item.payload)
    if item.items is not None or kind == "l":
        return item.items is not None and kind == "l"
    if kind in "qc":
        return item.payload[:1] != b"\x00" and length <= (8 if kind == "c" else 32)
    if kind == "s":
        return item.payload in (b"", b"\x01")
    return kind == "b" or length == LENGTHS.get(kind) or (kind == "o" and length in (0, 20))


def read_list(data: bytes) -> list[Item]:
    """The items of a list."""
    item = read_item(data, 0, len(data), 0)
    if item.items is None or len(item.encoded) != len(data):
        raise ValueError("RLP: not one list")
    return item.items


def read_item(data: bytes, at: int, limit: int, depth: int) -> Item:
    """The item at a place, with all that is in it: everything in its shortest form."""
    if depth > 32 or at >= limit:
        raise ValueError("RLP: truncated, or nested deeper than 32")
    first, is_list = data[at], data[at] >= 0xC0
    start, length = (at, 1) if first < 0x80 else (at + 1, first - (0xC0 if is_list else 0x80))
    if length > 55:
        start, length = start + length - 55, read_integer(data[start : start + length - 55])
        if length <= 55:
            raise ValueError("RLP: not in its shortest form")
    end = start + length
    if end > limit or (start == at + 1 and length == 1 and not is_list and data[start] < 0x80):
        raise ValueError("RLP: truncated, or not in its shortest form")
    items = [] if is_list else None
    while is_list and start < end:
        items.append(read_item(data, start, end, depth + 1))
        start += len(items[-1].encoded)
    return Item(data[at:end], data[end - length : end], items)


def read_integer(payload: bytes) -> int:
    if payload[:1] == b"\x00":
        raise ValueError("RLP: no integer")
    return int.from_bytes(payload, "big")
