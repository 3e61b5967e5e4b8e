export * from "./block.ts";
export * from "./format.ts";
export * from "./merkle.ts";
export * from "./msgpack.ts";
export * from "./msgpack-cursor.ts";
export * from "./network.ts";
export * from "./payset.ts";
export * from "./transaction.ts";
