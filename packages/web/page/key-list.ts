import { ALGORAND_MAINNET } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import { breakBetween, type KeyList } from "../src/trust-basis.ts";
import type { Judging } from "./judging.ts";
import { fetchBlob } from "./site.ts";
import type { Storage } from "./storage.ts";

const PATH = "/.well-known/attestor-keys.json";
const TIMEOUT_MS = 10_000;

type StoredKeys = { text: string; since: number };

/**
 * The key list of the service that serves this page: fetched, or else the one stored on an earlier visit. A list that
 * contradicts the stored one is rejected, and the stored one is used: `contradiction` is the reason.
 */
export async function servedKeys(judging: Judging, storage: Storage | undefined) {
  const [fetched, stored] = await Promise.all([
    fetchKeys(),
    storage?.get<StoredKeys>("keys", "served").catch(() => undefined),
  ]);
  const [fresh, known] = await Promise.all([fetched && read(fetched, judging), stored && read(stored, judging)]);
  if (!fresh || !fetched) return { keys: known };
  // Every sandbox that is made anew has another ledger with other keys.
  const isAnotherSandbox = known?.history.ledger !== ALGORAND_MAINNET && fresh.history.ledger !== known?.history.ledger;
  const contradiction = known && !isAnotherSandbox ? breakBetween(known.history, fresh.history)?.message : undefined;
  if (contradiction !== undefined) return { keys: known, contradiction };
  await storage?.update<StoredKeys>("keys", "served", () => fetched).catch(() => undefined);
  return { keys: fresh };
}

async function fetchKeys(): Promise<StoredKeys | undefined> {
  const found = await fetchBlob(PATH, { cache: "no-cache", signal: AbortSignal.timeout(TIMEOUT_MS) });
  return found && { text: await found.text(), since: Date.now() };
}

async function read({ text, since }: StoredKeys, judging: Judging): Promise<KeyList | undefined> {
  const judgement = await judging.judge(utf8(text), { historyAge: 0 });
  const basis = { basis: "origin", name: location.host, since } as const;
  return judgement?.kind === "keys" ? { history: judgement.history, basis } : undefined;
}
