"""The receipt of a payment: a compact JWS (RFC 7515) by the attestor's key."""

import re
from base64 import urlsafe_b64decode

from form import CAIP2, SHA256, fits, integer
from keys import base64url, signs_bytes
from strict_json import parse

ASCII = re.compile("[!-~]{1,128}")
FILE = {"format": "jws", "signature": lambda value: isinstance(value, str)}
HEADER = {"alg": "ML-DSA-65", "kid": SHA256}
PAYLOAD = {
    **{"type": "x402-receipt", "version": 1, "network": CAIP2, "payer": ASCII, "transaction": ASCII},
    **{"resourceUrl": lambda text: isinstance(text, str) and 1 <= len(text.encode()) <= 8000, "issuedAt": integer(0)},
}


def is_receipt(value) -> bool:
    return fits(value, FILE)


def decode(part: str) -> bytes:
    data = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64url(data) != part:
        raise ValueError("not base64url")
    return data


def read(jws: str) -> tuple[str, dict, bytes, bytes]:
    """What is written in a receipt, which is refused if it has another form: kid, payload, what is signed, signature."""
    header, payload, signature = jws.split(".")
    named, stated, signed = parse(decode(header)), parse(decode(payload)), decode(signature)
    if decode(header)[0] == 0xEF or decode(payload)[0] == 0xEF:  # a byte order mark, which only a file may have
        raise ValueError("no JSON")
    if not fits(named, HEADER) or not fits(stated, PAYLOAD) or len(signed) != 3309:
        raise ValueError("another form")
    return named["kid"], stated, f"{header}.{payload}".encode(), signed


def report_receipt(file: dict, trust: dict) -> bool:
    """Says what is right and wrong with a receipt, and whether it verifies. It names no round: no revoked key proves it."""
    kid, stated, message, signature = read(file["signature"])
    key = next((key for key in trust.get("keys", []) if key["kid"] == kid), None)
    is_trusted = key is not None and "revokedRound" not in key
    is_signed = key is not None and signs_bytes(key["pqPublicKey"], message, signature)
    standing = "retired" if is_trusted and "untilRound" in key else "current" if is_trusted else "revoked"
    print("pass schema")
    print("pass" if is_trusted else "FAIL", "keyTrust")
    print("not_checked" if key is None else "pass" if is_signed else "FAIL", "signature")
    print("key", kid, "unknown" if key is None else standing)
    if is_signed:
        print("paid", stated["network"], stated["payer"], stated["transaction"], stated["issuedAt"])
    verified = is_trusted and is_signed
    print("verified, stated as paid and delivered" if verified else "not verified")
    return verified
