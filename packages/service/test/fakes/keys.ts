import type { KeyEntry } from "@attestd/proof";
import type { KeyAnnouncement, KeyJournal, KeyRevocation } from "../../src/attestor/key-journal.ts";

/** A journal of keys in memory, for tests: it keeps the contract but for power. */
export class MemoryKeys implements KeyJournal {
  readonly entries: KeyEntry[] = [];
  readonly #revocations: KeyRevocation[] = [];
  #announced: KeyAnnouncement | undefined;
  /** What `others` answers. */
  otherReplicas = 0;

  async keys(): Promise<KeyEntry[]> {
    return [...this.entries];
  }

  async appendKey(entry: KeyEntry): Promise<void> {
    if (!this.entries.some(({ kid }) => kid === entry.kid)) this.entries.push(entry);
  }

  async revocations(): Promise<KeyRevocation[]> {
    return [...this.#revocations];
  }

  async appendRevocation(revocation: KeyRevocation): Promise<void> {
    if (!this.#revocations.some(({ kid }) => kid === revocation.kid)) this.#revocations.push(revocation);
  }

  async announced(): Promise<KeyAnnouncement | undefined> {
    return this.#announced;
  }

  async announce(announcement: KeyAnnouncement): Promise<KeyAnnouncement> {
    this.#announced ??= announcement;
    return this.#announced;
  }

  async conclude(txid: string, outcome: "noted" | "dead"): Promise<void> {
    if (this.#announced?.attempt.txid !== txid) return;
    const { record } = this.#announced;
    this.#announced = undefined;
    if (outcome === "dead") return;
    if (record.kind === "key") await this.appendKey(record.entry);
    else await this.appendRevocation({ kid: record.kid, revokedRound: record.revokedRound });
  }

  async others(): Promise<number> {
    return this.otherReplicas;
  }
}
