export * from "./checkpoints.ts";
export * from "./form.ts";
export * from "./verify.ts";
