"""Buys with PyPI's x402 on Base or Solana: buy_x402.py SANDBOX_JSON TXID RAIL."""

import base64
import sys

from sandbox import SANDBOX, base_payer, buy_over_http
from x402 import x402ClientSync
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact.client import ExactSvmScheme

_, _, txid, rail = sys.argv
client = x402ClientSync()
if rail == "base":
    base_payer(client)
else:
    signer = KeypairSigner.from_bytes(base64.b64decode(SANDBOX["payers"]["solana"]["secretKeyBase64"]))
    client.register("solana:*", ExactSvmScheme(signer, rpc_url=SANDBOX["solanaRpcUrl"]))
buy_over_http(client, txid)
