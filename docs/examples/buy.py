# Buys an attestation with the stock x402 client for Python: nothing in here is ours.
#   pip install "x402[evm,requests]==2.25.0"
import json

from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client

with open(".attestd/sandbox.json", encoding="utf-8") as file:
    sandbox = json.load(file)

payer = EthAccountSigner(Account.from_key(sandbox["payers"]["base"]["privateKey"]))
client = register_exact_evm_client(x402ClientSync(), payer)

answer = x402_requests(client).post(
    f"{sandbox['serviceUrl']}/attest",
    json={"txid": sandbox["sampleTransactions"]["base"]},
    timeout=150,
)
print(json.dumps(answer.json()))
