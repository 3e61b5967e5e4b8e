"""A batch: many transactions under one head, which is what the key signed."""

import hashlib
from base64 import b64decode

from form import chain_of
from strict_json import canonical


def signed_part(bundle: dict) -> dict:
    """What the key signed, with its signature: the head of an item's batch, of every other bundle all of it."""
    return bundle.get("batch", bundle)


def items_of(value: dict) -> list[dict] | None:
    """The items of the answer of a batch, each with its head; None where it is none."""
    head, items = value["batch"], value["items"]
    bundles = [{**item, "batch": head} for item in items]
    is_whole = value.keys() == {"batch", "items"} and bundles and head["size"] == len(items)
    places = [item["proof"]["index"] for item in items] == list(range(len(items)))
    is_formed = places and all("batch" not in item for item in items) and all(map(chain_of, bundles))
    return bundles if is_whole and is_formed else None


def is_in_batch(bundle: dict) -> bool:
    """Whether an item's statement is a leaf of its batch (RFC 9162 section 2.1.3.2)."""
    proof, head = bundle["proof"], bundle["batch"]
    place, last = proof["index"], head["size"] - 1
    if place > last:
        return False
    root = hashlib.sha256(b"\0" + canonical(bundle["statement"])).digest()
    for sibling in map(b64decode, proof["siblings"]):
        if last == 0:
            return False
        is_right = place & 1 == 1 or place == last
        root = hashlib.sha256(b"\1" + (sibling + root if is_right else root + sibling)).digest()
        while is_right and place & 1 == 0 and place != 0:
            place, last = place >> 1, last >> 1
        place, last = place >> 1, last >> 1
    return last == 0 and root == b64decode(head["root"])


def note_of(facts: dict, head: dict) -> dict:
    """What the note of a batch must state beside key, ledger and payment."""
    return {**facts, "r": b64decode(head["root"]).hex(), "z": head["size"]}
