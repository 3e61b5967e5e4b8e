export { type FileContents, LARGEST_FILE, readFileContents } from "./bundle-file.ts";
export { type CertificateContents, certificateContents, NotVerified } from "./certificate/contents.ts";
export { layOut, type Mark, PAPERS, type Paper, type Sheet } from "./certificate/layout.ts";
export { toSvg } from "./certificate/svg.ts";
export { subjectOf, subjectTitle } from "./description.ts";
export { parsePointer, pointerUrl } from "./pointer.ts";
export type { Judged, KeyList } from "./verdict.ts";
