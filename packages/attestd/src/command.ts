import { Argument, type Command, Option } from "commander";
import type { ExitCode } from "./failure.ts";
import type { Environment } from "./terminal/environment.ts";

export { InvalidArgumentError } from "commander";

/*
 * How a command declares itself. The name, the form and the type of each argument and option are written once: help, parsing
 * and the types that `run` gets follow from them.
 */

/** An option, without its name. `T`: the type of its value. `Given`: whether there always is one. */
export type Declared<T, Given extends boolean = false> = {
  /** The value as help shows it: `<file>` if it is required, `[seconds]` if it may be left out. */
  form: string;
  text: string;
  configure(option: Option): Option;
  /** Only for the compiler. */
  types?: [value: T, given: Given];
};

type Options = Readonly<Record<string, Declared<unknown, boolean>>>;
type ValueOf<D> = D extends Declared<infer T, boolean> ? T : never;
type NamesOfGiven<O> = keyof { [Name in keyof O as O[Name] extends Declared<unknown, true> ? Name : never]: unknown };

/** The values of declared options, by their names in camel case. An option without a value is absent. */
export type Values<O extends Options> = { [Name in NamesOfGiven<O>]: ValueOf<O[Name]> } & {
  [Name in Exclude<keyof O, NamesOfGiven<O>>]?: ValueOf<O[Name]>;
};

/** Makes a value of the text of an argument. @throws InvalidArgumentError, which Commander prints with the option's name */
type Parse<T> = (text: string) => T;

/** An option that is set or not. */
export function flag(text: string): Declared<true> {
  return { form: "", text, configure: (option) => option };
}

/** An option with a value: its text, or what `parse` makes of it. */
export function value(form: string, text: string): Declared<string>;
export function value<T>(form: string, text: string, parse: Parse<T>): Declared<T>;
export function value(form: string, text: string, parse?: Parse<unknown>): Declared<unknown> {
  return { form, text, configure: (option) => (parse ? option.argParser(parse) : option) };
}

/** An option with a list of values: it may be repeated or, if its form ends with `...>`, be followed by several. */
export function values<T>(form: string, text: string, parse: Parse<T>): Declared<T[]> {
  const add = (one: string, earlier: T[] = []) => [...earlier, parse(one)];
  return { form, text, configure: (option) => option.argParser(add) };
}

/** An option whose value is one of a few. */
export function choice<const T extends string>(form: string, text: string, choices: readonly T[]): Declared<T> {
  return { form, text, configure: (option) => option.choices(choices) };
}

/** The same option, which must be given. */
export function required<T>(declared: Declared<T>): Declared<T, true> {
  return changed(declared, (option) => option.makeOptionMandatory());
}

/** The same option, with the value that it has if it is not given. */
export function withDefault<T>(declared: Declared<T>, initial: T): Declared<T, true> {
  return changed(declared, (option) => option.default(initial));
}

/** The same option, which cannot be used together with others. @param names in camel case */
export function conflicting<T>(declared: Declared<T>, ...names: string[]): Declared<T> {
  return changed(declared, (option) => option.conflicts(names));
}

function changed<T, Given extends boolean>(
  { types: _, ...declared }: Declared<T>,
  change: (option: Option) => Option,
): Declared<T, Given> {
  return { ...declared, configure: (option) => change(declared.configure(option)) };
}

/** An argument without a name on the command line. Its form says whether it is required, optional or a list. */
type Operand<T> = { form: string; text: string; configure?(argument: Argument): void; types?: T };
type FormValue<Form> = Form extends `<${string}...>`
  ? string[]
  : Form extends `<${string}>`
    ? string
    : string | undefined;

/** @param form `<file>`, `[file]` or `<files...>`. @param parse makes the value of a required one */
export function operand<Form extends string>(form: Form, text: string): Operand<FormValue<Form>>;
export function operand<T>(form: string, text: string, parse: Parse<T>): Operand<T>;
export function operand(form: string, text: string, parse?: Parse<unknown>): Operand<unknown> {
  return { form, text, configure: (argument) => parse && argument.argParser(parse) };
}

/** A required argument that is one of a few. */
export function operandOf<const T extends string>(form: string, text: string, choices: readonly T[]): Operand<T> {
  return { form, text, configure: (argument) => argument.choices(choices) };
}

type OperandValues<A extends readonly Operand<unknown>[]> = {
  [Index in keyof A]: A[Index] extends Operand<infer T> ? T : never;
};

/** What a running command gets besides its arguments, and whom it tells its exit code. */
export type Running = {
  environment: Environment;
  finish(exitCode: number): void;
};

/** A command, or a group of commands, that adds itself to the parser of another. */
export type Declaration = { register(parent: Command, running: Running): void };

type Described = {
  name: string;
  /** Its line in the list of commands. */
  summary: string;
  /** What it does; then, after two spaces each, examples. */
  help: readonly string[];
};

/**
 * Declares a command. `run` is called when the command runs, and should load then what only this command needs: checking a
 * bundle loads no chain library. It throws `Failure` for what ends the command, and returns the exit code otherwise.
 */
export function command<const A extends readonly Operand<unknown>[] = [], O extends Options = Record<never, never>>(
  declared: Described & {
    operands?: A;
    options?: O;
    run(...given: [...OperandValues<A>, Values<O>, Environment]): ExitCode | Promise<ExitCode>;
  },
): Declaration {
  const { operands = [], options = {}, run } = declared;
  return {
    register(parent, { environment, finish }) {
      const parser = described(parent, declared);
      for (const { form, text, configure } of operands) {
        const argument = new Argument(form, text);
        configure?.(argument);
        parser.addArgument(argument);
      }
      for (const [name, { form, text, configure }] of Object.entries<Options[string]>(options))
        parser.addOption(configure(new Option(`${longName(name)} ${form}`.trim(), text)));
      parser.action(async (...given: unknown[]) => {
        // Commander gives untyped operands, options and itself. They are as declared, because it parsed them by the declaration.
        const parsed = given.slice(0, -1) as [...OperandValues<A>, Values<O>];
        finish(await run(...parsed, environment));
      });
    },
  };
}

/** Declares a group of commands, such as `attestd keys`. */
export function group(declared: Described & { commands: readonly Declaration[] }): Declaration {
  return {
    register(parent, running) {
      const parser = described(parent, declared).usage("<command> [options]").helpCommand(false);
      for (const one of declared.commands) one.register(parser, running);
    },
  };
}

function described(parent: Command, { name, summary, help }: Described): Command {
  return parent.command(name).summary(summary).description(help.join("\n"));
}

/** The name of an option on the command line. @param name in camel case */
export function longName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
