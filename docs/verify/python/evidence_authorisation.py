"""The evidence of the key that authorised the record.

Falcon's signature is not checked, only whose key it is: no library that is kept and widely used has Algorand's
deterministic Falcon.
"""

import hashlib
from base64 import b32decode, b64decode

from algorand import read_digest, read_integer
from ed25519 import verifies
from msgpack import read_map


def authorisation(item: dict, inclusion: dict, sender: str) -> str:
    """Whether the transaction was signed as the item says: without Falcon, and of a rekeyed account, not_checked."""
    entry = read_map(b64decode(inclusion["stibBase64"]))
    kinds = {b"sig", b"msig", b"lsig", b"pqsig"} & entry.keys()
    if kinds != {{"ed25519": b"sig", "falcon-1024": b"pqsig"}[item["alg"]]} or (b"sgnr" in entry) != ("authorizer" in item):
        raise ValueError("another signature or authorizer")
    account = b32decode(item.get("authorizer", sender) + "======")[:32]
    if b"sgnr" in entry and read_digest(entry[b"sgnr"]) != account:
        raise ValueError("another authorizer")
    if item["alg"] == "falcon-1024":
        pq = read_map(entry[b"pqsig"])
        key, signature = read_bytes(pq[b"pk"]), read_bytes(pq[b"sig"])
        own = hashlib.new("sha512_256", b"PQAf1" + bytes([read_integer(pq.get(b"slt", b"\x00"))]) + key).digest()
        if read_bytes(pq[b"sch"]) != b"f1" or len(key) != 1793 or own != account:
            raise ValueError("another account's key")
        # The first byte counts all members, those under integers too.
        if pq.keys() - {b"sch", b"slt", b"pk", b"sig"} or entry[b"pqsig"][0] != 0x80 + len(pq):
            raise ValueError("a member more")
        if not 3 <= len(signature) <= 1423 or signature[0] != 0xBA:
            raise ValueError("no signature")
        return "not_checked"
    message = b"TX" + b64decode(inclusion["txnBytesBase64"])
    if not verifies(account, message, read_bytes(entry[b"sig"])):
        return "FAIL"
    return "not_checked" if "authorizer" in item else "pass"


def read_bytes(member: bytes) -> bytes:
    """The content of msgpack bytes."""
    return member[{0xC4: 2, 0xC5: 3, 0xC6: 5}[member[0]] :]
