import { command } from "../../command.ts";
import { EXIT, Failure } from "../../failure.ts";
import { operatorOptions } from "../../options.ts";

/** The word for findings of each mark: for one, and for several. */
const COUNTED = { fail: ["fault", "faults"], warning: ["warning", "warnings"], ok: ["good", "good"] } as const;

/** Examines a deployment, and prints each finding when it is made. */
export const doctor = command({
  name: "doctor",
  summary: "examine a deployment: every setting and every upstream",
  help: [
    "Examine every setting and every upstream of a deployment, and print what to do. Nothing is changed or spent.",
    "  attestd doctor --settings /etc/attestd/attestd.toml",
    "  attestd doctor --settings /etc/attestd/attestd.toml --json | jq 'select(.mark != \"ok\")'",
  ],
  options: operatorOptions,
  async run(options, environment) {
    const { out } = environment;
    const signal = environment.stop();
    const { readSettings } = await import("../../operator/settings.ts");
    const settings = readSettings(options, environment);
    const working = environment.working("examining");
    const { examine } = await import("@attestd/service/operator");
    const count = { fail: 0, warning: 0, ok: 0 };
    let last: string | undefined;
    try {
      for await (const finding of examine(settings, { sandbox: options.sandbox ?? false, signal })) {
        const { subject, mark, message } = finding;
        count[mark] += 1;
        if (options.json) out.json({ subject, mark, message });
        else {
          if (subject !== last) out.line(subject);
          out.marked(mark, message, 2);
        }
        last = subject;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Failure(EXIT.interrupted, "interrupted", ["Nothing was changed."], error);
    } finally {
      working.show(undefined);
    }
    const marks = (["fail", "warning", "ok"] as const).filter((mark) => count[mark] > 0);
    if (!options.json)
      out.line(marks.map((mark) => `${count[mark]} ${COUNTED[mark][count[mark] === 1 ? 0 : 1]}`).join(", "));
    return count.fail > 0 ? EXIT.notVerified : EXIT.good;
  },
});
