"""Strict JSON, of which every reader sees the same value, and its canonical bytes."""

import json


def parse(data: bytes, most: int = 2**21, most_members: int = 4096):
    if len(data) > most:
        raise ValueError("too large")
    hooks = {"parse_int": integer, "parse_float": refuse, "parse_constant": refuse}
    value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique, **hooks)
    if members(value) > most_members:
        raise ValueError("too many members")
    canonical(value)  # refuses half a surrogate pair
    return value


def unique(pairs: list) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs) or "__proto__" in found:
        raise ValueError("a member that is there twice, or __proto__")
    return found


def integer(digits: str) -> int:
    if len(digits) > 17 or digits == "-0" or abs(int(digits)) >= 2**53:
        raise ValueError("an integer of 2^53 or more, or spelled otherwise")
    return int(digits)


def refuse(digits: str):
    raise ValueError(f"no integer, or spelled otherwise: {digits}")


def members(value, depth: int = 1) -> int:
    """Members of all objects and items of all lists."""
    if not isinstance(value, (dict, list)):
        return 0
    if depth > 16:
        raise ValueError("nested deeper than 16")
    return len(value) + sum(members(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))


def canonical(value) -> bytes:
    """RFC 8785, for values whose names are ASCII and whose numbers are integers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
