import { randomBytes } from "node:crypto";
import type { Sandbox } from "@attestd/sandbox";
import { falconAddress } from "@attestd/service/signer";
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import algosdk from "algosdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const USDC = 31566704n;
/** microAlgos: a minimum balance, what the service keeps in reserve, and the fees of a million calls. */
const ATTESTOR_ALGO = 1_000_000_000n;
/** microAlgos: the minimum balance of an account that holds one asset. */
const PAYEE_ALGO = 200_000n;

const SOLANA_USDC = address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
const TOKEN_PROGRAM = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const ASSOCIATED_TOKEN_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
/** SPL's Associated Token Account program: `CreateIdempotent`. */
const CREATE_IDEMPOTENT = 1;

/** The key of the attestor's account. */
export const ACCOUNT_KEYS = ["ed25519", "falcon-1024"] as const;
export type AccountKey = (typeof ACCOUNT_KEYS)[number];

/** The attestor and the payees of one deployment. No other deployment uses them, so their history is its own. */
export type Accounts = {
  /** `mnemonic`: of the key that authorises its transactions. */
  attestor: { address: string; mnemonic: string; key: AccountKey };
  payTo: { algorand: string; base?: string; solana?: string };
};

/** Makes new accounts on every network of a sandbox, funded by it and ready to be paid. */
export async function newAccounts(sandbox: Sandbox, key: AccountKey = "ed25519"): Promise<Accounts> {
  const [algorand, solana] = await Promise.all([
    algorandAccounts(sandbox, key),
    sandbox.payers.solana && solanaPayee(sandbox, sandbox.payers.solana.secretKeyBase64),
  ]);
  return {
    attestor: algorand.attestor,
    payTo: {
      algorand: algorand.payee,
      ...(sandbox.payTo.base && { base: privateKeyToAccount(generatePrivateKey()).address }),
      ...(solana && { solana }),
    },
  };
}

/** Makes a key of an account, which needs no rekeying: its address is the key's. */
async function newAttestor(key: AccountKey): Promise<Accounts["attestor"]> {
  const seed = randomBytes(32);
  const mnemonic = algosdk.mnemonicFromSeed(seed);
  const address =
    key === "falcon-1024" ? await falconAddress(seed) : algosdk.mnemonicToSecretKey(mnemonic).addr.toString();
  return { address, mnemonic, key };
}

async function algorandAccounts({ algodUrl, algorand }: Sandbox, key: AccountKey) {
  const algod = new algosdk.Algodv2("", algodUrl, new URL(algodUrl).port);
  const suggestedParams = await algod.getTransactionParams().do();
  const { address: dispenser, secretKey } = algorand.accounts.dispenser;
  const [attestor, payee] = [await newAttestor(key), algosdk.generateAccount()];
  const fund = (receiver: algosdk.Address | string, amount: bigint) =>
    algosdk.makePaymentTxnWithSuggestedParamsFromObject({ sender: dispenser, receiver, amount, suggestedParams });
  const optIn = algosdk.makeAssetTransferTxnWithSuggestedParamsFromObject({
    sender: payee.addr,
    receiver: payee.addr,
    amount: 0,
    assetIndex: USDC,
    suggestedParams: { ...suggestedParams, flatFee: true, fee: 0n },
  });
  const funding = [fund(attestor.address, ATTESTOR_ALGO), fund(payee.addr, PAYEE_ALGO)];
  // The dispenser pays the payee's fee, so that the payee keeps exactly the minimum balance.
  for (const transaction of funding) transaction.fee *= 2n;
  algosdk.assignGroupID([...funding, optIn]);
  const signed = [...funding.map((transaction) => transaction.signTxn(secretKey)), optIn.signTxn(payee.sk)];
  const { txid } = await algod.sendRawTransaction(signed).do();
  await algosdk.waitForConfirmation(algod, txid, 10);
  return { attestor, payee: payee.addr.toString() };
}

/** A new owner with a USDC account, which the sandbox's payer pays for: stock clients pay only into an existing one. */
async function solanaPayee({ solanaRpcUrl }: Sandbox, secretKeyBase64: string): Promise<string> {
  const rpc = createSolanaRpc(solanaRpcUrl as string);
  const [payer, { address: owner }, { value: blockhash }] = await Promise.all([
    createKeyPairSignerFromBytes(Buffer.from(secretKeyBase64, "base64")),
    generateKeyPairSigner(),
    rpc.getLatestBlockhash().send(),
  ]);
  const instruction = {
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER, signer: payer },
      { address: await usdcAccountOf(owner), role: AccountRole.WRITABLE },
      { address: owner, role: AccountRole.READONLY },
      { address: SOLANA_USDC, role: AccountRole.READONLY },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
      { address: TOKEN_PROGRAM, role: AccountRole.READONLY },
    ],
    data: Uint8Array.of(CREATE_IDEMPOTENT),
  };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(blockhash, paid),
    (lasting) => appendTransactionMessageInstruction(instruction, lasting),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  await rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: "base64" }).send();
  return owner;
}

/** The address of an owner's USDC account on Solana. */
export async function usdcAccountOf(owner: Address): Promise<Address> {
  const seeds = [owner, TOKEN_PROGRAM, SOLANA_USDC].map((part) => getAddressEncoder().encode(part));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return account;
}
