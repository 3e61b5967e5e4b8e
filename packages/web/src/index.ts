export {
  type Certificate,
  type CertificateFormat,
  judgeCertificate,
  makeCertificate,
  makingOf,
} from "./certificate/certificate.ts";
export type { CertificateJudgement, Paper } from "./certificate/making.ts";
export { subjectOf } from "./description.ts";
export { pointerUrl } from "./pointer.ts";
