/* What an operator's commands do. */

export { type AuditReport, type Finding, INVARIANTS, type Severity } from "../audit/report.ts";
export { type Adoption, adoptPayment } from "./adopt.ts";
export { auditJournal } from "./audit.ts";
export { type BackupManifest, backUp, checkBackup, restoreBackup } from "./backup.ts";
export { type ExaminationOptions, examine } from "./doctor/examine.ts";
export type { SubjectFinding } from "./doctor/finding.ts";
export { type KeyChangeReport, readKeyHistory, restoreKeys, revokeKey, rotateKey } from "./keys.ts";
export { recordRefund } from "./refund.ts";
export type { OperatorOptions } from "./session.ts";
