"""Buys over A2A with PyPI's a2a-sdk and x402: buy_a2a.py SANDBOX_JSON TXID."""

import asyncio
import sys
import uuid

from a2a.client import ClientFactory
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from sandbox import SANDBOX, base_payer, pay, print_purchase
from x402 import x402Client


async def send(agent, **message):
    """Sends a message. Returns the task of the last event."""
    request = {"message": {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", **message}}
    events = [event async for event in agent.send_message(ParseDict(request, a2a_pb2.SendMessageRequest()))]
    return MessageToDict(events[-1])["task"]


async def main():
    payer = base_payer(x402Client())
    agent = await ClientFactory().create_from_url(SANDBOX["serviceUrl"])
    task = await send(agent, parts=[{"data": {"skill": "attest", "txid": sys.argv[2]}}])
    payment = await pay(payer, task["status"]["message"]["metadata"]["x402.payment.required"])
    metadata = {"x402.payment.status": "payment-submitted", "x402.payment.payload": payment}
    task = await send(agent, taskId=task["id"], parts=[], metadata=metadata)
    receipts = task["status"]["message"]["metadata"]["x402.payment.receipts"]
    print_purchase(task["artifacts"][0]["parts"][0]["data"], receipts[0])


asyncio.run(main())
