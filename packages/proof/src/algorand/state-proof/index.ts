export { commitsToDecodedHeader, commitsToHeader, MAX_INTERVAL } from "./committed.ts";
export * from "./form.ts";
export * from "./message.ts";
export * from "./verify.ts";
