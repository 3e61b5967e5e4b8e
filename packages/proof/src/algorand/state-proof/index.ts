export { commitsToDecodedHeader, commitsToHeader } from "./committed.ts";
export * from "./form.ts";
export * from "./message.ts";
export * from "./verify.ts";
