"""What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other."""

import re
from base64 import b64decode

from keccak import keccak
from keys import MAINNET

LEVELS = ("included", "safe", "finalized")
NETWORK = "eip155:8453"


def transaction(data: bytes, ledger: str) -> dict:
    """The id and the network of a transaction. A sandbox plays recordings of other chains as Base."""
    chain_id = read_chain_id(data) if ledger == MAINNET else None
    return {"id": f"0x{keccak(data).hex()}", "network": NETWORK if chain_id is None else f"eip155:{chain_id}"}


def read_chain_id(data: bytes) -> int | None:
    """The EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from before."""
    if data[0] == 0 or 0x80 <= data[0] < 0xC0:
        raise ValueError("no EIP-2718 transaction")
    if data[0] >= 0xC0:
        v = read_integer(read_list(data)[6])
        return (v - 35) // 2 if v >= 35 else None
    return read_integer(read_list(data[1:])[0]) if data[0] in (1, 2, 4) else None


def header(data: bytes, _ledger: str) -> dict:
    """The hash, the height and the network of a block, from its header."""
    fields = read_list(data)
    if len(fields) < 15:
        raise ValueError("no header")
    return {"hash": f"0x{keccak(data).hex()}", "height": read_integer(fields[8]), "network": NETWORK}


def is_included(inclusion: dict, txn: bytes, head: bytes) -> bool:
    """Whether a transaction, and its receipt, are in the block of a header: by the tries that the header commits to."""
    fields, index, receipt = read_list(head), inclusion["index"], inclusion.get("receipt")
    if descend(fields[4], index, inclusion["nodes"]) != txn:
        return False
    return receipt is None or descend(fields[5], index, receipt["nodes"]) == b64decode(receipt["bytesBase64"])


def descend(named: tuple, index: int, nodes: list[str]) -> bytes | None:
    """Down a Merkle-Patricia trie, whose every node names the next: what stands under the key rlp(index)."""
    quantity = index.to_bytes((index.bit_length() + 7) // 8, "big")
    key = (quantity if 0 < index < 0x80 else bytes([0x80 + len(quantity)]) + quantity).hex()
    item = None
    for node in map(b64decode, nodes):
        is_list, encoded, payload = named
        is_next = len(node) < 32 and node == encoded if is_list else keccak(node) == payload
        items = read_list(node)
        if not is_next or item is not None or len(items) not in (2, 17):
            raise ValueError("not the node that its parent names")
        if len(items) == 17:
            key, named = key[1:], items[int(key[0], 16)]
            continue
        # Hex-prefix encoding: 0 or 1 of an extension, 2 or 3 of a leaf; odd ones hold a nibble of the path.
        flag, path = re.fullmatch("([13]|[02]0)(.*)", "" if items[0][0] else items[0][2].hex()).groups()
        key, rest, named = key[len(path) :], key[: len(path)], items[1]
        if rest != path or (flag in ("00", "1") and not path):
            raise ValueError("the path of another key")
        if flag in ("20", "3"):
            if key or named[0]:
                raise ValueError("no leaf of this key")
            item = named[2]
    return item


def read_list(data: bytes) -> list[tuple]:
    """The items of a list in RLP: whether it is a list, as it is encoded, and what it holds."""
    is_list, encoded, payload = read_item(data)
    if not is_list or len(encoded) != len(data):
        raise ValueError("RLP: not one list")
    items = []
    while payload:
        items.append(read_item(payload))
        payload = payload[len(items[-1][1]) :]
    return items


def read_item(data: bytes) -> tuple[bool, bytes, bytes]:
    first, is_list = data[0], data[0] >= 0xC0
    start, length = (0, 1) if first < 0x80 else (1, first - (0xC0 if is_list else 0x80))
    if length > 55:
        start, length = length - 54, read_integer((False, b"", data[1 : length - 54]))
        if length <= 55:
            raise ValueError("RLP: not in its shortest form")
    payload = data[start : start + length]
    if len(payload) < length or (start == 1 and length == 1 and not is_list and payload[0] < 0x80):
        raise ValueError("RLP: truncated, or not in its shortest form")
    return is_list, data[: start + length], payload


def read_integer(item: tuple) -> int:
    is_list, _, payload = item
    if is_list or payload[:1] == b"\x00":
        raise ValueError("RLP: no integer")
    return int.from_bytes(payload, "big")
