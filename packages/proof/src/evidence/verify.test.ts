import { describe, expect, it } from "vitest";
import { signBundle, testAttestor, testHistory } from "../../../../test/bundles/bundles.ts";
import { testEvidence } from "../../../../test/bundles/evidence.ts";
import { flip, flipped } from "../../test/flips.ts";
import type { Checkpoint } from "../algorand/state-proof/index.ts";
import { fromBase64, toBase64 } from "../encoding.ts";
import { verify, withChain } from "../verify.ts";
import { checkpointEntry, checkpointRoot, type Evidence, onTable, proveCheckpoint, withEvidence } from "./index.ts";

const { bundle, evidence, inclusion, stateProof, authorisation, checkpoint } = testEvidence();
const report = verify(bundle, { trust: testHistory() });
const trusted = { checkpoints: [checkpoint] };
const judge = (of: unknown, options = trusted as Parameters<typeof withEvidence>[3]) =>
  withEvidence(report, bundle, of, options);
const withItems = (...items: Evidence["items"]): Evidence => ({ ...evidence, items });
const results = ({ verified, evidence: found, recordedBy }: ReturnType<typeof judge>) => {
  const { failures, sourceInclusion: _, sourceStateProof: __, ...checks } = found ?? { failures: [] };
  return {
    verified,
    checks: Object.values(checks),
    at: failures.map(({ pointer }) => pointer),
    recorded: !!recordedBy,
  };
};

describe("evidence", () => {
  it("shows that the network's stake recorded the attestation", () => {
    for (const input of [evidence, JSON.stringify(evidence), Buffer.from(JSON.stringify(evidence))]) {
      const judged = judge(input);
      expect(judged.evidence).toEqual({
        schema: "pass",
        inclusion: "pass",
        stateProof: "pass",
        authorisation: "pass",
        sourceInclusion: "pass",
        sourceStateProof: "pass",
        failures: [],
      });
      expect(judged.verified).toBe(true);
      expect(judged.authorisedBy).toEqual({ alg: "ed25519", address: bundle.attestor.algorandAddress });
      expect(judged.recordedBy).toEqual({
        round: 1000,
        time: "2026-05-28T20:27:01.000Z",
        provenWeight: 599_900_000_000_000,
        checkpoint: { round: 992 },
      });
      expect(judged.sourceRecordedBy).toEqual({ ...judged.recordedBy, round: 995, time: "2026-05-28T20:26:46.000Z" });
    }
  });

  it("may name a state proof that is kept elsewhere", () => {
    const { stateProofBase64 = "", ...named } = stateProof;
    const apart = withItems(inclusion, named);
    expect(results(judge(apart))).toMatchObject({
      verified: true,
      checks: ["pass", "pass", "not_checked", "not_checked"],
    });
    const found = (bytes: Uint8Array) => judge(apart, { ...trusted, stateProof: () => bytes });
    expect(results(found(fromBase64(stateProofBase64)))).toMatchObject({ verified: true, recorded: true });
    expect(results(found(flip(fromBase64(stateProofBase64), 800)))).toMatchObject({
      verified: false,
      at: ["/items/1/stateProofSha256"],
    });
  });

  it("rests on a root of a table by a path", () => {
    for (const [size, place] of [
      [1, 0],
      [2, 1],
      [7, 4],
      [8, 0],
    ] as const) {
      const rows = Array.from({ length: size }, (_, index) => {
        return checkpointEntry(index === place ? checkpoint : { ...checkpoint, lnProvenWeight: 7 + index });
      });
      const { genesisHash, round } = checkpoint;
      const table = { genesisHash, firstRound: round - place * 16, interval: 16, entries: Buffer.concat(rows) };
      const path = proveCheckpoint(table, place);
      const root = checkpointRoot(table);
      const judged = judge(withItems(inclusion, { ...stateProof, path }), { roots: [root] });
      expect(judged.recordedBy?.checkpoint).toEqual({ round: 992, root });
      for (const changed of path.hashes
        .flatMap((hash, index) => [...flipped(fromBase64(hash), 37)].map((to) => path.hashes.with(index, toBase64(to))))
        .slice(0, 40))
        expect(
          judge(withItems(inclusion, { ...stateProof, path: { ...path, hashes: changed } }), { roots: [root] })
            .recordedBy,
        ).toBeUndefined();
    }
  });

  it("rests on a table that has its checkpoint, and on no other", () => {
    const { genesisHash, round } = checkpoint;
    const tableOf = (firstRound: number, ...entries: Checkpoint[]) => {
      return { genesisHash, firstRound, interval: 16, entries: Buffer.concat(entries.map(checkpointEntry)) };
    };
    const other = { ...checkpoint, lnProvenWeight: 7 };
    const table = tableOf(round - 32, other, other, checkpoint, other);
    const own = judge(evidence, { tables: [tableOf(round, other), table] });
    expect(own.recordedBy?.checkpoint).toEqual({ round: 992 });
    const rooted = onTable(evidence, table);
    expect(judge(rooted, { roots: [checkpointRoot(table)] }).recordedBy?.checkpoint).toEqual({
      round: 992,
      root: checkpointRoot(table),
    });
    const elsewhere = { ...table, genesisHash: toBase64(new Uint8Array(32)) };
    for (const [wrong, why] of [
      [tableOf(round - 16, checkpoint, other), "other"],
      [elsewhere, "other"],
      [tableOf(round - 32, checkpoint, checkpoint), "absent"],
      [tableOf(round + 16, checkpoint), "absent"],
      [tableOf(round - 8, checkpoint, checkpoint), "absent"],
    ] as const) {
      expect(results(judge(evidence, { tables: [wrong] }))).toMatchObject({ verified: true, recorded: false });
      expect(onTable(evidence, wrong)).toBe(why);
    }
    expect(onTable({ ...evidence, items: [inclusion] }, table)).toBe("absent");
  });

  it("is verified once for all bundles with the same memory, and for no other message or checkpoint", () => {
    const { stateProofBase64 = "", ...named } = stateProof;
    const memory = new Map();
    let asked = 0;
    const options = {
      checkpoints: [checkpoint, { ...checkpoint, lnProvenWeight: 3_000_000 }],
      memory,
      stateProof: () => {
        asked++;
        return fromBase64(stateProofBase64);
      },
    };
    const good = withItems(inclusion, named);
    for (let time = 0; time < 3; time++) expect(results(judge(good, options)).recorded).toBe(true);
    expect([asked, memory.size]).toEqual([1, 1]);
    // This checkpoint demands more weight than the state proof has.
    const heavy = { ...named, checkpoint: { ...checkpoint, lnProvenWeight: 3_000_000 } };
    const other = { ...named, message: { ...named.message, lnProvenWeight: 8 } };
    for (const wrong of [heavy, other])
      for (let time = 0; time < 2; time++)
        expect(results(judge(withItems(inclusion, wrong), options))).toMatchObject({
          verified: false,
          recorded: false,
        });
    expect([asked, memory.size]).toEqual([3, 3]);
    // A state proof that is present is read even so.
    const forged = { ...stateProof, stateProofBase64: toBase64(flip(fromBase64(stateProofBase64), 800)) };
    expect(results(judge(withItems(inclusion, forged), options))).toMatchObject({ verified: false });
  });

  it("is not believed without a trusted checkpoint, and takes nothing from the bundle", () => {
    for (const options of [{}, { roots: ["00".repeat(32)] }, { checkpoints: [{ ...checkpoint, round: 976 }] }])
      expect(results(judge(evidence, options))).toEqual({
        verified: true,
        checks: ["pass", "pass", "not_checked", "pass"],
        at: [],
        recorded: false,
      });
  });

  it("leaves unchecked what is missing and what is unknown", () => {
    const unchecked = "not_checked";
    const of = (...items: Evidence["items"]) => results(judge(withItems(...items))).checks;
    expect(of()).toEqual(["pass", unchecked, unchecked, unchecked]);
    expect(of({ type: "algorand-authorisation/9" })).toEqual(["pass", unchecked, unchecked, unchecked]);
    expect(of(inclusion)).toEqual(["pass", "pass", unchecked, unchecked]);
    expect(of(stateProof)).toEqual(["pass", unchecked, unchecked, unchecked]);
    expect(of(authorisation)).toEqual(["pass", unchecked, unchecked, unchecked]);
    expect(of(inclusion, authorisation)).toEqual(["pass", "pass", unchecked, "pass"]);
  });

  it("rescues no bundle", () => {
    const wrong = { ...bundle, source: { ...bundle.source, hashSha256: "00".repeat(32) } };
    const signed = signBundle(testAttestor(), wrong);
    const failed = verify(signed, { trust: testHistory() });
    expect(failed.verified).toBe(false);
    expect(withEvidence(failed, signed, evidence, trusted).verified).toBe(false);
    const untrusted = verify(bundle);
    expect(withEvidence(untrusted, bundle, evidence, trusted).verified).toBe(false);
    expect(withEvidence(verify({}), {}, evidence, trusted)).toMatchObject({
      verified: false,
      evidence: { schema: "not_checked" },
    });
  });

  it("fails a verified bundle that the chains confirm, where it is wrong", () => {
    const wrong = judge(withItems({ ...inclusion, index: 0 }, stateProof));
    expect(wrong.verified).toBe(false);
    expect(withChain(wrong, { chainAttest: "pass" }).verified).toBe(false);
    expect(withEvidence(withChain(report, { chainAttest: "pass" }), bundle, evidence, trusted).verified).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ["another format", { ...evidence, format: "attestd.evidence/2" }, "/format"],
    ["a member more", { ...evidence, extra: 1 }, "/extra"],
    ["another bundle", { ...evidence, bundle: `sha256:${"00".repeat(32)}` }, "/bundle"],
    ["an item without a type", { ...evidence, items: [{}] }, "/items/0/type"],
    ["an item twice", withItems(inclusion, inclusion), "/items"],
    [
      "an unknown member in an item",
      withItems({ ...inclusion, extra: 1 } as object as typeof inclusion),
      "/items/0/extra",
    ],
    ["a short hash", withItems({ ...inclusion, siblings: ["AAAA"] }), "/items/0/siblings/0"],
    [
      "a place beyond the table",
      withItems(inclusion, { ...stateProof, path: { index: 1, size: 1, hashes: [] } }),
      "/items/1/path/index",
    ],
    ["21 items", { ...evidence, items: Array(21).fill({ type: "x" }) }, "/items"],
    ["ambiguous JSON", `{"format":1,"format":2}`, "/format"],
  ])("has one form: %s", (_, input, pointer) => {
    expect(results(judge(input))).toMatchObject({ verified: false, at: [pointer] });
    expect(judge(input).evidence?.schema).toBe("fail");
  });

  it("is not believed where another key has signed than the participant committed to", () => {
    const forged = testEvidence(undefined, new Uint8Array(1793).fill(9));
    const options = { checkpoints: [forged.checkpoint] };
    const judged = withEvidence(report, forged.bundle, forged.evidence, options);
    expect(judged.evidence).toMatchObject({ stateProof: "fail" });
    const message = "has a key that is not its participant's";
    const checks = ["stateProof", "sourceStateProof"];
    expect(judged.evidence?.failures).toMatchObject(checks.map((check) => ({ check, message })));
  });

  it("shows who authorised it: of a rekeyed account, only where the stake has signed for that", () => {
    const rekeyed = testEvidence(undefined, undefined, "rekeyed");
    const own = verify(rekeyed.bundle, { trust: testHistory() });
    const of = (items: Evidence["items"], options = {}) =>
      withEvidence(own, rekeyed.bundle, { ...rekeyed.evidence, items }, options);
    const { authorizer } = rekeyed.authorisation;
    const proven = { checkpoints: [rekeyed.checkpoint] };
    expect(of(rekeyed.evidence.items, proven).authorisedBy).toEqual({ alg: "falcon-1024", address: authorizer });
    expect(results(of(rekeyed.evidence.items))).toMatchObject({
      verified: true,
      checks: ["pass", "pass", "not_checked", "not_checked"],
    });
    const { authorizer: _, ...unnamed } = rekeyed.authorisation;
    const stated = { ...authorisation, authorizer: authorizer ?? "" };
    for (const [wrong, at] of [
      [unnamed, "/items/1/authorizer"],
      [{ ...rekeyed.authorisation, authorizer: bundle.attestor.algorandAddress }, "/items/1/authorizer"],
      [stated, "/items/1/alg"],
    ] as const)
      expect(results(of([rekeyed.inclusion, wrong]))).toEqual({
        verified: false,
        checks: ["pass", "pass", "not_checked", "fail"],
        at: [at],
        recorded: false,
      });
    expect(results(judge(withItems(inclusion, stated))).at).toEqual(["/items/1/authorizer"]);
    const forged = testEvidence(undefined, undefined, "nobody");
    expect(results(withEvidence(own, forged.bundle, forged.evidence, trusted))).toMatchObject({
      verified: false,
      checks: ["pass", "pass", "pass", "fail"],
      at: ["/items/2"],
    });
  });

  it("throws for what is no JSON, and for an option that does not exist", () => {
    expect(() => judge("{")).toThrow("too early");
    expect(() => judge(evidence, { checkpoint } as object)).toThrow("no option");
  });

  it("is of the attestation itself: the same payment in every other respect does not do", () => {
    const { headerBase64, txnBytesBase64 } = inclusion;
    expect(results(judge(withItems({ ...inclusion, headerBase64: toBase64(Buffer.from([0x80])) }))).at).toEqual([
      "/items/0/headerBase64",
    ]);
    expect(results(judge(withItems({ ...inclusion, txnBytesBase64: headerBase64 }))).at).toEqual([
      "/items/0/txnBytesBase64",
    ]);
    // Another network's ledger, which the same note names.
    const other = testEvidence("GBdWz9mcNmDIJKeT2C7upkJ6HNwYETpOh6L6qA6IJD8=");
    const theirs = verify(other.bundle, { trust: testHistory(undefined, "algorand:GBdWz9mcNmDIJKeT2C7upkJ6HNwYETpO") });
    expect(theirs.verified).toBe(true);
    const judged = withEvidence(theirs, other.bundle, { ...other.evidence, items: [inclusion, stateProof] }, trusted);
    expect(results(judged).checks.slice(0, 2)).toEqual(["pass", "fail"]);
    expect(txnBytesBase64).not.toBe(other.inclusion.txnBytesBase64);
  });

  // Every fifth bit, so that each bit position of a byte occurs.
  it("is accepted with no bit of the transaction, its entry, its path, header or hashes changed", () => {
    const accepted: string[] = [];
    const attempt = (what: string, items: Evidence["items"]) => {
      if (judge(withItems(...items)).recordedBy) accepted.push(what);
    };
    // Leaves out the state proof, whose bits verify.test.ts changes, because an earlier check fails.
    const { stateProofBase64: _, ...named } = stateProof;
    const options = { ...trusted, stateProof: () => fromBase64(stateProof.stateProofBase64 ?? "") };
    expect(judge(withItems(inclusion, named), options).recordedBy).toBeDefined();
    for (const member of ["txnBytesBase64", "headerBase64", "stibBase64"] as const)
      for (const to of flipped(fromBase64(inclusion[member]), 5))
        attempt(member, [{ ...inclusion, [member]: toBase64(to) }, stateProof]);
    for (const [place, sibling] of inclusion.siblings.entries())
      for (const to of flipped(fromBase64(sibling), 5))
        attempt("sibling", [{ ...inclusion, siblings: inclusion.siblings.with(place, toBase64(to)) }, stateProof]);
    for (const to of flipped(fromBase64(stateProof.siblings[0] ?? ""), 5))
      attempt("light header", [inclusion, { ...stateProof, siblings: stateProof.siblings.with(0, toBase64(to)) }]);
    for (const to of flipped(fromBase64(checkpoint.genesisHash), 5))
      attempt("genesis", [inclusion, { ...stateProof, checkpoint: { ...checkpoint, genesisHash: toBase64(to) } }]);
    for (let bit = 0; bit < 52; bit += 5) {
      const changed = (value: number) => Number(BigInt(value) ^ (1n << BigInt(bit)));
      attempt("index", [{ ...inclusion, index: changed(inclusion.index) }, stateProof]);
      attempt("round", [inclusion, { ...stateProof, checkpoint: { ...checkpoint, round: changed(checkpoint.round) } }]);
    }
    expect(accepted).toEqual([]);
  });
});
