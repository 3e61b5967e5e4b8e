import { fileURLToPath } from "node:url";

/** The workspace. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
