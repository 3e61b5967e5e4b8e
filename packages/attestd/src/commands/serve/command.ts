import { command, value, withDefault } from "../../command.ts";
import { settingsOptions, wholeNumber } from "../../options.ts";

export const serve = command({
  name: "serve",
  summary: "run the service",
  help: [
    "Run the service. Its settings are in a file: attestd.toml, unless an option names another one.",
    "  attestd serve --settings /etc/attestd/attestd.toml",
    "  attestd serve --sandbox                 again, on the networks of a running sandbox",
  ],
  options: {
    ...settingsOptions,
    wait: withDefault(
      value(
        "<seconds>",
        "how long to wait at the start for nodes or a database that do not answer",
        wholeNumber("whole seconds", 0, 999_999),
      ),
      0,
    ),
  },
  run: async (...given) => (await import("./run.ts")).runService(...given),
});
