/* The operator's commands. */

export { type AuditReport, type Finding, INVARIANTS, type Severity } from "../audit/report.ts";
export { readConfig } from "../config/config.ts";
export { settingsFile, settingsInForce } from "../config/print.ts";
export { referredValue } from "../config/references.ts";
export { revisionOf } from "../config/revision.ts";
export type { SubjectFinding } from "../health/finding.ts";
export { SCHEMA_VERSION } from "../journal/open.ts";
export { ownTables } from "../payment/rails/registry.ts";
export { type Adoption, adoptPayment } from "./adopt.ts";
export { auditJournal } from "./audit.ts";
export { type Backfill, backfillEvidence } from "./backfill.ts";
export { type BackupManifest, backUp, checkBackup, restoreBackup } from "./backup.ts";
export { readCosts } from "./costs.ts";
export { type ExaminationOptions, examine } from "./doctor/examine.ts";
export { type KeyChangeReport, readKeyHistory, restoreKeys, revokeKey, rotateKey } from "./keys.ts";
export { type Pruning, pruneJournal } from "./prune.ts";
export { markRestored, type Restored } from "./put-back.ts";
export { recordRefund } from "./refund.ts";
export { rekeyAccount } from "./rekey.ts";
export type { OperatorOptions } from "./session.ts";
