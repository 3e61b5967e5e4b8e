export {
  type Certificate,
  type CertificateFormat,
  type CertificateJudgement,
  judgeCertificate,
  makeCertificate,
} from "./certificate/certificate.ts";
export type { Paper } from "./certificate/layout.ts";
export { makingOf, NotVerified } from "./certificate/making.ts";
export { subjectOf, subjectTitle } from "./description.ts";
export { certificateIn } from "./judge.ts";
export { parsePointer, pointerUrl } from "./pointer.ts";
export { historyOf, type KeyList, type TrustBasis } from "./trust-basis.ts";
export type { Judged } from "./verdict.ts";
