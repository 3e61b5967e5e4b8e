"""The evidence beside a bundle: the record's inclusion in its block, and the way from that to a state proof's commitment.

The state proof itself is not checked: no library that is kept and widely used has Algorand's deterministic Falcon.
"""

import hashlib
import re
from base64 import b32decode, b64decode
from pathlib import Path

from algorand import header, is_address, is_included, read_digest, read_integer, transaction
from evidence_authorisation import authorisation
from form import HEX, b64, fits, integer
from msgpack import read_map
from note import PREFIX
from strict_json import canonical, parse

CHECKPOINT = {"genesisHash": b64(32), "round": integer(0), "votersCommitment": b64(64), "lnProvenWeight": integer(1)}
MESSAGE = {
    **{"blockHeadersCommitment": b64(32), "votersCommitment": b64(64), "lnProvenWeight": integer(1)},
    **{"firstAttestedRound": integer(1), "lastAttestedRound": integer(1)},
}
PATH = {
    **{"index": integer(0), "size": integer(1)},
    "hashes": lambda hashes: isinstance(hashes, list) and len(hashes) <= 53 and all(map(b64(32), hashes)),
}
INCLUSION, STATE_PROOF = "algorand-inclusion/1", "algorand-state-proof/1"
AUTHORISATION = "algorand-authorisation/1"
ITEMS = {
    INCLUSION: {
        **{"type": INCLUSION, "txnBytesBase64": b64(), "headerBase64": b64()},
        **{"index": integer(0), "stibBase64": b64(), "siblings": [b64(32)]},
    },
    STATE_PROOF: {
        **{"type": STATE_PROOF, "siblings": [b64(32)], "message": MESSAGE, "stateProofSha256": HEX},
        **{"stateProofBase64?": b64(), "checkpoint": CHECKPOINT},
        "path?": lambda path: fits(path, PATH) and path["index"] < path["size"],
    },
    AUTHORISATION: {
        **{"type": AUTHORISATION, "alg": re.compile("ed25519|falcon-1024")},
        "authorizer?": is_address,
    },
}


def is_item(item) -> bool:
    known = isinstance(item, dict) and isinstance(item.get("type"), str)
    return known and (item["type"] not in ITEMS or fits(item, ITEMS[item["type"]]))


EVIDENCE = {"format": "attestd.evidence/1", "bundle": re.compile("sha256:[0-9a-f]{64}"), "items": [is_item]}


def check_evidence(file: str, bundle: dict, attempt) -> dict[str, str]:
    """The results of the checks: pass, FAIL or not_checked."""
    unchecked = {"inclusion": "not_checked", "stateProof": "not_checked", "authorisation": "not_checked"}
    results = {"schema": "FAIL", **unchecked}
    items = attempt(lambda: read_evidence(Path(file).read_bytes(), bundle))
    if items is None:
        return results
    results["schema"] = "pass"
    inclusion, proof = items.get(INCLUSION), items.get(STATE_PROOF)
    if inclusion:
        results["inclusion"] = "pass" if attempt(lambda: is_recorded(inclusion, bundle)) else "FAIL"
    if results["inclusion"] == "pass" and proof and not attempt(lambda: is_committed(proof, inclusion)):
        results["stateProof"] = "FAIL"
    signed = items.get(AUTHORISATION)
    if results["inclusion"] == "pass" and signed:
        sender = bundle["attestor"]["algorandAddress"]
        results["authorisation"] = attempt(lambda: authorisation(signed, inclusion, sender)) or "FAIL"
    return results


def read_evidence(text: bytes, bundle: dict) -> dict[str, dict]:
    """The known items, by their types."""
    evidence = parse(text, 5 * 2**20)
    own = "sha256:" + hashlib.sha256(canonical(bundle)).hexdigest()
    if not fits(evidence, EVIDENCE) or evidence["bundle"] != own:
        raise ValueError("another form, or of another bundle")
    known = [item for item in evidence["items"] if item["type"] in ITEMS]
    items = {item["type"]: item for item in known}
    if len(items) < len(known):
        raise ValueError("an item twice")
    return items


def is_recorded(item: dict, bundle: dict) -> bool:
    """Whether the item's transaction is the bundle's attestation, and stands under the item's header."""
    attest, address = bundle["attest"], bundle["attestor"]["algorandAddress"]
    txn, head = b64decode(item["txnBytesBase64"]), b64decode(item["headerBase64"])
    own, block = transaction(txn, ""), header(head, "")
    ledger = parse(attest["note"][len(PREFIX) :].encode())["g"]
    if own != {"id": attest["txnId"], "network": ledger}:
        return False
    if (block["network"], block["height"]) != (ledger, attest["round"]):
        return False
    fields, of = read_map(txn, is_struct=True), read_map(head)
    note, text = fields[b"note"], attest["note"].encode()
    is_note = note in (b"\xc4" + bytes([len(text) & 0xFF]) + text, b"\xc5" + len(text).to_bytes(2, "big") + text)
    is_payment = fields[b"type"] == b"\xa3pay" and not {b"amt", b"close", b"rekey"} & fields.keys()
    is_sent = read_digest(fields[b"snd"]) == b32decode(address + "======")[:32] and fields[b"gh"] == of[b"gh"]
    is_timed = read_integer(of.get(b"ts", b"\x00")) < 2**43
    path = {**item, "tree": "txn256"}
    return is_note and is_payment and is_sent and is_timed and is_included(path, txn, head)


def is_committed(item: dict, inclusion: dict) -> bool:
    """Whether the header is one of those to which the message commits, and the state proof the one that is named."""
    head, message = b64decode(inclusion["headerBase64"]), item["message"]
    first, fields = message["firstAttestedRound"], read_map(head)
    interval = message["lastAttestedRound"] - first + 1
    index = read_integer(fields[b"rnd"]) - first
    commitment = message["blockHeadersCommitment"]
    light = {"index": index, "interval": interval, "commitment": commitment, "siblings": item["siblings"]}
    path = {**inclusion, "tree": "txn256", "lightHeader": light}
    if index < 0 or interval > 256 or not is_included(path, b64decode(inclusion["txnBytesBase64"]), head):
        return False
    proof = item.get("stateProofBase64")
    is_named = proof is None or hashlib.sha256(b64decode(proof)).hexdigest() == item["stateProofSha256"]
    return is_named and b64decode(item["checkpoint"]["genesisHash"]) == read_digest(fields[b"gh"])
