import { command } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { settingsOptions } from "../../options.ts";

/** Prints the file of settings to start from; or checks a file, and prints what is in force. */
export const settings = command({
  name: "settings",
  summary: "print a file of settings to fill in, or check one",
  help: [
    "Print a commented file with every setting, its default and its reason; what is required is to be filled in.",
    "  attestd settings > attestd.toml",
    "  attestd settings --settings attestd.toml     check the file, and print what is in force; no secret is shown",
  ],
  options: settingsOptions,
  async run(options, environment) {
    const [{ settingsFile, settingsInForce, readConfig, ownTables }, { hasCode }] = await Promise.all([
      import("@attestd/service/operator"),
      import("@attestd/service/errors"),
    ]);
    const own = ownTables();
    if (options.settings === undefined && !options.sandbox) {
      environment.out.text(settingsFile(own));
      return EXIT.good;
    }
    const { readSettings, settingsFailure } = await import("../../operator/settings.ts");
    const given = readSettings(options, environment);
    try {
      readConfig(given, { sandbox: options.sandbox ?? false, own, signs: true });
    } catch (error) {
      if (!hasCode(error, "config_invalid")) throw error;
      throw settingsFailure(error.details.faults, error);
    }
    for (const line of settingsInForce(given, own).trim().split("\n")) environment.out.line(line);
    return EXIT.good;
  },
});
