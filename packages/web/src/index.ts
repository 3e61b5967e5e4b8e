export {
  type Certificate,
  type CertificateFormat,
  judgeCertificate,
  makeCertificate,
  makingOf,
} from "./certificate/certificate.ts";
export type { CertificateJudgement } from "./certificate/making.ts";
export type { Paper } from "./certificate/paper.ts";
export { subjectOf, subjectTitle } from "./description.ts";
export { certificateIn } from "./judge.ts";
export { parsePointer, pointerUrl } from "./pointer.ts";
export { historyOf, type KeyList, type TrustBasis } from "./trust-basis.ts";
export type { Judged } from "./verdict.ts";
