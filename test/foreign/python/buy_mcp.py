"""Buys over MCP with PyPI's mcp or fastmcp, and x402: buy_mcp.py SANDBOX_JSON TXID PACKAGE."""

import asyncio
import sys

from sandbox import SANDBOX, base_payer, pay, print_purchase
from x402 import x402Client

_, _, txid, package = sys.argv
if package == "mcp":
    from mcp.client import Client

    WITHOUT_RAISING = {}
else:
    from fastmcp import Client

    WITHOUT_RAISING = {"raise_on_error": False}


async def main():
    payer = base_payer(x402Client())
    async with Client(SANDBOX["mcpUrl"]) as client:

        async def attest(**options):
            return await client.call_tool("attest", {"txid": txid}, **WITHOUT_RAISING, **options)

        payment = await pay(payer, (await attest()).structured_content)
        result = await attest(meta={"x402/payment": payment})
    print_purchase(result.structured_content, result.meta.get("x402/payment-response"))


asyncio.run(main())
