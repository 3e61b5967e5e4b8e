import { getBytes, getInteger, type MsgpackMap } from "@attestd/proof/algorand";
import { toBase32 } from "@attestd/proof/encoding";
import { goText } from "./members.ts";
import { getAddress, type SignedTransaction, ZERO_ADDRESS } from "./transaction.ts";

/** Prints microAlgos like go-algorand since 5.0: `1.999mA`, `1000.027971A`. */
export function printMicroAlgos(amount: bigint): string {
  if (amount === 0n) return "0.0A";
  if (amount < 1000n) return `${amount}uA`;
  return amount < 1_000_000n ? `${fixed(amount, 3)}mA` : `${fixed(amount, 6)}A`;
}

/** Millionths, always with six digits: `1.000100`. */
export function printMicros(amount: bigint): string {
  return `${amount / 1_000_000n}.${digits(amount % 1_000_000n, 6)}`;
}

/** Prints zero bytes like an array or slice in Go. */
export function printZeros(length: number): string {
  return printBytes(new Uint8Array(length));
}

/**
 * Prints a signed transaction like Go (`%+v`), because algod's answer to an invalid one begins so. Members of types
 * other than a payment are printed as zero: nobody reads them, and only their length matters to clients.
 */
export function printSigned({ txn, map }: SignedTransaction): string {
  const multisig = "{_struct:{} Version:0 Threshold:0 Subsigs:[]}";
  const quantum = "{_struct:{} Scheme:[0 0] Salt:0 PublicKey:[] Signature:[]}";
  const signature = printBytes(getBytes(map, "sig") ?? new Uint8Array(64));
  const program = `{_struct:{} Logic:[] Sig:${printZeros(64)} Msig:${multisig} LMsig:${multisig} PQsig:${quantum} Args:[]}`;
  const signer = getAddress(map, "sgnr") ?? ZERO_ADDRESS;
  const body = printTransaction(txn.map);
  return `{_struct:{} Sig:${signature} Msig:${multisig} Lsig:${program} PQsig:${quantum} Txn:${body} AuthAddr:${signer}}`;
}

function printTransaction(map: MsgpackMap): string {
  const address = (name: string) => getAddress(map, name) ?? ZERO_ADDRESS;
  const digest = (name: string) => toBase32(getBytes(map, name) ?? new Uint8Array(32));
  const header = [
    `Sender:${address("snd")} Fee:${printMicroAlgos(getInteger(map, "fee"))}`,
    `FirstValid:${getInteger(map, "fv")} LastValid:${getInteger(map, "lv")}`,
    `Note:${printBytes(getBytes(map, "note") ?? new Uint8Array())} GenesisID:${goText(map.get("gen"))}`,
    `GenesisHash:${digest("gh")} Group:${digest("grp")}`,
    `Lease:${printBytes(getBytes(map, "lx") ?? new Uint8Array(32))} RekeyTo:${address("rekey")}`,
  ].join(" ");
  const payment = `Receiver:${address("rcv")} Amount:${printMicroAlgos(getInteger(map, "amt"))} CloseRemainderTo:${address("close")}`;
  const asset = [
    "Total:0 Decimals:0 DefaultFrozen:false UnitName: AssetName: URL:",
    `MetadataHash:${printZeros(32)}`,
    ...["Manager", "Reserve", "Freeze", "Clawback"].map((role) => `${role}:${ZERO_ADDRESS}`),
  ].join(" ");
  const schema = "{NumUint:0 NumByteSlice:0}";
  return [
    `{_struct:{} Type:${goText(map.get("type"))} Header:{_struct:{} ${header}}`,
    `KeyregTxnFields:{_struct:{} VotePK:${printZeros(32)} SelectionPK:${printZeros(32)} StateProofPK:${printZeros(64)}`,
    "VoteFirst:0 VoteLast:0 VoteKeyDilution:0 Nonparticipation:false}",
    `PaymentTxnFields:{_struct:{} ${payment}}`,
    `AssetConfigTxnFields:{_struct:{} ConfigAsset:0 AssetParams:{_struct:{} ${asset}}}`,
    `AssetTransferTxnFields:{_struct:{} XferAsset:0 AssetAmount:0 AssetSender:${ZERO_ADDRESS}`,
    `AssetReceiver:${ZERO_ADDRESS} AssetCloseTo:${ZERO_ADDRESS}}`,
    `AssetFreezeTxnFields:{_struct:{} FreezeAccount:${ZERO_ADDRESS} FreezeAsset:0 AssetFrozen:false}`,
    "ApplicationCallTxnFields:{_struct:{} ApplicationID:0 OnCompletion:NoOpOC ApplicationArgs:[] Accounts:[]",
    `ForeignAssets:[] ForeignApps:[] Access:[] Boxes:[] LocalStateSchema:${schema} GlobalStateSchema:${schema}`,
    "ApprovalProgram:[] ClearStateProgram:[] ExtraProgramPages:0 RejectVersion:0}",
    "StateProofTxnFields:{_struct:{} StateProofType:0 StateProof:{} Message:{}} HeartbeatTxnFields:<nil>}",
  ].join(" ");
}

function printBytes(bytes: Uint8Array): string {
  return `[${bytes.join(" ")}]`;
}

function fixed(amount: bigint, decimals: number): string {
  const unit = 10n ** BigInt(decimals);
  const fraction = amount % unit;
  return fraction === 0n ? String(amount / unit) : `${amount / unit}.${digits(fraction, decimals)}`;
}

function digits(value: bigint, length: number): string {
  return value.toString().padStart(length, "0");
}
