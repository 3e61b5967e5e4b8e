"""The form of the evidence beside a bundle."""

import hashlib
import re

from algorand import is_address
from form import HEX, b64, fits, integer
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
SOURCE_INCLUSION, SOURCE_STATE_PROOF = "algorand-source-inclusion/1", "algorand-source-state-proof/1"
UNDER_HEADER = {"headerBase64": b64(), "index": integer(0), "stibBase64": b64(), "siblings": [b64(32)]}
STAKE = {
    **{"siblings": [b64(32)], "message": MESSAGE, "stateProofSha256": HEX},
    **{"stateProofBase64?": b64(), "checkpoint": CHECKPOINT},
    "path?": lambda path: fits(path, PATH) and path["index"] < path["size"],
}
FORMS = {
    INCLUSION: {"txnBytesBase64": b64(), **UNDER_HEADER},
    STATE_PROOF: STAKE,
    AUTHORISATION: {"alg": re.compile("ed25519|falcon-1024"), "authorizer?": is_address},
    SOURCE_INCLUSION: UNDER_HEADER,
    SOURCE_STATE_PROOF: STAKE,
}
ITEMS = {name: {"type": name, **form} for name, form in FORMS.items()}


def is_item(item) -> bool:
    known = isinstance(item, dict) and isinstance(item.get("type"), str)
    return known and (item["type"] not in ITEMS or fits(item, ITEMS[item["type"]]))


EVIDENCE = {"format": "attestd.evidence/1", "bundle": re.compile("sha256:[0-9a-f]{64}"), "items": [is_item]}


def read_evidence(text: bytes, bundle: dict) -> dict[str, dict]:
    """The known items, by their types."""
    evidence = parse(text, 9 * 2**20)
    own = "sha256:" + hashlib.sha256(canonical(bundle)).hexdigest()
    if not fits(evidence, EVIDENCE) or evidence["bundle"] != own:
        raise ValueError("another form, or of another bundle")
    known = [item for item in evidence["items"] if item["type"] in ITEMS]
    items = {item["type"]: item for item in known}
    if len(items) < len(known):
        raise ValueError("an item twice")
    return items
