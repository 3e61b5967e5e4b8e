import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attestd } from "../../../test/helpers/command.ts";
import { temporaryFolder } from "../../../test/helpers/temporary-folder.ts";
import { commandLine } from "../src/command-line.ts";
import { environmentOf } from "../src/environment.ts";

/* Each script is loaded by its own shell, which then completes lines. */

const program = commandLine(
  environmentOf({}, process, () => new AbortController().signal),
  () => undefined,
);

/** Every line that ends where an option or a subcommand may follow, and the words that the parser accepts there. */
function linesOf(command: Command, path: string): [line: string, words: string[]][] {
  const options = command.createHelp().visibleOptions(command);
  const names = options.flatMap(({ long }) => (long ? [long] : []));
  const below = command.commands.map((one) => one.name());
  return [
    [`${path} --`, names.toSorted()],
    ...(below.length > 0 ? [[`${path} `, below.toSorted()] as [string, string[]]] : []),
    ...options.flatMap(({ long, argChoices }) =>
      argChoices ? [[`${path} ${long} `, argChoices.toSorted()] as [string, string[]]] : [],
    ),
    ...command.commands.flatMap((one) => linesOf(one, `${path} ${one.name()}`)),
  ];
}

const FILES = ["a.json", "a.pdf", "folder"];
const EXPECTED: [line: string, words: string[]][] = [
  ...linesOf(program, "attestd"),
  ["attestd ver", ["verify"]],
  ["attestd keys r", ["rekey", "restore", "revoke", "rotate"]],
  ["attestd help keys ", ["history", "prove", "rekey", "restore", "revoke", "root", "rotate", "show", "sync"]],
  ["attestd completion ", ["bash", "fish", "zsh"]],
  ["attestd certificate a.json --paper l", ["letter"]],
  // Operands are counted beside options and their values.
  ["attestd attest-block ", ["algorand", "base"]],
  ["attestd attest-block --json --wallet a.json b", ["base"]],
  ["attestd attest-block base ", []],
  // What may be repeated.
  ["attestd verify --checkpoint-root a --checkpoint-r", ["--checkpoint-root"]],
  ["attestd verify --kid a --ki", ["--kid"]],
  // Values that cannot be completed.
  ["attestd verify --kid ", []],
  ["attestd attest ", []],
];
/** Lines that end where a path of a file, or of a folder only, may follow. */
const PATHS: [line: string, paths: string[]][] = [
  ["attestd verify ", FILES],
  ["attestd verify a.json --json ", FILES],
  ["attestd verify --keys ", FILES],
  ["attestd certificate a.json -o ", FILES],
  ["attestd keys restore ", FILES],
  ["attestd keys rotate --seed-file ", FILES],
  ["attestd sandbox --dir ", ["folder"]],
  ["attestd sandbox --replay ", ["folder"]],
  ["attestd checkpoints sync ", FILES],
  ["attestd checkpoints sync table --from ", FILES],
  ["attestd attest --file ", FILES],
  ["attestd signer --socket ", FILES],
  ["attestd backup --to ", ["folder"]],
  ["attestd restore ", ["folder"]],
];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const path = (...names: string[]) => join(folder.path, ...names);
beforeAll(async () => {
  folder = await temporaryFolder();
  await mkdir(path("here", "folder"), { recursive: true });
  for (const name of ["a.json", "a.pdf", "folder/two words.json"]) await writeFile(path("here", name), "");
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await attestd(["completion", shell]);
    expect(code).toBe(0);
    await writeFile(path(`attestd.${shell}`), stdout);
  }
});
afterAll(() => folder?.[Symbol.asyncDispose]());

/** Runs a program in the folder with the files. @returns what it wrote, a line each */
function output(command: string, args: string[], input = ""): string[] {
  const env = { PATH: process.env.PATH, HOME: folder.path, LANG: "C.UTF-8", TERM: "xterm" };
  const { stdout, stderr, status } = spawnSync(command, args, {
    cwd: path("here"),
    input,
    env,
    encoding: "utf8",
    timeout: 30_000,
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split(/\r?\n/).slice(0, -1);
}

function isHere(shell: string, ...args: string[]): boolean {
  const found = spawnSync(shell, args).error === undefined;
  if (!found) console.info(`cli-completion: no ${shell} on PATH; its completion is not tested`);
  return found;
}

/** `line TAB words` each. */
function parsed(lines: string[]): [string, string[]][] {
  return lines.map((text) => {
    const [line = "", words = ""] = text.split("\t");
    return [line, words.split(" ").filter(Boolean).toSorted()];
  });
}

const NO_BASH = !isHere("bash", "--version");
describe.skipIf(NO_BASH)("in bash", () => {
  /** Does for each line what readline does when TAB is pressed. `compopt` works only inside readline, so it is recorded. */
  const HARNESS = `
    compopt() { options="$*"; }
    while IFS= read -r line; do
      read -ra COMP_WORDS <<< "\${line//=/ = }"
      [[ $line != *' ' ]] || COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) options=
      _attestd
      printf '%s\\t%s\\t%s\\n' "$line" "\${COMPREPLY[*]}" "$options"
    done`;
  const complete = (lines: string[]) =>
    output("bash", ["--norc", "-c", `source ../attestd.bash; ${HARNESS}`], `${lines.join("\n")}\n`);

  test("completes every command, option and value, and nothing else", () => {
    const lines = complete(EXPECTED.map(([line]) => line));
    expect(parsed(lines)).toEqual(EXPECTED);
    // None of these completes files.
    expect(lines.filter((line) => !line.endsWith("\t+o default"))).toEqual([]);
    expect(parsed(complete(["attestd certificate --paper=l", "attestd certificate --paper="]))).toEqual([
      ["attestd certificate --paper=l", ["letter"]],
      ["attestd certificate --paper=", ["a4", "letter"]],
    ]);
  });

  test("readline completes paths", () => {
    const options = (paths: string[]) => (paths === FILES ? "" : "+o default -o dirnames");
    expect(complete(PATHS.map(([line]) => line))).toEqual(PATHS.map(([line, paths]) => `${line}\t\t${options(paths)}`));
  });

  test.skipIf(!isHere("script", "--version"))("TAB completes on a terminal", () => {
    const typed = [
      'attestd() { printf "<%s>" "$@"; echo; }',
      "source ../attestd.bash",
      "attestd verify fol\tt\t",
      "attestd verify --keys=folder/t\t",
      "attestd cert\ta.json --pap\tl\t",
      "attestd sandbox --dir f\t",
      "exit",
    ];
    const lines = output("script", ["-qec", "bash --norc -i", "/dev/null"], `${typed.join("\n")}\n`);
    // Readline writes its own escape codes before what it shows.
    expect(lines.map((line) => line.slice(line.lastIndexOf("\r") + 1)).filter((line) => line.startsWith("<"))).toEqual([
      "<verify><folder/two words.json>",
      "<verify><--keys=folder/two words.json>",
      "<certificate><a.json><--paper><letter>",
      "<sandbox><--dir><folder/>",
    ]);
  });
});

const NO_FISH = !isHere("fish", "--version");
describe.skipIf(NO_FISH)("in fish", () => {
  const complete = (lines: string[]) => {
    const ask = `source ../attestd.fish
      for line in ${lines.map((line) => `'${line}'`).join(" ")}
        set -l found (complete -C $line | string replace -r '\\t.*' '')
        printf '%s\\t%s\\n' $line "$found"
      end`;
    return output("fish", ["--no-config", "-c", ask]);
  };

  test("completes every command, option and value, and nothing else", () => {
    expect(parsed(complete(EXPECTED.map(([line]) => line)))).toEqual(EXPECTED);
  });

  test("completes paths where a path may follow", () => {
    const slashed = (paths: string[]) => paths.map((name) => name.replace("folder", "folder/"));
    expect(parsed(complete(PATHS.map(([line]) => line)))).toEqual(PATHS.map(([line, paths]) => [line, slashed(paths)]));
  });
});

const NO_ZSH = !isHere("zsh", "--version");
describe.skipIf(NO_ZSH)("in zsh", () => {
  /** Completion works only in the line editor: a widget of a shell on its own terminal completes line by line. */
  const RC = `
    autoload -Uz compinit; compinit -u -D
    source ../attestd.zsh
    compadd() {
      if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
      local -a found
      builtin compadd -A found "$@"
      hits+=($found)
    }
    every-line() {
      local line
      while IFS= read -r line; do
        hits=() BUFFER=$line CURSOR=$#line
        zle complete-word
        print -r -- "$line"$'\\t'"\${(u)hits}"
      done < ../lines > ../found
      exit
    }
    zle -N every-line
    zle-line-init() { zle every-line }
    zle -N zle-line-init
  `;
  const complete = async (lines: string[]) => {
    await writeFile(path(".zshrc"), RC);
    await writeFile(path("lines"), `${lines.join("\n")}\n`);
    const onTerminal = `zmodload zsh/zpty; zpty shell 'ZDOTDIR=.. zsh -d -i'; while zpty -r shell line; do :; done`;
    output("zsh", ["-f", "-c", onTerminal]);
    return parsed((await readFile(path("found"), "utf8")).split("\n").slice(0, -1));
  };

  test("completes every command, option and value, and nothing else", async () => {
    expect(await complete(EXPECTED.map(([line]) => line))).toEqual(EXPECTED);
  });

  test("completes paths where a path may follow", async () => {
    expect(await complete(PATHS.map(([line]) => line))).toEqual(PATHS);
  });
});

test("rejects another shell by name", async () => {
  expect(await attestd(["completion", "csh"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      /^attestd: <shell> can't be 'csh'\. Allowed choices are bash, zsh, fish\.\n {2}Usage: /,
    ),
  });
});
