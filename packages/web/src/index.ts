export { type CertificateContents, certificateContents, NotVerified } from "./certificate/contents.ts";
export { layOut, type Mark, PAPERS, type Paper, type Sheet } from "./certificate/layout.ts";
export { codePath, toSvg } from "./certificate/svg.ts";
export { subjectOf, subjectTitle } from "./description.ts";
export { parsePointer, pointerUrl } from "./pointer.ts";
export { historyOf, type KeyList, type TrustBasis } from "./trust-basis.ts";
export type { Judged } from "./verdict.ts";
