"""The checks of a bundle, but for its form."""

import hashlib
from base64 import b64decode

import algorand
import base
from attempt import attempt
from batch import is_in_batch, note_of, signed_part
from keys import judge_key, key_sha256, signs
from note import is_note

CHAINS = {"algorand": algorand, "base": base}


def check(bundle: dict, chain: str, trust: dict) -> dict[str, bool]:
    """The results of all checks but the first, in their order."""
    source, block, inclusion = bundle.get("source"), bundle.get("block"), bundle.get("inclusion")
    signed, stated = signed_part(bundle), bundle.get("statement")
    module, public_key = CHAINS[chain], signed["attestor"]["pqPublicKey"]
    unsigned = {name: signed[name] for name in signed if name != "signature"}
    results = {
        "keyTrust": judge_key(signed, trust)[1],
        "signature": signs(public_key, unsigned, signed["signature"]["sigBase64"]),
        "hashPreimage": True,
    }
    note = {"a": key_sha256(public_key), "g": trust["ledger"]}
    if source:
        txn = b64decode(source["txnBytesBase64"])
        facts = attempt(lambda: module.transaction(txn, trust["ledger"])) or {"id": None, "network": None}
        note |= {"c": facts["network"], "h": sha256(txn), "t": facts["id"]}
        results["hashPreimage"] &= source["hashSha256"] == sha256(txn)
        results["transactionId"] = source["txnId"] == facts["id"]
    if stated:
        results["hashPreimage"] &= stated["hashSha256"] == sha256(txn)
        results["transactionId"] &= (stated["txnId"], stated["chain"]) == (facts["id"], facts["network"])
        results["inclusion"] = is_in_batch(bundle)
        note = note_of({name: note[name] for name in "ag"}, signed)
    if block:
        head = b64decode(block["headerBase64"])
        facts = attempt(lambda: module.header(head, trust["ledger"])) or {"hash": None, "height": None, "network": None}
        note |= {"b": facts["hash"], "c": facts["network"], "h": sha256(head), "n": facts["height"]}
        note.pop("t", None)
        results["hashPreimage"] &= block["hashSha256"] == sha256(head)
        results["blockHash"] = (block["blockHash"], block["height"]) == (facts["hash"], facts["height"])
    if inclusion:
        results["inclusion"] = attempt(lambda: module.is_included(inclusion, txn, head)) is True
    results["note"] = attempt(lambda: is_note(signed["attest"]["note"], note, chain, module)) is True
    return results


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
