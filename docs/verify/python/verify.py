"""python3 verify.py [--evidence EVIDENCE] FILE... KEYS: says which checks each bundle, batch or receipt passes.

It exits with 0 if all pass all, else with 1. EVIDENCE is of one bundle. KEYS is the file of a key history, or the kid of the one key that is believed. python3 verify.py -
reads such arguments from standard input, a JSON list in each line, and says behind each what the exit code would be.
docs/format.md as a program: it shares nothing with attestd but Python's own library and the package `cryptography`, 48 or
later.
"""

import json
import sys
from pathlib import Path

from attempt import attempt
from batch import items_of, signed_part
from checks import check
from evidence import check_evidence
from form import chain_of
from keys import MAINNET, judge_key, key_id, read_trust
from note import outcome, statement
from receipt import is_receipt, report_receipt
from strict_json import parse


def report_bundle(bundle, trust: dict, evidence: str | None) -> bool:
    """Says what is right and wrong with a bundle, and whether it verifies."""
    chain = chain_of(bundle)
    results = {"schema": chain is not None, **(check(bundle, chain, trust) if chain else {})}
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
    shown, said = check_evidence(evidence, bundle, results) if chain and evidence else ({}, [])
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


def report(file: str, trust: dict, evidence: str | None) -> bool:
    """Says what is right and wrong with what a file holds, and whether all of it verifies."""
    data = Path(file).read_bytes()
    value = attempt(lambda: parse(data))
    items = attempt(lambda: items_of(parse(data, 2**24, 64_000) if value is None else value))
    named = [(file, value)] if items is None else [(f"{file} {index}", item) for index, item in enumerate(items)]
    return all([report_one(name, one, trust, evidence) for name, one in named])


def report_one(name: str, value, trust: dict, evidence: str | None) -> bool:
    print(name)
    if not is_receipt(value):
        return report_bundle(value, trust, evidence)
    verified = attempt(lambda: report_receipt(value, trust))
    if verified is None:
        print("FAIL schema\nnot verified")
    return verified is True


def run(*files: str) -> int:
    """Judges what the arguments name, and gives the exit code."""
    evidence = None
    if files[:1] == ("--evidence",):
        _, evidence, *files = files
    try:
        trust = read_trust(files[-1])
    except (LookupError, OSError, ValueError, RecursionError) as reason:
        print(f"keys: {reason}", file=sys.stderr)
        return 1
    results = [report(file, trust, evidence) for file in files[:-1]]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    if sys.argv[1:] != ["-"]:
        sys.exit(run(*sys.argv[1:]))
    for line in sys.stdin:
        print("exit", run(*json.loads(line)))
