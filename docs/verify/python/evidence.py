"""The evidence beside a bundle: the inclusions of record and source, and the ways from those to a state proof's commitment.

The state proof itself is not checked: no library that is kept and widely used has Algorand's deterministic Falcon.
"""

import hashlib
from base64 import b32decode, b64decode
from pathlib import Path

from algorand import header, is_committed, is_included, read_digest, read_integer, transaction
from attempt import attempt
from batch import signed_part
from evidence_authorisation import authorisation
from evidence_form import (
    AUTHORISATION,
    INCLUSION,
    SOURCE_INCLUSION,
    SOURCE_STATE_PROOF,
    STATE_PROOF,
    read_evidence,
)
from msgpack import read_map
from note import read, statement

CHECKS = ("inclusion", "stateProof", "authorisation", "sourceInclusion", "sourceStateProof")


def check_evidence(file: str, bundle: dict, passed: dict) -> tuple[dict[str, str], list[str]]:
    """The results of the checks: pass, FAIL or not_checked; and who signed. `passed` are the bundle's own."""
    signed = signed_part(bundle)
    results = {"schema": "FAIL", **dict.fromkeys(CHECKS, "not_checked")}
    items = attempt(lambda: read_evidence(Path(file).read_bytes(), signed))
    if items is None:
        return results, []
    results["schema"] = "pass"

    def judge(name: str, compute) -> bool:
        results[name] = "pass" if attempt(compute) else "FAIL"
        return results[name] == "pass"

    def prove(name: str, kind: str, head: str) -> None:
        if kind in items and not attempt(lambda: is_named(items[kind], b64decode(head), items)):
            results[name] = "FAIL"

    inclusion, signature = items.get(INCLUSION), items.get(AUTHORISATION)
    if inclusion and judge("inclusion", lambda: is_recorded(inclusion, signed)):
        prove("stateProof", STATE_PROOF, inclusion["headerBase64"])
        if signature:
            sender = signed["attestor"]["algorandAddress"]
            results["authorisation"] = attempt(lambda: authorisation(signature, inclusion, sender)) or "FAIL"
            by = f"authorised {signature['alg']} {signature.get('authorizer', sender)}\n"
    source, block = items.get(SOURCE_INCLUSION), bundle.get("block")
    if passed["note"] and source:
        if judge("sourceInclusion", lambda: is_stated(source, bundle)):
            prove("sourceStateProof", SOURCE_STATE_PROOF, source["headerBase64"])
    elif passed["note"] and block and passed["blockHash"] and SOURCE_STATE_PROOF in items:
        head = block["headerBase64"]
        if attempt(lambda: header(b64decode(head), "")["network"] == chain_of_source(bundle)):
            prove("sourceStateProof", SOURCE_STATE_PROOF, head)
        else:
            results["sourceStateProof"] = "FAIL"
    return results, [by] if results["authorisation"] == "pass" else []


def chain_of_source(bundle: dict) -> str:
    """CAIP-2 of the source's chain."""
    return bundle["statement"]["chain"] if "statement" in bundle else read(bundle["attest"]["note"])["c"]


def is_stated(item: dict, bundle: dict) -> bool:
    """Whether the attested transaction stands under the item's header, and that is the header of the block that is stated."""
    if "block" in bundle:
        return False
    name, height, time, _ = statement(bundle)
    head, txn = b64decode(item["headerBase64"]), b64decode(bundle["source"]["txnBytesBase64"])
    of, fields = header(head, ""), read_map(head)
    seconds = read_integer(fields.get(b"ts", b"\x00"))
    if (of["hash"], of["height"], seconds) != (name, height, time) or of["network"] != chain_of_source(bundle):
        return False
    is_whole = b"gh" in fields and b"txn256" in fields and seconds < 2**43
    return is_whole and is_included({**item, "tree": "txn256"}, txn, head)


def is_recorded(item: dict, bundle: dict) -> bool:
    """Whether the item's transaction is the bundle's attestation, and stands under the item's header."""
    attest, address = bundle["attest"], bundle["attestor"]["algorandAddress"]
    txn, head = b64decode(item["txnBytesBase64"]), b64decode(item["headerBase64"])
    own, block = transaction(txn, ""), header(head, "")
    ledger = read(attest["note"])["g"]
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
    return is_note and is_payment and is_sent and is_timed and is_included({**item, "tree": "txn256"}, txn, head)


def is_named(item: dict, head: bytes, items: dict[str, dict]) -> bool:
    """Whether the header is one of those to which the message commits, and the state proof the one that is named."""
    message, fields = item["message"], read_map(head)
    first = message["firstAttestedRound"]
    interval = message["lastAttestedRound"] - first + 1
    index = read_integer(fields[b"rnd"]) - first
    commitment = message["blockHeadersCommitment"]
    light = {"index": index, "interval": interval, "commitment": commitment, "siblings": item["siblings"]}
    is_timed = read_integer(fields.get(b"ts", b"\x00")) < 2**43
    if first != item["checkpoint"]["round"] + 1 or not 1 <= interval <= 256 or message["lastAttestedRound"] % interval:
        return False
    if index < 0 or not is_timed or not is_committed(light, fields, head):
        return False
    # A state proof that both items name may stand in one of them alone.
    named = [one for one in (item, *items.values()) if one.get("stateProofSha256") == item["stateProofSha256"]]
    proof = next((b64decode(one["stateProofBase64"]) for one in named if "stateProofBase64" in one), None)
    is_own = proof is None or hashlib.sha256(proof).hexdigest() == item["stateProofSha256"]
    return is_own and b64decode(item["checkpoint"]["genesisHash"]) == read_digest(fields[b"gh"])
