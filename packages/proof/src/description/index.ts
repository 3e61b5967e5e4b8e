export type { Amount, Description, Field, Kind, Party } from "./description.ts";
export * from "./sentence.ts";
export * from "./subject.ts";
