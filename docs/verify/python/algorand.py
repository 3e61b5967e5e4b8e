"""What a verifier must know of Algorand: the ids of transactions and blocks, and the way from the one to the other."""

import hashlib
import re
from base64 import b32decode, b32encode, b64decode, urlsafe_b64encode

from msgpack import read_map

MAINNET = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k"
LEVELS = ("finalized",)
# Whether a transaction that failed stands in a block.
CAN_FAIL = False

# Consensus v34 to v38, whose light headers begin with the seed: text of 89 letters.
SPECS = b"\xd9\x59https://github.com/algorandfoundation/specs/tree/"
SEED_VERSIONS = [
    SPECS + b"2dd5435993f6f6d65691140f592ebca5ef19ffbd",
    SPECS + b"433d8e9a7274b6fca703d91213e05c7e6a589e69",
    SPECS + b"44fa607d6051730f5264526bf3c108d51f0eadb6",
    SPECS + b"1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
    SPECS + b"abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
]


def digest(name: str, *parts: bytes) -> bytes:
    return hashlib.new(name, b"".join(parts)).digest()


def transaction(data: bytes, ledger: str) -> dict:
    """The id and the network of a transaction; `ledger` where it names no network."""
    fields = read_map(data, is_struct=True)
    if not 0xA0 <= fields[b"type"][0] <= 0xDB or 0xC0 <= fields[b"type"][0] <= 0xD8:
        raise ValueError("its type is no text")
    return {"id": base32(digest("sha512_256", b"TX", data)), "network": network(fields, ledger)}


def header(data: bytes, ledger: str) -> dict:
    """The hash, the height and the network of a block, from its header."""
    fields = read_map(data)
    height = read_integer(fields.get(b"rnd", b"\x00"))
    if height >= 2**53:
        raise ValueError("a height of 2^53 or more")
    return {"hash": base32(digest("sha512_256", b"BH", data)), "height": height, "network": network(fields, ledger)}


def is_included(inclusion: dict, txn: bytes, head: bytes) -> bool:
    """Whether a transaction is in the block of a header: by the Merkle tree that the header commits to."""
    header(head, "")
    fields = read_map(head)
    tree = "txn256" if b"txn256" in fields else "txn"
    if inclusion["tree"] != tree:
        return False
    name = "sha256" if tree == "txn256" else "sha512_256"
    entry = digest(name, b"STIB", b64decode(inclusion["stibBase64"]))
    leaf = digest(name, b"TL", digest(name, b"TX", txn), entry)
    if not leads(name, tree == "txn256", leaf, inclusion, read_digest(fields[tree.encode()])):
        return False
    return "lightHeader" not in inclusion or is_committed(inclusion["lightHeader"], fields, head)


def is_committed(light: dict, fields: dict, head: bytes) -> bool:
    """Whether a block is in the interval of a state proof. That its commitment is one of consensus, no bundle can tell."""
    if read_integer(fields[b"rnd"]) == 0:
        raise ValueError("no round that a state proof covers")
    if fields.get(b"proto") in SEED_VERSIONS:
        first = {b"0": b"\xc4\x20" + read_digest(fields[b"seed"])}
    else:
        first = {b"1": b"\xc4\x20" + digest("sha512_256", b"BH", head)}
    gh, tc = (b"\xc4\x20" + read_digest(fields[name]) for name in (b"gh", b"txn256"))
    members = {**first, b"gh": gh, b"r": fields[b"rnd"], b"tc": tc}
    present = [bytes([0xA0 | len(name)]) + name + value for name, value in members.items()]
    leaf = digest("sha256", b"B256", bytes([0x80 | len(present)]), *present)
    commitment = b64decode(light["commitment"])
    return light["interval"] == 2 ** len(light["siblings"]) and leads("sha256", True, leaf, light, commitment)


def leads(name: str, is_vector: bool, leaf: bytes, path: dict, root: bytes) -> bool:
    """Whether siblings lead from a leaf to a root. In a vector commitment a leaf's place is its index, bits reversed."""
    siblings = [b64decode(sibling) for sibling in path["siblings"]]
    if path["index"] >= 2 ** len(siblings):
        return False
    bits = f"{path['index']:0{len(siblings)}b}" if siblings else ""  # highest first
    for bit, sibling in zip(bits if is_vector else bits[::-1], siblings):
        leaf = digest(name, b"MA", *((sibling, leaf) if bit == "1" else (leaf, sibling)))
    return leaf == root


def network(fields: dict, ledger: str) -> str:
    if b"gh" not in fields:
        return ledger
    return "algorand:" + urlsafe_b64encode(read_digest(fields[b"gh"])).decode()[:32]


def base32(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=")


def is_address(text) -> bool:
    """Whether a text is an address: a public key of 32 bytes and the last 4 of its hash, 2 bits unused."""
    if not isinstance(text, str) or not re.fullmatch("[A-Z2-7]{57}[AEIMQUY4]", text):
        return False
    data = b32decode(text + "======")
    return digest("sha512_256", data[:32])[28:] == data[32:]


def read_digest(value: bytes) -> bytes:
    if len(value) != 34 or value[:2] != b"\xc4\x20":
        raise ValueError("not 32 bytes")
    return value[2:]


def read_integer(value: bytes) -> int:
    if value[0] >= 0x80 and not 0xCC <= value[0] <= 0xCF:
        raise ValueError("not an integer")
    return int.from_bytes(value if len(value) == 1 else value[1:], "big")
