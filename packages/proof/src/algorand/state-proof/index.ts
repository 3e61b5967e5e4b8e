export * from "./form.ts";
export * from "./messages.ts";
export * from "./verify.ts";
