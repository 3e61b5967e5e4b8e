export * from "./canonical.ts";
export * from "./parse.ts";
export { isObject } from "./readers.ts";
