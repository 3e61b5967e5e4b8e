"""Buys with PyPI's x402-avm on Algorand: buy_x402_avm.py SANDBOX_JSON TXID."""

import base64
import sys

from algosdk import encoding, mnemonic
from sandbox import SANDBOX, buy_over_http
from x402 import x402ClientSync
from x402.mechanisms.avm.constants import MAINNET_GENESIS_HASH
from x402.mechanisms.avm.exact import register_exact_avm_client

MAINNET = f"algorand:{MAINNET_GENESIS_HASH}"


class Signer:
    """The package's `ClientAvmSigner`, by algosdk."""

    address = SANDBOX["payers"]["algorand"]["address"]
    key = mnemonic.to_private_key(SANDBOX["payers"]["algorand"]["mnemonic"])

    def sign_transactions(self, unsigned_txns, indexes_to_sign):
        def signed(txn):
            transaction = encoding.msgpack_decode(base64.b64encode(txn).decode())
            return base64.b64decode(encoding.msgpack_encode(transaction.sign(self.key)))

        return [signed(txn) if index in indexes_to_sign else None for index, txn in enumerate(unsigned_txns)]


def with_whole_hash(_, offers):
    """Names MainNet as this package knows it, by its whole genesis hash; CAIP-2 and our offers have 32 characters of it."""
    return [
        offer.model_copy(update={"network": MAINNET}) if MAINNET.startswith(offer.network) else offer
        for offer in offers
    ]


client = x402ClientSync()
register_exact_avm_client(client, Signer(), policies=[with_whole_hash], algod_url=SANDBOX["algodUrl"])
buy_over_http(client, sys.argv[2])
