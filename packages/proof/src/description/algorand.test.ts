import {
  Address,
  decodeUnsignedTransaction,
  makeAssetTransferTxnWithSuggestedParamsFromObject,
  makePaymentTxnWithSuggestedParamsFromObject,
} from "algosdk";
import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { ALGORAND_MAINNET, ALGORAND_MAINNET_GENESIS_HASH, algorandCaip2 } from "../algorand/network.ts";
import { fromBase64 } from "../encoding.ts";
import { describeAlgorandTransaction } from "./algorand.ts";
import type { Description } from "./description.ts";

// biome-ignore lint/suspicious/noExplicitAny: an indexer's answers.
type Indexed = any;
type Recorded = { label: string; txid: string; unsignedMsgpackBase64: string; indexer: Indexed[] };

const account = ({ parties }: Description, role: string) => parties.find((one) => one.role === role)?.account;
const SANDBOX = "algorand:ekIDYRawz1wXUrUbmwqm24YRNU6KFFKF";

describe("every kind of Algorand transaction, as the indexer has it", () => {
  const recorded: Recorded[] = vectors.json("go-algorand/algod-transactions.json");
  const all = recorded.flatMap(({ label, unsignedMsgpackBase64, indexer: [json] }) => {
    const bytes = fromBase64(unsignedMsgpackBase64);
    return json === undefined ? [] : [{ label, json, bytes, described: describeAlgorandTransaction(bytes, SANDBOX) }];
  });
  const of = (type: string) => all.filter(({ json }) => json["tx-type"] === type);

  it("is from its sender, and hands over to whom its rekey names", () => {
    expect(all.length).toBeGreaterThan(90);
    for (const { described, json } of all) {
      expect(described.sender).toBe(json.sender);
      expect(account(described, "From")).toBe(json.sender);
      expect(account(described, "Account handed to (rekey)")).toBe(json["rekey-to"]);
      expect(described.title.toLowerCase().includes("rekey")).toBe(json["rekey-to"] !== undefined);
    }
  });

  it("pays", () => {
    for (const { described, json } of of("pay")) {
      const { amount, receiver, "close-remainder-to": rest } = json["payment-transaction"];
      if (described.kind === "rekey") expect([amount, receiver]).toEqual([0, json.sender]);
      else expect([described.kind, described.amount?.units]).toEqual(["payment", String(amount)]);
      if (described.kind !== "rekey") expect(account(described, "To")).toBe(receiver);
      expect(account(described, "The rest goes to (close-out)")).toBe(rest);
    }
  });

  it("transfers, opts in, claws back and closes out", () => {
    const kinds = of("axfer").map(({ described, json, bytes }) => {
      const { receiver, sender: taken, "close-to": rest, "asset-id": asset } = json["asset-transfer-transaction"];
      // JSON.parse rounds the indexer's amounts.
      const units = decodeUnsignedTransaction(bytes).assetTransfer?.amount;
      if (described.amount) {
        expect(described.amount.units).toBe(String(units));
        expect(described.amount.text).toContain(`of asset ${asset}`);
        expect(account(described, "To")).toBe(receiver);
      } else expect(units).toBe(0n);
      expect(account(described, "Taken from")).toBe(taken);
      expect(account(described, "The rest goes to (close-out)")).toBe(rest);
      return described.title;
    });
    expect(new Set(kinds)).toEqual(new Set(["Asset opt-in", "Asset transfer", "Asset clawback", "Asset close-out"]));
  });

  it("makes, changes and destroys assets", () => {
    const kinds = of("acfg").map(({ described, json }) => {
      const { params, "asset-id": asset } = json["asset-config-transaction"];
      for (const [role, member] of [
        ["Manager", "manager"],
        ["Reserve", "reserve"],
        ["May freeze", "freeze"],
        ["May claw back", "clawback"],
      ] as const)
        expect(account(described, role)).toBe(params?.[member]);
      const kind =
        params === undefined ? "destruction" : asset === 0 || asset === undefined ? "creation" : "configuration";
      expect(described.kind).toBe(`asset_${kind}`);
      return described.kind;
    });
    expect(new Set(kinds).size).toBe(3);
  });

  it("freezes and unfreezes", () => {
    for (const { described, json } of of("afrz")) {
      const { address, "new-freeze-status": freezes } = json["asset-freeze-transaction"];
      expect(described.title).toBe(freezes ? "Asset freeze" : "Asset unfreeze");
      expect(account(described, "Holder")).toBe(address);
    }
    expect(of("afrz").length).toBeGreaterThan(0);
  });

  it("calls applications in each way", () => {
    const titles = {
      noop: "call",
      optin: "opt-in",
      closeout: "close-out",
      clear: "clearing",
      update: "update",
      delete: "deletion",
    };
    const seen = of("appl").map(({ described, json }) => {
      const { "application-id": id, "on-completion": completion } = json["application-transaction"];
      const title = id === 0 ? "creation" : titles[completion as keyof typeof titles];
      expect(described.title).toBe(`Application ${title}`);
      expect(described.remarks).toContain("Its bytes show the call, not what happened inside it.");
      return title;
    });
    expect(new Set(seen)).toEqual(new Set(["creation", ...Object.values(titles)]));
  });

  it("registers keys, proves states and beats", () => {
    const said = ({ deed }: Description) =>
      deed?.clauses.map(({ past, what }) => `${past} ${JSON.stringify(what)}`).join();
    for (const { described, json } of of("keyreg")) {
      const {
        "vote-first-valid": first,
        "vote-last-valid": last,
        "non-participation": never,
      } = json["keyreg-transaction"];
      if (first) expect(said(described)).toContain(`rounds ${first} to ${last}`);
      else expect(said(described)).toContain(never ? "for ever" : "its keys");
    }
    for (const { described, json } of of("stpf")) {
      const { "first-attested-round": first, "latest-attested-round": last } = json["state-proof-transaction"].message;
      expect(said(described)).toContain(`rounds ${first} to ${last}`);
    }
    for (const { described, json } of of("hb"))
      expect(account(described, "Online account")).toBe(json["heartbeat-transaction"]["hb-address"]);
    expect(new Set([...of("keyreg"), ...of("stpf"), ...of("hb")].map(({ described }) => described.kind)).size).toBe(3);
  });
});

describe("what algosdk makes", () => {
  const [sender, receiver, other] = [1, 2, 3].map((byte) => new Address(new Uint8Array(32).fill(byte))) as [
    Address,
    Address,
    Address,
  ];
  const suggestedParams = {
    ...{ fee: 1000, minFee: 1000, flatFee: true, firstValid: 1, lastValid: 9 },
    genesisHash: fromBase64(ALGORAND_MAINNET_GENESIS_HASH),
  };
  const common = { sender, suggestedParams };
  const usdc = { ...common, assetIndex: 31566704n };
  const pay = makePaymentTxnWithSuggestedParamsFromObject;
  const transfer = makeAssetTransferTxnWithSuggestedParamsFromObject;

  it.each([
    [
      "a payment that also closes and rekeys",
      pay({ ...common, receiver, amount: 5n, closeRemainderTo: other, rekeyTo: other }),
      "ALGO payment, close-out and rekey",
      ["To", "The rest goes to (close-out)", "Account handed to (rekey)"],
    ],
    [
      "a transfer that rekeys",
      transfer({ ...usdc, receiver, amount: 5n, rekeyTo: other }),
      "USDC transfer and rekey",
      ["To", "Account handed to (rekey)"],
    ],
    ["nothing to another account", transfer({ ...usdc, receiver, amount: 0n }), "USDC transfer", ["To"]],
    ["nothing to itself", transfer({ ...usdc, receiver: sender, amount: 0n }), "USDC opt-in", []],
    [
      "a clawback",
      transfer({ ...usdc, receiver, amount: 5n, assetSender: other }),
      "USDC clawback",
      ["Taken from", "To"],
    ],
    [
      "a close-out alone",
      transfer({ ...usdc, receiver, amount: 0n, closeRemainderTo: other }),
      "USDC close-out",
      ["The rest goes to (close-out)"],
    ],
  ])("is named: %s", (_what, transaction, title, roles) => {
    const described = describeAlgorandTransaction(transaction.toByte(), ALGORAND_MAINNET);
    expect(described.title).toBe(title);
    expect(described.parties.map(({ role }) => role)).toEqual(["From", ...roles]);
    // Each party is in the sentence, too.
    const words = JSON.stringify(described.deed);
    for (const party of described.parties) expect(words).toContain(party.account);
  });
});

describe("transactions of Algorand MainNet, described", () => {
  it("are described as algosdk decodes them", () => {
    const signed: Record<string, string>[] = vectors.json("algorand/mainnet/signed-transactions.json");
    for (const one of signed) {
      const bytes = fromBase64(one.txnMsgpackBase64 ?? one.txn ?? "");
      const { genesisHash = new Uint8Array(32), sender, payment, assetTransfer } = decodeUnsignedTransaction(bytes);
      const described = describeAlgorandTransaction(bytes, algorandCaip2(genesisHash));
      expect(described.sender).toBe(String(sender));
      if (payment) expect(described.amount?.units).toBe(String(payment.amount));
      if (assetTransfer && described.amount) expect(described.amount.units).toBe(String(assetTransfer.amount));
    }
  });
});
