"""What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other."""

import re
from base64 import b64decode

from algorand import MAINNET
from keccak import keccak
from rlp import Item, read_fields, read_integer, read_list

LEVELS = ("included", "safe", "finalized")
# Whether a transaction that failed stands in a block.
CAN_FAIL = True
NETWORK = "eip155:8453"


# The fields of each type of transaction: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702, a deposit of the OP Stack.
TRANSACTIONS = {
    **{0: "qqqoqbqqq", 1: "cqqqoqblqqq", 2: "cqqqqoqblqqq"},
    **{3: "cqqqqaqblqlqqq", 4: "cqqqqaqbllqqq", 0x7E: "haoqqqqb"},
}
HEADER = "hhahhhBqqqqqbhNqhqqhhhq"


def transaction(data: bytes, ledger: str) -> dict:
    """The id and the network of a transaction. A sandbox plays recordings of other chains as Base."""
    chain_id = read_chain_id(data)
    is_named = chain_id is not None and ledger == MAINNET
    return {"id": f"0x{keccak(data).hex()}", "network": f"eip155:{chain_id}" if is_named else NETWORK}


def type_of(data: bytes) -> int:
    """The EIP-2718 type of a transaction or a receipt: a legacy one has no byte for it."""
    if data[0] == 0 or 0x80 <= data[0] < 0xC0:
        raise ValueError("no EIP-2718 envelope")
    return 0 if data[0] >= 0xC0 else data[0]


def read_chain_id(data: bytes) -> int | None:
    """The EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from before."""
    kind = type_of(data)
    if kind not in TRANSACTIONS:  # opaque
        return None
    fields = read_fields(data if kind == 0 else data[1:], TRANSACTIONS[kind])
    if kind > 0:
        return None if kind == 0x7E else read_integer(fields[0].payload)
    v = read_integer(fields[6].payload)
    if v >= 2**65 + 35:
        raise ValueError("a chain id of 2^64 or more")
    return (v - 35) // 2 if v >= 35 else None


def header(data: bytes, _ledger: str) -> dict:
    """The hash, the height and the network of a block, from its header."""
    height = read_integer(read_fields(data, HEADER, 15, len(data))[8].payload)
    if height >= 2**53:
        raise ValueError("a height of 2^53 or more")
    return {"hash": f"0x{keccak(data).hex()}", "height": height, "network": NETWORK}


def is_included(inclusion: dict, txn: bytes, head: bytes) -> bool:
    """Whether a transaction, and its receipt, are in the block of a header: by the tries that the header commits to."""
    header(head, "")
    fields, index, receipt = read_list(head), inclusion["index"], inclusion.get("receipt")
    if descend(fields[4], index, inclusion["nodes"]) != txn:
        return False
    if receipt is None:
        return True
    data = b64decode(receipt["bytesBase64"])
    return descend(fields[5], index, receipt["nodes"]) == data and receipt_status(data, txn) is not None


def receipt_status(receipt: bytes, txn: bytes) -> str:
    """What became of a transaction by its receipt, which is of the same type: status, gas used, Bloom filter, logs."""
    kind = type_of(receipt)
    if kind != type_of(txn):
        raise ValueError("a receipt of another type")
    if kind not in TRANSACTIONS:  # opaque
        return "unknown"
    kinds = "sqBlqq" if kind == 0x7E else "sqBl"  # a deposit's nonce and its receipt's version, in later blocks
    status = read_fields(receipt if kind == 0 else receipt[1:], kinds, 4)[0].payload
    return "succeeded" if status else "failed"


def descend(named: Item, index: int, nodes: list[str]) -> bytes | None:
    """Down a Merkle-Patricia trie, whose every node names the next: what stands under the key rlp(index)."""
    quantity = index.to_bytes((index.bit_length() + 7) // 8, "big")
    key = (quantity if 0 < index < 0x80 else bytes([0x80 + len(quantity)]) + quantity).hex()
    item = None
    for node in map(b64decode, nodes):
        is_list = named.items is not None
        is_next = len(node) < 32 and node == named.encoded if is_list else keccak(node) == named.payload
        items = read_list(node)
        if not is_next or item is not None or len(items) not in (2, 17):
            raise ValueError("not the node that its parent names")
        if len(items) == 17:
            key, named = key[1:], items[int(key[0], 16)]
            continue
        # Hex-prefix encoding: 0 or 1 of an extension, 2 or 3 of a leaf; odd ones hold a nibble of the path.
        flag, path = re.fullmatch("([13]|[02]0)(.*)", "" if items[0].items is not None else items[0].payload.hex()).groups()
        key, rest, named = key[len(path) :], key[: len(path)], items[1]
        if rest != path or (flag in ("00", "1") and not path):
            raise ValueError("the path of another key")
        if flag in ("20", "3"):
            if key or named.items is not None:
                raise ValueError("no leaf of this key")
            item = named.payload
    return item
