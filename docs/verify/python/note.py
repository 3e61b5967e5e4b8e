"""The note: its check against the bundle, and what that of a transaction states beyond it."""

import re

from form import ID, fits, integer
from strict_json import canonical, parse

PREFIX = "attestd/v1:j"


def is_note(text: str, facts: dict, chain: str, module) -> bool:
    """Whether a note states what was recomputed, and its other members have their form."""
    note = read(text)
    form = {"l": lambda level: level in module.LEVELS, "p": re.compile("[A-Za-z0-9_-]{21}[AQgw]")}
    if "t" in facts:  # a transaction's bundle does not hold its block
        form |= {"b": ID[chain], "n": integer(0), "u": integer(0)}
        form |= {"s": lambda outcome: type(outcome) is int and outcome in (0, 1)} if module.CAN_FAIL else {}
    stated = {name: note[name] for name in form}
    return fits(stated, form) and None not in facts.values() and text == PREFIX + canonical({**facts, **stated}).decode()


def statement(text: str) -> tuple:
    """What a transaction's note states: its block by hash, height and time, and how it ended there."""
    note = read(text)
    outcome = ("failed", "succeeded")[note["s"]] if "s" in note else "not_applicable"
    return note["b"], note["n"], note["u"], outcome


def read(text: str) -> dict:
    return parse(text.removeprefix(PREFIX).encode())
