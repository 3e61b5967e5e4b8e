import { decodeAddress, encodeMsgpack, type MsgpackMap, signedMessage, structMap } from "@attestd/proof/algorand";
import { utf8 } from "@attestd/proof/encoding";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeAccount } from "../../test/make-account.ts";
import { type SandboxAccount, signBytes } from "./account.ts";
import { CONSENSUS, MIN_BALANCE } from "./consensus.ts";
import { makeGenesis } from "./genesis.ts";
import { Ledger } from "./ledger.ts";
import { Rejection } from "./rejection.ts";
import { decodeSignedTransactions } from "./transaction.ts";

const ASSET = 1001n;
const START = 10_000_000;
const accounts = [makeAccount(), makeAccount(), makeAccount()] as const;
const [creator] = accounts;

/** Makes a ledger with three accounts, the first of which created 1,000 of an asset. */
function newLedger(): Ledger {
  const rich = accounts.map(({ address }) => ({ address, microAlgos: START, comment: "" }));
  const genesis = makeGenesis(rich, 1_700_000_000, new Uint8Array(32), CONSENSUS.v42);
  const ledger = new Ledger({
    genesis,
    counter: Number(ASSET) - 1,
    recorded: [],
    now: () => 1_700_000_000_000,
    consensus: () => CONSENSUS.v42,
  });
  ledger.submit([signed(ledger, creator, { type: "acfg", apar: structMap({ t: 1000 }) })]);
  ledger.advance();
  return ledger;
}

let unique = 0;

function signed({ genesis, round }: Ledger, from: SandboxAccount, members: Parameters<typeof structMap>[0]) {
  const common = {
    fee: 1000,
    fv: round,
    lv: round + 10,
    gen: genesis.id,
    gh: genesis.hash,
    snd: decodeAddress(from.address),
  };
  const txn: MsgpackMap = structMap({ ...common, note: utf8(`${unique++}`), ...members });
  const sig = signBytes(from, signedMessage(encodeMsgpack(txn)));
  const envelope = new Map<string, Uint8Array | MsgpackMap>([
    ["sig", sig],
    ["txn", txn],
  ]);
  const [transaction] = decodeSignedTransactions(encodeMsgpack(envelope));
  if (transaction === undefined) throw new Error("nothing was signed");
  return transaction;
}

const anyAccount = fc.nat(2).map((index) => accounts[index] as SandboxAccount);
const anyAmount = fc.oneof(fc.nat(2000), fc.nat(2 * START));
const anyStep = fc.oneof(
  fc.record({
    kind: fc.constant("pay" as const),
    from: anyAccount,
    to: anyAccount,
    amount: anyAmount,
    close: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("axfer" as const),
    from: anyAccount,
    to: anyAccount,
    amount: anyAmount,
    close: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("opt in" as const), from: anyAccount }),
  fc.constant({ kind: "round" as const }),
);

function totals({ state, genesis }: Ledger) {
  const holders = [...accounts.map(({ address }) => address), ...Object.values(genesis.special)];
  const records = holders.map((address) => state.account(address));
  return {
    microAlgos: records.reduce((sum, { balance }) => sum + balance, 0n),
    asset: records.reduce((sum, { holdings }) => sum + (holdings.get(ASSET)?.amount ?? 0n), 0n),
    records,
  };
}

test("any sequence of submissions keeps the totals and minimum balances, and a rejected one changes nothing", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 25 }), (steps) => {
      const ledger = newLedger();
      const begin = totals(ledger);
      for (const step of steps) {
        if (step.kind === "round") {
          ledger.advance();
          continue;
        }
        const [from, to] = [step.from, "to" in step ? step.to : step.from].map(({ address }) => decodeAddress(address));
        const [amount, closeTo] = "close" in step ? [step.amount, step.close ? to : undefined] : [0, undefined];
        const members =
          step.kind === "pay"
            ? { type: "pay", rcv: to, amt: amount, close: closeTo }
            : { type: "axfer", xaid: ASSET, arcv: to, aamt: amount, aclose: closeTo };
        const before = ledger.pool().length;
        try {
          ledger.submit([signed(ledger, step.from, { ...members, snd: from })]);
        } catch (error) {
          if (!(error instanceof Rejection)) throw error;
          expect(ledger.pool()).toHaveLength(before);
        }
      }
      ledger.advance();
      const end = totals(ledger);
      expect([end.microAlgos, end.asset]).toEqual([begin.microAlgos, begin.asset]);
      for (const { balance, holdings } of end.records.slice(0, accounts.length))
        expect(balance === 0n || balance >= MIN_BALANCE * BigInt(1 + holdings.size)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
