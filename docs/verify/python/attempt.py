"""Computations on bytes that may not be what they should be."""


def attempt(compute):
    """What it computes; None where the bytes are not what they should be."""
    try:
        return compute()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
