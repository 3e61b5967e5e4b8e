"""python3 verify.py [--evidence EVIDENCE] BUNDLE... KEYS: says which checks each bundle passes; exits with 0 if all do.

EVIDENCE is of one bundle. KEYS is the file of a key history, or the kid of the one key that is believed. docs/format.md
as a program: it shares nothing with attestd but Python's own library and the package `cryptography`, 48 or later.
"""

import hashlib
import sys
from base64 import b64decode
from pathlib import Path

import algorand
import base
from batch import is_in_batch, note_of, signed_part
from evidence import check_evidence
from form import chain_of
from keys import MAINNET, judge_key, key_id, key_sha256, read_trust, signs
from note import is_note, outcome, statement
from strict_json import parse

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


def attempt(compute):
    """What it computes; None where the bytes are not what they should be."""
    try:
        return compute()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def report(file: str, trust: dict, evidence: str | None) -> bool:
    """Says what is right and wrong with the bundle in a file, and whether it verifies."""
    bundle = attempt(lambda: parse(Path(file).read_bytes()))
    chain = chain_of(bundle)
    results = {"schema": chain is not None, **(check(bundle, chain, trust) if chain else {})}
    print(file)
    for name, passed in results.items():
        print("pass" if passed else "FAIL", name)
    if chain and "lightHeader" in bundle.get("inclusion", {}):
        print("not_checked commitment")
    status = outcome(bundle) if results.get("inclusion") and "inclusion" in bundle else None
    if status:
        print("receipt", status)
    if results.get("note") and "block" not in bundle:
        stated = statement(bundle)
        status = stated[-1]
        print("states", *stated)
    signed = signed_part(bundle) if chain else {}
    if chain:
        print("key", key_id(signed["attestor"]["pqPublicKey"]), judge_key(signed, trust)[0])
    shown, said = check_evidence(evidence, bundle, results, attempt) if chain and evidence else ({}, [])
    print(*(f"{result} evidence.{name}\n" for name, result in shown.items()), *said, sep="", end="")
    if not all(results.values()) or "FAIL" in shown.values():
        print("not verified")
        return False
    if trust["ledger"] != MAINNET:
        print("warning sandbox")
    if '"l":"included"' in signed["attest"]["note"] or bundle.get("statement", {}).get("level") == "included":
        print("warning included_only")
    if status == "failed":
        print("warning transaction_failed")
    print("verified, stated as recorded on Algorand in round", signed["attest"]["round"])
    return True


def main(*files: str) -> int:
    evidence = None
    if files[:1] == ("--evidence",):
        _, evidence, *files = files
    try:
        trust = read_trust(files[-1])
    except (LookupError, OSError, ValueError) as reason:
        sys.exit(f"keys: {reason}")
    results = [report(file, trust, evidence) for file in files[:-1]]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
