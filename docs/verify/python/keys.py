"""Keys: whom a verifier believes, and for which rounds."""

import hashlib
import re
from base64 import b64decode, urlsafe_b64encode
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PublicKey

from algorand import MAINNET
from form import HISTORY, fits
from strict_json import canonical, parse


def read_trust(argument: str) -> dict:
    """The key history in a file; or no more than the `kid` of one key, and the ledger that is MainNet."""
    if re.fullmatch("[A-Za-z0-9_-]{43}", argument):
        return {"kid": argument, "ledger": MAINNET}
    history = parse(Path(argument).read_bytes())
    require(fits(history, HISTORY), "not a key history")
    keys = history["keys"]
    for previous, key, following in zip([None, *keys], keys, [*keys[1:], {}]):
        require(key["algorandAddress"] == keys[0]["algorandAddress"], "another account")
        require(key["kid"] == key_id(key["pqPublicKey"]), "another kid")
        require(key["keySha256"] == key_sha256(key["pqPublicKey"]), "another SHA-256")
        require(sum(key["kid"] == other["kid"] for other in keys) == 1, "a key twice")
        until = key.get("untilRound")
        require(until == following.get("fromRound") and (until is None or until > key["fromRound"]), "a gap")
        require(("endorsement" in key) == (previous is not None), "not endorsed")
        entry = {name: key[name] for name in key if name not in ("untilRound", "revokedRound", "endorsement")}
        require(previous is None or signs(previous["pqPublicKey"], entry, key["endorsement"]), "endorsed by another")
    return history


def judge_key(bundle: dict, trust: dict) -> tuple[str, bool]:
    """The standing of a bundle's key, and whether it may have signed in that round."""
    attest, attestor = bundle["attest"], bundle["attestor"]
    if "kid" in trust:
        is_known = key_id(attestor["pqPublicKey"]) == trust["kid"]
        return "current" if is_known else "unknown", is_known
    key = next((key for key in trust["keys"] if key["pqPublicKey"] == attestor["pqPublicKey"]), None)
    if key is None:
        return "unknown", False
    if "revokedRound" in key:  # whoever holds a revoked key can write any round into a bundle
        return "revoked", False
    is_of_its_time = key["fromRound"] <= attest["round"] < key.get("untilRound", float("inf"))
    is_its_account = attestor["algorandAddress"] == key["algorandAddress"]
    return "retired" if "untilRound" in key else "current", is_of_its_time and is_its_account


def signs(pq_public_key: str, value: dict, signature: str) -> bool:
    """Whether a signature is the key's over the canonical bytes of a value: ML-DSA-65 with an empty context."""
    return signs_bytes(pq_public_key, canonical(value), b64decode(signature))


def signs_bytes(pq_public_key: str, message: bytes, signature: bytes) -> bool:
    try:
        MLDSA65PublicKey.from_public_bytes(b64decode(pq_public_key)).verify(signature, message)
        return True
    except InvalidSignature:
        return False


def key_id(pq_public_key: str) -> str:
    """The key's RFC 7638 thumbprint."""
    jwk = {"alg": "ML-DSA-65", "kty": "AKP", "pub": base64url(b64decode(pq_public_key))}
    return base64url(hashlib.sha256(canonical(jwk)).digest())


def key_sha256(pq_public_key: str) -> str:
    return base64url(hashlib.sha256(b64decode(pq_public_key)).digest())


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)
