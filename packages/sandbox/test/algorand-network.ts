import algosdk, { type Algodv2, type Indexer, type Transaction } from "algosdk";
import { type SandboxAccount, signTransaction } from "../src/algorand/account.ts";
import { type AlgorandNetwork, type AlgorandOptions, startAlgorand } from "../src/algorand/network.ts";

/** A network whose rounds a test makes, with algosdk's own clients before it. */
export interface TestNetwork extends AlgorandNetwork {
  algod: Algodv2;
  indexer: Indexer;
}

export async function startTestNetwork(options: Partial<AlgorandOptions> = {}): Promise<TestNetwork> {
  const network = await startAlgorand({ roundMs: 0, ...options });
  return {
    ...network,
    algod: new algosdk.Algodv2("", network.algodUrl, new URL(network.algodUrl).port),
    indexer: new algosdk.Indexer("", network.indexerUrl, new URL(network.indexerUrl).port),
  };
}

/** microAlgos from the dispenser, confirmed at once. */
export async function fund(network: TestNetwork, address: string, amount: number): Promise<void> {
  const { dispenser } = network.accounts;
  const payment = await pay(network, dispenser, { receiver: address, amount });
  await network.algod.sendRawTransaction(signTransaction(dispenser, payment)).do();
  network.ledger.advance();
}

export interface PaymentFields {
  receiver?: string;
  amount?: number | bigint;
  note?: string;
  fee?: number;
  lease?: Uint8Array;
  firstValid?: number;
  lastValid?: number;
  rekeyTo?: string;
  closeRemainderTo?: string;
}

let unique = 0;

/** An unsigned payment with a unique note; to its sender by default. */
export async function pay(
  network: TestNetwork,
  from: SandboxAccount,
  fields: PaymentFields = {},
): Promise<Transaction> {
  const { fee, firstValid, lastValid, note, ...rest } = fields;
  const params = await network.algod.getTransactionParams().do();
  return algosdk.makePaymentTxnWithSuggestedParamsFromObject({
    sender: from.address,
    receiver: from.address,
    amount: 0,
    ...rest,
    note: new TextEncoder().encode(note ?? `payment ${unique++}`),
    suggestedParams: {
      ...params,
      ...(fee === undefined ? {} : { fee: BigInt(fee), flatFee: true }),
      firstValid: BigInt(firstValid ?? params.firstValid),
      lastValid: BigInt(lastValid ?? params.lastValid),
    },
  });
}

/** An unsigned asset transfer. */
export async function transfer(
  network: TestNetwork,
  from: SandboxAccount,
  fields: {
    receiver?: string;
    amount?: number | bigint;
    assetIndex?: number;
    closeRemainderTo?: string;
    assetSender?: string;
  },
): Promise<Transaction> {
  return algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender: from.address,
    receiver: from.address,
    amount: 0,
    assetIndex: 31566704,
    ...fields,
    note: new TextEncoder().encode(`transfer ${unique++}`),
    suggestedParams: await network.algod.getTransactionParams().do(),
  });
}

/** Sends signed transactions as one group. @returns the id, or the error's status and message */
export async function submit(network: TestNetwork, ...signed: Uint8Array[]): Promise<string> {
  const answer = await fetch(`${network.algodUrl}/v2/transactions`, {
    method: "POST",
    headers: { "content-type": "application/x-binary" },
    body: Buffer.concat(signed),
  });
  const body = (await answer.json()) as { txId?: string; message?: string };
  return answer.status === 200 ? String(body.txId) : `${answer.status} ${body.message}`;
}

/** Status and JSON body of an answer. */
export async function askJson<T>(url: string, init?: RequestInit): Promise<{ status: number; body: T }> {
  const answer = await fetch(url, init);
  return { status: answer.status, body: (await answer.json()) as T };
}

/** Status and message of an error. */
export async function askError(url: string): Promise<string> {
  const { status, body } = await askJson<{ message: string }>(url);
  return `${status} ${body.message}`;
}
