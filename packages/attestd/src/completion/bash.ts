import type { CompletedCommand, Value } from "./table.ts";

/** The values after certain words. */
type Position = { key: string; value: Value };

/**
 * The completion script for bash, 3.2 and later. Files are left to readline (`-o default`), which quotes their names.
 */
export function bashScript(commands: CompletedCommand[]): string {
  const options = commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) => (value ? names.map((name) => ({ key: `${path} ${name}`, value })) : [])),
  );
  const operands = commands.flatMap(({ path, operands }) =>
    operands.map((value, i) => ({ key: `${path} ${value.repeats ? "*" : i}`, value })),
  );
  const names = commands.map(({ path, options }) => arm([path], words(options.flatMap(({ names }) => names))));
  const below = commands
    .filter(({ commands }) => commands.length > 0)
    .map(({ path, commands }) => arm([path], words(commands.map(({ name }) => name))));
  return `# bash completion of attestd, as \`attestd completion bash\` prints it.

_attestd() {
  local at=attestd operands=0 awaited= ended= kind= words= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $awaited ]]; then
      # Readline makes three words of --option=value.
      [[ $word == = ]] || awaited=
    elif [[ -z $ended && $word == -- ]]; then
      ended=yes
    elif [[ -z $ended && $word == -* ]]; then
      _attestd_option "$at $word"
      [[ -z $kind ]] || awaited="$at $word"
    else
      _attestd_below "$at"
      if [[ " $words " == *" $word "* ]]; then at="$at $word"; else operands=$((operands + 1)); fi
    fi
    kind= words=
  done
  word=\${COMP_WORDS[COMP_CWORD]}
  if [[ -n $awaited ]]; then
    [[ $word != = ]] || word=
    _attestd_option "$awaited"
  elif [[ -z $ended && $word == -* ]]; then
    kind=words
    _attestd_names "$at"
  else
    kind=words
    _attestd_below "$at"
    [[ -n $words ]] || _attestd_operand "$at $operands"
  fi
  case $kind in
    file) ;;
    folder) compopt +o default -o dirnames 2>/dev/null ;;
    *)
      compopt +o default 2>/dev/null
      COMPREPLY=($(compgen -W "$words" -- "$word"))
      ;;
  esac
}

# What an option takes; nothing where it takes no value.
_attestd_option() {
  case $1 in
${arms(options)}
  esac
}

# What may stand in a place of a command.
_attestd_operand() {
  case $1 in
${arms(operands)}
  esac
}

_attestd_names() {
  case $1 in
${names.join("\n")}
  esac
}

_attestd_below() {
  case $1 in
${below.join("\n")}
  esac
}

complete -o default -F _attestd attestd
`;
}

/** One arm of a shell `case` for each kind of value and each list of words. */
function arms(positions: Position[]): string {
  const said = ({ value }: Position) =>
    value.kind === "words" ? `kind=words ${words(value.words)}` : `kind=${value.kind}`;
  return [...Map.groupBy(positions, said)]
    .map(([says, same]) =>
      arm(
        same.map(({ key }) => key),
        says,
      ),
    )
    .join("\n");
}

function arm(keys: string[], says: string): string {
  // A star stands for any number of operands.
  const patterns = keys.map((key) => `"${key}"`.replace(/\*"$/, '"*'));
  return `    ${patterns.join(" | ")}) ${says} ;;`;
}

function words(all: readonly string[]): string {
  return `words="${all.join(" ")}"`;
}
