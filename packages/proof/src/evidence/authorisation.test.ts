import { describe, expect, it } from "vitest";
import {
  type Authorised,
  changesOf,
  faultsOf,
  recordedAuthorisations,
  signedMembers,
} from "../../test/authorisations.ts";
import { encodeAddress, getBytes, type MsgpackMap } from "../algorand/index.ts";
import { fromBase64, toBase64 } from "../encoding.ts";
import { authorisationItem } from "./authorisation.ts";

const ED25519 = "pay";
const REKEYED = "pay by rekeyed (sgnr)";
const FALCON = "pay Falcon-1024 (pqsig)";
const OTHERS = ["pay multisig 2/3", "pay logicsig (escrow)", "pay logicsig (delegated)", "stpf"];
const recorded = recordedAuthorisations([ED25519, REKEYED, FALCON, ...OTHERS]);

describe("the signature of a transaction that go-algorand took", () => {
  const of = (label: string) => recorded[label] as Authorised;
  const itemOf = (label: string) => authorisationItem(signedMembers(of(label)));

  it.each([
    [ED25519, "ed25519", 23],
    [REKEYED, "ed25519", 23],
    [FALCON, "falcon-1024", 97],
  ] as const)("is the account's, and with one bit changed it is not: %s", (label, alg, step) => {
    const authorised = of(label);
    const sgnr = getBytes(authorised.entry, "sgnr");
    const item = itemOf(label);
    expect(item).toEqual({ type: "algorand-authorisation/1", alg, ...(sgnr && { authorizer: encodeAddress(sgnr) }) });
    expect(sgnr !== undefined).toBe(label === REKEYED);
    if (item === undefined) return;
    expect(faultsOf(item, authorised)).toEqual([]);
    const accepted = [...changesOf(item, authorised, step)].filter(
      ({ item, changed }) => faultsOf(item, changed).length === 0,
    );
    expect(accepted.map(({ what }) => what)).toEqual([]);
  });

  it.each(OTHERS)("is of one key alone: %s", (label) => expect(itemOf(label)).toBeUndefined());

  it("stands alone, in an entry that is canonical", () => {
    const { entry, ...rest } = of(FALCON);
    const item = { type: "algorand-authorisation/1", alg: "falcon-1024" } as const;
    const changed = (change: (map: MsgpackMap) => void) => {
      const map = new Map(entry);
      change(map);
      return faultsOf(item, { ...rest, entry: map }).length;
    };
    const pq = entry.get("pqsig") as MsgpackMap;
    expect(changed(() => {})).toBe(0);
    const { stibBase64, ...members } = signedMembers(of(FALCON));
    const [head = 0, ...others] = fromBase64(stibBase64);
    const long = Uint8Array.of(0xde, 0, head & 15, ...others);
    expect(authorisationItem({ ...members, stibBase64: toBase64(long) })).toBeUndefined();
    expect(changed((map) => map.set("sig", new Uint8Array(64).fill(1)))).toBe(1);
    expect(changed((map) => map.set("lsig", new Map([["l", new Uint8Array(1)]])))).toBe(1);
    expect(changed((map) => map.delete("pqsig"))).toBe(1);
    expect(changed((map) => map.set("pqsig", new Map(pq).set("more", 1)))).toBe(1);
    expect(changed((map) => map.set("pqsig", new Map(pq).set("slt", 256)))).toBe(1);
  });
});
