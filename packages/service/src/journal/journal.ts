import type { KeyJournal } from "../attestor/key-journal.ts";
import type { CopiedJournal } from "../calls/copied.ts";
import type { Journal } from "../calls/journal.ts";
import type { PruningJournal } from "../calls/pruning.ts";
import type { EvidenceJournal } from "../ledger/evidence/journal.ts";

/** All that one database keeps: calls, keys, and the evidence of what was delivered. */
export type WholeJournal = Journal & CopiedJournal & PruningJournal & KeyJournal & EvidenceJournal;
