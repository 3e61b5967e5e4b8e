export * from "./format.ts";
export * from "./header.ts";
export * from "./network.ts";
export * from "./receipt.ts";
export * from "./rlp.ts";
export * from "./transaction.ts";
export * from "./trie.ts";
