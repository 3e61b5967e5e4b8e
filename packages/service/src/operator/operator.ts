/* What an operator's commands do. */

export { type AuditReport, type Finding, INVARIANTS, type Severity } from "../audit/report.ts";
export { type Adoption, adoptPayment } from "./adopt.ts";
export { auditJournal } from "./audit.ts";
export { type KeyChangeReport, readKeyHistory, restoreKeys, revokeKey, rotateKey } from "./keys.ts";
export { recordRefund } from "./refund.ts";
export type { OperatorOptions } from "./session.ts";
