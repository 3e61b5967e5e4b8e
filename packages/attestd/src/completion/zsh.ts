import type { CompletedCommand, CompletedOption, Operand, Value } from "./table.ts";

/** The completion script for zsh: to be sourced after `compinit`, or a file `_attestd` in a folder of `fpath`. */
export function zshScript(commands: CompletedCommand[]): string {
  return `#compdef attestd
# zsh completion of attestd, as \`attestd completion zsh\` prints it.

${commands.map(functionOf).join("\n\n")}

if [[ $funcstack[1] == _attestd ]]; then
  _attestd "$@"
else
  compdef _attestd attestd
fi
`;
}

function functionOf({ path, options, operands, commands }: CompletedCommand): string {
  const specs = [...options.flatMap(optionSpecs), ...operands.map(operandSpec)];
  const name = functionName(path);
  if (commands.length === 0) {
    return `${name}() {\n  _arguments -S ${specs.map((spec) => `\\\n    ${spec}`).join(" ")}\n}`;
  }
  const listed = commands.map(({ name, description }) => quoted(`${name}:${escaped(description)}`));
  return `${name}() {
  local curcontext=$curcontext state line
  local -A opt_args
  local -a commands=(
    ${listed.join("\n    ")}
  )
  _arguments -C -S ${[...specs, "'1: :->command'", "'*:: :->below'"].map((spec) => `\\\n    ${spec}`).join(" ")}
  case $state in
    command) _describe -t commands command commands ;;
    below)
      case $line[1] in
${commands.map(({ name }) => `        ${name}) ${functionName(`${path} ${name}`)} ;;`).join("\n")}
      esac
      ;;
  esac
}`;
}

function functionName(path: string): string {
  return `_${path.replaceAll(" ", "_")}`;
}

/** See `_arguments` in zshcompsys(1). */
function optionSpecs({ names, description, operand, repeats }: CompletedOption): string[] {
  const others = repeats ? "*" : `(${names.join(" ")})`;
  return names.map((name) => {
    const joins = operand ? (name.startsWith("--") ? "=" : "+") : "";
    const taken = operand ? `:${operand.name}:${action(operand.value)}` : "";
    return quoted(`${others}${name}${joins}[${escaped(description)}]${taken}`);
  });
}

function operandSpec({ name, value, repeats }: Operand, place: number): string {
  return quoted(`${repeats ? "*" : place + 1}:${name}:${action(value)}`);
}

const ACTIONS = { file: "_files", folder: "_path_files -/", other: " " };

function action(value: Value): string {
  return typeof value === "string" ? ACTIONS[value] : `(${value.join(" ")})`;
}

function escaped(description: string): string {
  return description.replace(/[\\[\]:]/g, "\\$&");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
