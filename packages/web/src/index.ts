export { makeCertificate, makingOf, makingOfBatch } from "./certificate/certificate.ts";
export type { Paper } from "./certificate/making.ts";
export { pointerUrl } from "./pointer.ts";
