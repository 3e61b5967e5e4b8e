import type { CompletedCommand, CompletedOption, Value } from "./table.ts";

/** The completion script for fish, 3 and later. */
export function fishScript(commands: CompletedCommand[]): string {
  return `# fish completion of attestd, as \`attestd completion fish\` prints it.

# Whether the words before the cursor name the command $argv[1] and, with more arguments, whether $argv[2] operands follow
# it; the options $argv[3..] take a value.
function __attestd_at
    set -l given (commandline -opc)
    for name in (string split ' ' -- $argv[1])
        test "$given[1]" = $name; or return 1
        set -e given[1]
    end
    set -q argv[2]; or return 0
    set -l operands 0
    set -l awaited
    for word in $given
        if set -q awaited[1]
            set -e awaited
        else if contains -- $word $argv[3..]
            set awaited $word
        else if not string match -q -- '-*' $word
            set operands (math $operands + 1)
        end
    end
    test $operands = $argv[2]
end

complete -c attestd -f
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, options, operands, commands }: CompletedCommand): string[] {
  const taking = options.flatMap(({ names, operand }) => (operand ? names : []));
  const here = quoted(`__attestd_at ${quoted(path)}`);
  const at = (place: number) => quoted(["__attestd_at", quoted(path), place, ...taking].join(" "));
  return [
    ...commands.map(({ name, description }) => rule(at(0), `-a ${name} -d ${quoted(description)}`)),
    ...options.map((option) => rule(commands.length > 0 ? at(0) : here, optionOf(option))),
    ...operands
      .map((operand, place) => ({ operand, place }))
      .filter(({ operand }) => operand.value !== "other")
      .map(({ operand, place }) => rule(operand.repeats ? here : at(place), argumentOf(operand.value))),
  ];
}

function rule(condition: string, what: string): string {
  return `complete -c attestd -n ${condition} ${what}`;
}

function optionOf({ names, description, operand }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  return [...flags, ...(operand ? [`-r ${argumentOf(operand.value)}`] : []), `-d ${quoted(description)}`].join(" ");
}

const ARGUMENTS = { file: "-F", folder: "-f -a '(__fish_complete_directories)'", other: "-f" };

function argumentOf(value: Value): string {
  return typeof value === "string" ? ARGUMENTS[value] : `-f -a ${quoted(value.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
