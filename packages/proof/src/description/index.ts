export type { Amount, Description, Field, Kind, Party } from "./description.ts";
export * from "./note.ts";
export * from "./sentence.ts";
export * from "./subject.ts";
