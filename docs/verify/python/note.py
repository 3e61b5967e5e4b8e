"""The note: its check against the bundle, and what that of a transaction states beyond it."""

import re
from base64 import b64decode

import base
from form import ID, fits, integer
from strict_json import canonical, parse

PREFIX = "attestd/v1:j"


def is_note(text: str, facts: dict, chain: str, module) -> bool:
    """Whether a note states what was recomputed, and its other members have their form."""
    note = read(text)
    form = {"p": re.compile("[A-Za-z0-9_-]{21}[AQgw]")}
    if "r" not in facts:  # that of a batch says nothing of a chain
        form |= {"l": lambda level: level in module.LEVELS}
    if "t" in facts:  # a transaction's bundle does not hold its block
        form |= {"b": ID[chain], "n": integer(0), "u": integer(0)}
        form |= {"s": lambda outcome: type(outcome) is int and outcome in (0, 1)} if module.CAN_FAIL else {}
    stated = {name: note[name] for name in form}
    return fits(stated, form) and None not in facts.values() and text == PREFIX + canonical({**facts, **stated}).decode()


def statement(bundle: dict) -> tuple:
    """What is stated of a transaction: its block by hash, height and time, and how it ended there."""
    if "statement" in bundle:
        block = bundle["statement"]["block"]
        return block["hash"], block["height"], block["time"], bundle["statement"]["outcome"]
    note = read(bundle["attest"]["note"])
    outcome = ("failed", "succeeded")[note["s"]] if "s" in note else "not_applicable"
    return note["b"], note["n"], note["u"], outcome


def read(text: str) -> dict:
    """What stands behind the prefix, where a byte order mark is no JSON."""
    if not text.startswith(PREFIX) or text.startswith(PREFIX + "\ufeff"):
        raise ValueError("no note")
    return parse(text.removeprefix(PREFIX).encode())


def outcome(bundle: dict) -> str | None:
    """What became of the transaction, where the bundle has its receipt."""
    receipt = bundle["inclusion"].get("receipt")
    return receipt and base.receipt_status(b64decode(receipt["bytesBase64"]), b64decode(bundle["source"]["txnBytesBase64"]))
