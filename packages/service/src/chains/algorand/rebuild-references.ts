import type { MsgpackMap } from "@attestd/proof/algorand";
import { structMap } from "@attestd/proof/algorand";
import { ProofError } from "@attestd/proof/errors";
import { address, bytes, integer, type Json, list, object, text } from "./indexer-json.ts";

// An indexer resolves a call's references, which are indexes from 1 into its lists (go-algorand,
// `data/transactions/application.go`; indexer, `api/converter_utils.go`). These functions find the indexes again.

/** `apbx`. A box names its application by its index in the foreign applications; 0 is the called application. */
export function boxReferences(call: Json): MsgpackMap[] {
  const called = integer(call["application-id"]);
  const applications = list(integer)(call["foreign-apps"]);
  return list((value) => {
    const { app, name } = object(value);
    const application = integer(app);
    const isCalled = application === called && !applications.includes(application);
    return structMap({ i: isCalled ? 0 : indexOf(applications, application), n: nameOf(name) });
  })(call["box-references"]);
}

/**
 * `al`, the resource access list. A holding or local state names an account by its index in the list, or the sender by
 * 0. The sender may also be in the list, and the JSON is the same.
 * @param isListed whether to name a listed sender by its index
 */
export function accessList(call: Json, sender: string, isListed: boolean): MsgpackMap[] {
  const resources = list(object)(call.access);
  const addresses = resources.map((resource) => resource.address);
  const assets = resources.map((resource) => resource["asset-id"]);
  const applications = resources.map((resource) => resource["application-id"]);
  const accountIndex = (account: string) =>
    account === sender && !(isListed && addresses.includes(account)) ? 0 : indexOf(addresses, account);

  return resources.map((resource) => {
    const holding = object(resource.holding ?? {});
    const local = object(resource.local ?? {});
    const box = object(resource.box ?? {});
    return structMap({
      d: address(resource.address),
      s: integer(resource["asset-id"]),
      p: integer(resource["application-id"]),
      ...(resource.holding !== undefined && {
        h: structMap({ d: accountIndex(text(holding.address)), s: indexOf(assets, integer(holding.asset)) }),
      }),
      ...(resource.local !== undefined && {
        l: structMap({ d: accountIndex(text(local.address)), p: indexOf(applications, integer(local.app)) }),
      }),
      b: structMap({ i: indexOf(applications, integer(box.app)), n: nameOf(box.name) }),
    });
  });
}

/** @returns the index from 1; 0 for 0. @throws ProofError `malformed` when the list lacks the value */
function indexOf(listed: readonly unknown[], value: number | bigint | string): number {
  const index = value === 0 ? 0 : listed.indexOf(value) + 1;
  if (index === 0 && value !== 0) throw new ProofError("malformed", `${value} is not in its list`);
  return index;
}

/** An empty name is null. */
function nameOf(name: unknown): Uint8Array {
  return bytes(name ?? undefined);
}
