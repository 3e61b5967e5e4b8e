export * from "./msgpack-reader.ts";
export * from "./msgpack-value.ts";
export * from "./msgpack-writer.ts";
