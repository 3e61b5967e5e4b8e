import { describedSettings } from "../packages/service/src/config/print.ts";
import { ownTables } from "../packages/service/src/payment/rails/registry.ts";

/** The table of settings in docs/operating/settings.md, Markdown: `node build/settings-table.ts` prints it. */
export function settingsTable(): string {
  const rows = describedSettings(ownTables()).map(({ key, description = "", otherwise = "", ...setting }) => {
    const isFixed = setting.default !== undefined;
    return `| \`${key}\` | ${isFixed ? `\`${setting.default}\`` : otherwise} | ${description.replace(/\.$/, "")} |`;
  });
  return ["| Setting | Default | Meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

if (import.meta.main) console.log(settingsTable());
