import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testBundle, testHistory } from "../bundles/bundles.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { ARCHIVES, NotTried, ROOT, run } from "./files.ts";

type Check = (name: string, what: () => unknown) => Promise<unknown>;

/** A user of whom no system has a record. */
const STRANGER = "52345";

/** Runs the packed command where it is not at home. @param unpacked with the archive's folder in it */
export async function surroundings(unpacked: string, check: Check): Promise<void> {
  await using folder = await temporaryFolder();
  const bin = join(unpacked, ARCHIVES.top, "bin");
  const command = join(bin, "attestd");
  writeFileSync(join(folder.path, "b.json"), JSON.stringify(testBundle()));
  writeFileSync(join(folder.path, "keys.json"), JSON.stringify(testHistory()));
  for (const path of [folder.path, join(unpacked, "..")]) chmodSync(path, 0o755);
  const cwd = folder.path;
  const bare = { PATH: process.env.PATH };
  /** @param line of a shell, `"$@"` in it: the command, verifying */
  const verifies = (line: string, env: NodeJS.ProcessEnv = bare, program = command) => {
    const out = run("sh", ["-c", line, "sh", program, "verify", "b.json", "--keys", "keys.json"], { cwd, env });
    if (!out.includes("Verified") || out.includes("TAKEN")) throw new Error(out);
  };

  await check("runs for a stranger without HOME, in a folder that it cannot write to", () => {
    if (process.getuid?.() !== 0) throw new NotTried("that takes root");
    verifies(`setpriv --reuid ${STRANGER} --regid ${STRANGER} --clear-groups --no-new-privs "$@"`);
  });
  await check("runs with standard input and error closed", () => verifies('"$@" <&- 2>&-'));
  await check("runs without PATH", () => verifies('PATH= "$@"'));
  await check("runs with NODE_OPTIONS and NODE_PATH for something else", () =>
    verifies('"$@"', { ...bare, NODE_OPTIONS: "--require /no/such/file.cjs", NODE_PATH: "/no/such" }),
  );
  await check("runs by a link to a link to it, and by its name alone", () => {
    symlinkSync(command, join(cwd, "second"));
    symlinkSync("second", join(cwd, "first"));
    verifies('"$@"', bare, join(cwd, "first"));
    run("sh", ["-c", 'cd "$0" && sh attestd --version', bin], { env: bare });
  });
  await check("takes no package from the folders around it", () => {
    const bait = `console.log("TAKEN", __filename);`;
    const names = readdirSync(join(ROOT, "node_modules")).filter((name) => !name.startsWith("."));
    const scoped = names.flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(ROOT, "node_modules", name)).map((own) => `${name}/${own}`) : [name],
    );
    for (const around of [cwd, unpacked, join(unpacked, ARCHIVES.top), join(unpacked, ARCHIVES.top, "lib")])
      for (const name of [...scoped, "pg-native", "bufferutil", "utf-8-validate", "pino-pretty"]) {
        mkdirSync(join(around, "node_modules", name), { recursive: true });
        writeFileSync(join(around, "node_modules", name, "index.js"), bait);
      }
    // They stay there for the checks that follow.
    verifies('"$@"');
    for (const line of ["certificate b.json --keys keys.json", "inspect b.json", "keygen --dir new"]) {
      const out = run(command, line.split(" "), { cwd, env: { ...bare, NODE_PATH: join(cwd, "node_modules") } });
      if (out.includes("TAKEN")) throw new Error(out);
    }
    return `${scoped.length} names in 4 folders`;
  });
}
