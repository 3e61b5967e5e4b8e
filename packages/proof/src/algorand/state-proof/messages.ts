/* State proofs' messages and what they commit to, without what verifies their signatures. */

export { commitsToDecodedHeader, commitsToHeader, MAX_INTERVAL } from "./committed.ts";
export * from "./message.ts";
