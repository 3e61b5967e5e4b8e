import type { CompletedCommand, Value } from "./table.ts";

/** The value that may follow a command and its option, or a command and its number of operands. */
type Position = { key: string; value: Value };

/** The completion script for bash, 3.2 and later. Files are left to readline (`-o default`), which quotes their names. */
export function bashScript(commands: CompletedCommand[]): string {
  const options = commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, operand }) =>
      operand ? names.map((name) => ({ key: `${path} ${name}`, value: operand.value })) : [],
    ),
  );
  const operands = commands.flatMap(({ path, operands }) =>
    operands.map(({ value, repeats }, i) => ({ key: `${path} ${repeats ? "*" : i}`, value })),
  );
  const names = commands.map(({ path, options }) => arm(words(options.flatMap(({ names }) => names)), path));
  const below = commands
    .filter(({ commands }) => commands.length > 0)
    .map(({ path, commands }) => arm(words(commands.map(({ name }) => name)), path));
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

# What an operand of a command may be.
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
  const statement = ({ value }: Position) =>
    typeof value === "string" ? `kind=${value}` : `kind=words ${words(value)}`;
  const groups = Map.groupBy(positions, statement).entries();
  return Array.from(groups, ([statement, group]) => arm(statement, ...group.map(({ key }) => key))).join("\n");
}

function arm(statement: string, ...keys: string[]): string {
  // A star stands for any number of operands.
  const patterns = keys.map((key) => `"${key}"`.replace(/\*"$/, '"*'));
  return `    ${patterns.join(" | ")}) ${statement} ;;`;
}

function words(all: readonly string[]): string {
  return `words="${all.join(" ")}"`;
}
