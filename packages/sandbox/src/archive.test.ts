import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import algosdk from "algosdk";
import { createPublicClient, http, keccak256, numberToHex } from "viem";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { fund, pay, startTestNetwork } from "../test/algorand-network.ts";
import { signTransaction } from "./algorand/account.ts";
import { openArchive } from "./archive.ts";
import { startBase } from "./base/network.ts";
import { startSolana } from "./solana/network.ts";
import { associatedTokenAddress } from "./solana/token.ts";

const ARCHIVE = new URL("./archive.ts", import.meta.url).href;

const VERSIONS = { commitment: "confirmed", maxSupportedTransactionVersion: 1, encoding: "base64" };

async function solanaCall({ rpcUrl }: { rpcUrl: string }, method: string, params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result } = JSON.parse(await answer.text());
  if (result === undefined) throw new Error(`no result of ${method}`);
  return result;
}

/** Returns an account's signatures, newest first, once it has any. */
async function signatures(
  network: { rpcUrl: string },
  account: string,
): Promise<{ signature: string; slot: number }[]> {
  const list = () => solanaCall(network, "getSignaturesForAddress", [account, { commitment: "confirmed" }]);
  await expect.poll(async () => (await list()).length, { timeout: 20_000 }).toBeGreaterThan(0);
  return (await list()).map(({ signature, slot }: { signature: string; slot: number }) => ({ signature, slot }));
}

test("Algorand goes on where it was: keys, balances, leases, blocks, and rounds that follow the last one", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  const before = openArchive(path);
  const first = await startTestNetwork({ archive: before.of("algorand"), now: () => 1_700_000_000_000 });
  const { payer } = first.accounts;
  const lease = new Uint8Array(32).fill(7);
  const leased = await pay(first, payer, { lease });
  await first.algod.sendRawTransaction(signTransaction(payer, leased)).do();
  const { round } = first.ledger.advance();
  const account = await first.algod.accountInformation(payer.address).do();
  const last = await first.algod.block(round).do();
  const lastHash = (await first.algod.getBlockHash(round).do()).blockhash;
  await first.close();
  before.close();

  const after = openArchive(path);
  const network = await startTestNetwork({ archive: after.of("algorand"), now: () => 1_700_086_400_000 });
  expect([network.genesisHash, network.sample]).toEqual([first.genesisHash, first.sample]);
  expect(network.accounts.payer.mnemonic).toBe(payer.mnemonic);
  expect(await network.algod.block(round).do()).toEqual(last);
  const next = (await network.algod.block(round + 1).do()).block.header;
  // 52 characters of base32, which are the first of an address.
  expect(algosdk.encodeAddress(next.branch).slice(0, 51)).toBe(lastHash.slice(0, 51));
  expect(next.timestamp).toBe(1_700_086_400n);
  const kept = await network.algod.accountInformation(payer.address).do();
  expect([kept.amount, kept.assets]).toEqual([account.amount, account.assets]);
  const again = await pay(network, payer, { lease });
  const sending = network.algod.sendRawTransaction(signTransaction(payer, again)).do();
  await expect(sending).rejects.toThrow(/overlapping lease/);
  const found = await network.indexer.lookupTransactionByID(leased.txID()).do();
  expect(Number(found.transaction.confirmedRound)).toBe(round);
  await fund(network, payer.address, 1);
  await network.close();
  after.close();
});

test("Base serves the blocks of before below the new ones, and Solana its transactions", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  const read = async ({ rpcUrl }: { rpcUrl: string }, hash: `0x${string}`) => {
    const client = createPublicClient({ transport: http(rpcUrl) });
    const receipt = await client.getTransactionReceipt({ hash });
    const { blockHash, blockNumber } = receipt;
    return {
      receipt,
      block: await client.getBlock({ blockHash, includeTransactions: true }),
      hashes: (await client.getBlock({ blockNumber })).transactions,
      transaction: await client.getTransaction({ hash }),
      raw: await client.request({ method: "eth_getRawTransactionByHash" as never, params: [hash] as never }),
      receipts: await client.request({ method: "eth_getBlockReceipts" as never, params: [blockHash] as never }),
      logs: await client.getLogs({ address: receipt.to ?? undefined, fromBlock: blockNumber, toBlock: blockNumber }),
      finalized: (await client.getBlock({ blockTag: "finalized" })).number >= blockNumber,
    };
  };
  const archive = openArchive(path);
  const base = await startBase({ denim: true, archive: archive.of("base") });
  const seen = await read(base, base.sample.hash);
  await base.close();
  const solana = await startSolana({ slotMs: 20, archive: archive.of("solana") });
  const account = await associatedTokenAddress(solana.payTo.address);
  const [sent = { signature: "", slot: 0 }] = await signatures(solana, account);
  const transaction = await solanaCall(solana, "getTransaction", [sent.signature, VERSIONS]);
  await solana.close();
  archive.close();

  const kept = openArchive(path);
  const newBase = await startBase({ blockMs: 100, archive: kept.of("base") });
  expect(await read(newBase, base.sample.hash)).toEqual({ ...seen, finalized: true });
  // Including deposits, whose bytes anvil does not give.
  const client = createPublicClient({ transport: http(newBase.rpcUrl) });
  for (const [index, hash] of seen.hashes.entries()) {
    const params = [seen.receipt.blockHash, numberToHex(index)] as never;
    const raw = await client.request({ method: "eth_getRawTransactionByBlockHashAndIndex" as never, params });
    expect(keccak256(raw)).toBe(hash);
  }
  expect([newBase.payer, newBase.payTo]).toEqual([base.payer, base.payTo]);
  expect(newBase.sample.height).toBeGreaterThan(base.sample.height);
  await newBase.close();
  const newSolana = await startSolana({ slotMs: 20, archive: kept.of("solana") });
  expect(newSolana.payer).toEqual(solana.payer);
  expect(await solanaCall(newSolana, "getTransaction", [sent.signature, VERSIONS])).toEqual(transaction);
  const listed = await signatures(newSolana, account);
  expect(listed).toContainEqual(sent);
  expect(await solanaCall(newSolana, "getSlot", [{ commitment: "finalized" }])).toBeGreaterThan(sent.slot);
  await newSolana.close();
  kept.close();
});

test("a process that is killed while it writes leaves what it has reported as kept", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  const program = `import { openArchive } from ${JSON.stringify(ARCHIVE)};
    const part = openArchive(process.argv[1]).of("algorand");
    for (let height = 1; ; height++) {
      part.whole(() => part.add(height, new Uint8Array(1000).fill(height)));
      if (height % 100 === 0) process.stdout.write(height + "\\n");
    }`;
  const writer = spawn(process.execPath, ["--input-type=module", "-e", program, path]);
  let reported = 0;
  for await (const line of writer.stdout) {
    reported = Number(String(line).trim().split("\n").at(-1));
    if (reported >= 500) break;
  }
  writer.kill("SIGKILL");
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, "exit");

  const archive = openArchive(path);
  const records = archive.of("algorand").records();
  expect(records.length).toBeGreaterThanOrEqual(reported);
  expect(archive.of("algorand").height()).toBe(records.length);
  expect(records.every((record, i) => record.length === 1000 && record[0] === (i + 1) % 256)).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  archive.close();
});

test("says when the disk takes no more, and keeps nothing after that", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  const program = `import { openArchive } from ${JSON.stringify(ARCHIVE)};
    const archive = openArchive(process.argv[1]);
    const part = archive.of("algorand");
    let reason;
    archive.broken.then((why) => (reason = why));
    let height = 0;
    while (reason === undefined) {
      part.add(++height, new Uint8Array(10_000));
      await undefined;
    }
    part.add(height + 1, new Uint8Array(1));
    console.log(JSON.stringify({ height, reason }));`;
  // Limits files to 512 blocks of 512 bytes (the shell's unit); a larger file fails like on a full disk.
  const command = [
    "-c",
    'ulimit -f 512; exec "$@"',
    "sh",
    process.execPath,
    "--input-type=module",
    "-e",
    program,
    path,
  ];
  const writer = spawn("sh", command, { stdio: ["ignore", "pipe", "inherit"] });
  const { height, reason } = JSON.parse(await text(writer.stdout));
  expect(reason).toMatch(/networks\.db cannot be written: (disk I\/O error|database or disk is full)$/);
  const archive = openArchive(path);
  const { length } = archive.of("algorand").records();
  expect([length, length + 1]).toContain(archive.of("algorand").height());
  expect(length).toBeLessThan(height);
  archive.close();
});

test("forgets spare records a thousand heights back at the next start, and nothing else", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  const before = openArchive(path);
  const part = before.of("algorand");
  part.whole(() => {
    for (let height = 0; height <= 1500; height++)
      part.add(height, Uint8Array.of(height >> 8, height), height % 100 > 0);
  });
  before.of("base").note(9);
  before.close();
  const after = openArchive(path);
  const heights = after
    .of("algorand")
    .records()
    .map(([high = 0, low = 0]) => (high << 8) | low);
  expect(heights.slice(0, 8)).toEqual([0, 100, 200, 300, 400, 500, 501, 502]);
  expect(heights).toHaveLength(5 + 1001);
  expect([after.of("base").height(), after.of("solana").height()]).toEqual([9, undefined]);
  after.close();
});

test.each([
  ["garbage", Buffer.from("not a database, but long enough to be read as the header of one".repeat(3))],
  ["another program's database", undefined],
])("takes no %s", async (_, bytes) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "networks.db");
  if (bytes) await writeFile(path, bytes);
  else {
    const { DatabaseSync } = await import("node:sqlite");
    new DatabaseSync(path).exec("CREATE TABLE t (a); PRAGMA application_id = 1");
  }
  expect(() => openArchive(path)).toThrow(/not a (database|file of a sandbox)/);
});
