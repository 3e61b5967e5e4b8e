export { authorisationItem } from "./authorisation.ts";
export * from "./checkpoints.ts";
export * from "./form.ts";
export * from "./on-table.ts";
export * from "./shipped.ts";
export * from "./verify.ts";
