"""The form of bundles and key histories: the members that there must be."""

import base64
import re

import algorand
import base as base_chain
from algorand import is_address

# A shape is a constant, a pattern, a test, a list of at most 20, or an object, of which "name?" may be absent.


def integer(least: int, most: int = 2**53 - 1):
    return lambda value: type(value) is int and least <= value <= most


def b64(length: int | None = None):
    def is_base64(value):
        try:
            data = base64.b64decode(value, validate=True)
        except (TypeError, ValueError):
            return False
        return len(data) == (length or len(data) or 1) and base64.b64encode(data) == value.encode()

    return is_base64


def text(value):
    return isinstance(value, str) and len(value.encode()) <= 1024


HEX = re.compile("[0-9a-f]{64}")
SHA256 = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
CAIP2 = re.compile("[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}")
ID = {"algorand": re.compile("[A-Z2-7]{51}[AQ]"), "base": re.compile("0x[0-9a-f]{64}")}

ATTESTATION = {
    "version": 1,
    "network": "algorand-mainnet",
    "attest": {"txnId": ID["algorand"], "round": integer(1), "note": text},
    "attestor": {"algorandAddress": is_address, "pqPublicKey": b64(1952)},
    "signature": {"alg": "ML-DSA-65", "sigBase64": b64(3309)},
}
LIGHT_HEADER = {"index": integer(0), "interval": integer(1), "commitment": b64(32), "siblings": [b64(32)]}
INCLUSION = {
    "algorand": {
        "kind": "algorand-merkle",
        "tree": re.compile("txn(256)?"),
        "index": integer(0),
        "stibBase64": b64(),
        "siblings": [b64(32)],
        "lightHeader?": LIGHT_HEADER,
    },
    "base": {
        "kind": "mpt",
        "index": integer(0),
        "nodes": [b64()],
        "receipt?": {"bytesBase64": b64(), "nodes": [b64()]},
    },
}
ENTRY = {
    "type": "attestor-key",
    "version": 1,
    **{"kid": SHA256, "keySha256": SHA256, "pqPublicKey": b64(1952), "algorandAddress": is_address},
    "origin": re.compile(r"https?://([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:[1-9][0-9]{0,4})?"),
    "fromRound": integer(0),
    **{"untilRound?": integer(1), "revokedRound?": integer(0), "endorsement?": b64(3309)},
}
HISTORY = {
    "version": 1,
    "ledger": re.compile("algorand:[A-Za-z0-9_-]{32}"),
    "keys": lambda keys: isinstance(keys, list) and keys and all(fits(key, ENTRY) for key in keys),
}


def shapes(chain: str):
    source = {"chain?": chain, "txnId": ID[chain], "hashSha256": HEX, "txnBytesBase64": b64()}
    block = {"chain": chain, "height": integer(0), "blockHash": ID[chain], "headerBase64": b64(), "hashSha256": HEX}
    yield {**ATTESTATION, "source": source}
    yield {**ATTESTATION, "type": "block-attestation", "block": block}
    yield {**ATTESTATION, "type": "tx-inclusion", "block": block, "source": source, "inclusion": INCLUSION[chain]}
    head = {**ATTESTATION, "type": "batch-attestation", "size": integer(2, 1000), "root": b64(32)}
    source = {name.rstrip("?"): shape for name, shape in source.items()}
    proof = {"index": integer(0), "siblings": [b64(32)]}
    item = {"type": "batch-item", "version": 1, "network": ATTESTATION["network"], "source": source, "proof": proof}
    yield {**item, "statement": statement(chain), "batch": head}


def statement(chain: str):
    module = {"algorand": algorand, "base": base_chain}[chain]
    return {
        **{"type": "transaction", "chain": CAIP2},
        **{"txnId": ID[chain], "hashSha256": HEX, "nonce": b64(16)},
        "block": {"hash": ID[chain], "height": integer(0), "time": integer(0)},
        "level": lambda level: level in module.LEVELS,
        "outcome": re.compile("succeeded|failed") if module.CAN_FAIL else "not_applicable",
    }


def chain_of(bundle):
    """The chain of a bundle, if the bundle has the form that it should have."""
    return next((chain for chain in ID if any(fits(bundle, shape) for shape in shapes(chain))), None)


def fits(value, shape) -> bool:
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    if isinstance(shape, list):
        return isinstance(value, list) and len(value) <= 20 and all(fits(item, shape[0]) for item in value)
    if not isinstance(shape, dict):
        return bool(shape(value)) if callable(shape) else type(value) is type(shape) and value == shape
    names = {name.rstrip("?"): name for name in shape}
    if not isinstance(value, dict) or not names.keys() >= value.keys():
        return False
    return all(fits(value[n], shape[name]) if n in value else name.endswith("?") for n, name in names.items())
