export * from "./canonical.ts";
export * from "./parse.ts";
