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
function optionSpecs({ names, description, value, repeats }: CompletedOption): string[] {
  const others = repeats ? "*" : `(${names.join(" ")})`;
  return names.map((name) => {
    const joins = value ? (name.startsWith("--") ? "=" : "+") : "";
    const taken = value ? `:${value.name}:${action(value)}` : "";
    return quoted(`${others}${name}${joins}[${escaped(description)}]${taken}`);
  });
}

function operandSpec(operand: Operand, place: number): string {
  return quoted(`${operand.repeats ? "*" : place + 1}:${operand.name}:${action(operand)}`);
}

function action(value: Value): string {
  switch (value.kind) {
    case "words":
      return `(${value.words.join(" ")})`;
    case "file":
      return "_files";
    case "folder":
      return "_path_files -/";
    case "other":
      return " ";
  }
}

function escaped(description: string): string {
  return description.replace(/[\\[\]:]/g, "\\$&");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
