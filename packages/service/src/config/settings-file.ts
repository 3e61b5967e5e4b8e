import { dirname, resolve } from "node:path";
import { parse, stringify, type TomlError } from "smol-toml";
import { FileRefusal, readRegularFile } from "../lib/regular-file.ts";
import { configInvalid } from "./faults.ts";

/** A table of TOML, not checked yet. */
export type Table = Readonly<Record<string, unknown>>;

/** The settings of a service as they are written, not checked yet. */
export type Settings = {
  readonly tables: Table;
  /** The folder of their file: paths in it start there. */
  readonly folder: string;
  /** The environment, which gives what `env:NAME` names, `PORT` and `OTEL_*`, and nothing else. */
  readonly variables: Readonly<Record<string, string | undefined>>;
};

/** The settings of a large deployment, with all comments, have a tenth of it. */
const MAX_BYTES = 256 * 1024;

/**
 * Reads a file of settings (TOML 1.0, UTF-8).
 * @param isFound whether the program found the file by itself, instead of being given its path; a link is not followed then
 * @throws config_invalid when it cannot be read, with the line of a fault in its syntax; no line is quoted
 */
export function readSettingsFile(path: string, variables: Settings["variables"], isFound = false): Settings {
  return { tables: parseTables(path, textOf(path, isFound)), folder: dirname(resolve(path)), variables };
}

/** Writes settings as the text of their file. @param tables in which undefined is absent */
export function tomlOf(tables: Table): string {
  return stringify(tables);
}

function textOf(path: string, isFound: boolean): string {
  try {
    const { bytes } = readRegularFile(path, { maxBytes: MAX_BYTES, isFound });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw configInvalid(`There is no file ${path}. Write one: attestd settings > attestd.toml`);
    if (error instanceof FileRefusal)
      throw configInvalid(`The file of settings, ${path}, cannot be read. ${error.message}`);
    const why = code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "its text is not UTF-8" : (code ?? "unknown error");
    throw configInvalid(`The file of settings, ${path}, cannot be read: ${why}.`);
  }
}

function parseTables(path: string, text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    // The rest of the message quotes the lines, which may hold a secret.
    const { message, line } = error as TomlError;
    const what = message.split("\n")[0]?.replace("Invalid TOML document: ", "");
    const hint = /lossless|redefine/.test(what ?? "")
      ? ""
      : " In TOML a text has quotation marks, and each key a line.";
    throw configInvalid(`${path}, line ${line}: ${what}.${hint}`);
  }
}
