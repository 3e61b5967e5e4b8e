import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import algosdk from "algosdk";
import { expect, test } from "vitest";
import type { SandboxRequest } from "./http.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";

/** Whether something still listens there. */
const answers = (url: string) => fetch(url).then(Boolean, () => false);

test("starts every network and one facilitator for all rails, and stops all of them on close", async () => {
  const sandbox = await startSandbox({ roundMs: 100 });
  const { algodUrl, indexerUrl, baseRpcUrl = "", solanaRpcUrl = "", facilitatorUrl, payers, payTo } = sandbox;

  const { kinds } = (await (await fetch(`${facilitatorUrl}/supported`)).json()) as { kinds: { network: string }[] };
  expect(kinds.map(({ network }) => network)).toEqual([
    "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
    "eip155:8453",
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  ]);
  expect(payers.base?.privateKey).toMatch(/^0x[0-9a-f]{64}$/);
  expect(Buffer.from(payers.solana?.secretKeyBase64 ?? "", "base64")).toHaveLength(64);
  expect(new Set(Object.values(payTo)).size).toBe(3);

  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const indexer = new algosdk.Indexer("", indexerUrl, new URL(indexerUrl).port);
  const params = await algod.getTransactionParams().do();
  expect(Buffer.from(params.genesisHash ?? []).toString("base64")).toBe(sandbox.genesisHash);
  const { algorand: txid, algorandHeight } = sandbox.sampleTransactions;
  const { transaction } = await indexer.lookupTransactionByID(txid).do();
  expect(transaction.confirmedRound).toBe(BigInt(algorandHeight));
  expect(new TextDecoder().decode(transaction.note)).toMatch(/^attestd sandbox: /);
  const payer = algosdk.mnemonicToSecretKey(payers.algorand.mnemonic);
  expect(payer.addr.toString()).toBe(payers.algorand.address);
  const { round } = sandbox.algorand.ledger;
  expect((await algod.statusAfterBlock(round).do()).lastRound).toBe(BigInt(round + 1));

  await sandbox.close();
  for (const url of [algodUrl, indexerUrl, baseRpcUrl, solanaRpcUrl, facilitatorUrl])
    expect(await answers(url)).toBe(false);
});

test("leaves out the members of absent networks, and shares no key or genesis with another sandbox", async () => {
  const sandboxes = await Promise.all([startSandbox({ networks: [] }), startSandbox({ networks: [] })]);
  const [one, other] = sandboxes as [Sandbox, Sandbox];
  try {
    expect(Object.keys(one).sort()).toEqual([
      "algodUrl",
      "algorand",
      "attestor",
      "close",
      "died",
      "facilitatorUrl",
      "facilitators",
      "genesisHash",
      "genesisId",
      "indexerUrl",
      "ledgerCaip2",
      "payTo",
      "payers",
      "sampleTransactions",
      "sourceChains",
    ]);
    for (const member of [one.payers, one.payTo]) expect(Object.keys(member)).toEqual(["algorand"]);
    expect(Object.keys(one.sampleTransactions)).toEqual(["algorand", "algorandHeight"]);
    expect(one.genesisHash).not.toBe(other.genesisHash);
    expect(one.ledgerCaip2).toMatch(/^algorand:[-\w]{32}$/);
    expect(one.payers.algorand.mnemonic).not.toBe(other.payers.algorand.mnemonic);
  } finally {
    for (const sandbox of sandboxes) await sandbox.close();
  }
});

test("listens on the configured ports, and stops everything when one of them is in use", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  const taken = (holder.address() as AddressInfo).port;
  const free = await startSandbox({ networks: [] });
  await free.close();
  const ports = { algod: Number(new URL(free.algodUrl).port), facilitator: taken };
  await expect(startSandbox({ networks: ["solana"], ports })).rejects.toThrow("EADDRINUSE");
  expect(await answers(free.algodUrl)).toBe(false);
  holder.close();

  const { facilitator: _, ...rest } = ports;
  const sandbox = await startSandbox({ networks: [], ports: rest });
  expect(sandbox.algodUrl).toBe(free.algodUrl);
  await sandbox.close();
});

test("calls its observer with every request and the name of the server", async () => {
  const seen: SandboxRequest[] = [];
  const sandbox = await startSandbox({ networks: [], onRequest: (request) => seen.push(request) });
  await fetch(`${sandbox.algodUrl}/v2/status?x=1`);
  await fetch(`${sandbox.indexerUrl}/health`);
  await fetch(`${sandbox.facilitatorUrl}/verify`, { method: "POST", body: "{}" });
  await sandbox.close();
  expect(seen).toEqual([
    { server: "algod", method: "GET", url: "/v2/status?x=1" },
    { server: "indexer", method: "GET", url: "/health" },
    { server: "facilitator", method: "POST", url: "/verify" },
  ]);
});
