"""What the buyers share: the sandbox's file (the first argument), its wallet on Base, and the form of what they print."""

import base64
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    SANDBOX = json.load(file)


def base_payer(client):
    """Registers the sandbox's wallet on Base with an x402 client, and returns the client."""
    from eth_account import Account
    from x402.mechanisms.evm import EthAccountSigner
    from x402.mechanisms.evm.exact import register_exact_evm_client

    return register_exact_evm_client(client, EthAccountSigner(Account.from_key(SANDBOX["payers"]["base"]["privateKey"])))


async def pay(client, required):
    """Signs one offer of an x402 PaymentRequired. Returns the PaymentPayload as JSON has it."""
    from x402.schemas import PaymentRequired

    payload = await client.create_payment_payload(PaymentRequired.model_validate(required))
    return payload.model_dump(by_alias=True, exclude_none=True, mode="json")


def buy_over_http(client, txid):
    """Buys with the stock session of `requests`, and prints the answer."""
    from x402.http.clients import x402_requests

    answer = x402_requests(client).post(f"{SANDBOX['serviceUrl']}/attest", json={"txid": txid}, timeout=120)
    receipt = answer.headers.get("PAYMENT-RESPONSE")
    print_purchase(answer.json(), receipt and json.loads(base64.b64decode(receipt)))


def print_purchase(bundle, receipt):
    """Prints a purchase as the runner reads it: the answer's body and the decoded PAYMENT-RESPONSE."""
    print(json.dumps({"bundle": bundle, "receipt": receipt}))
