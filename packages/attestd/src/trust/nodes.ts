import { EXIT, Failure } from "../failure.ts";
import { readText } from "../files/files.ts";
import { isHttpUrl } from "../options.ts";

/** A node, and its token if it needs one. */
export type Node = { url: string; token?: string };

/**
 * The node that options name. Its token is in a file, because every process of the machine can read arguments.
 *
 * @param name the option that has the URL
 * @returns undefined where no node is named
 * @throws Failure `usage` for a token without a node, and for a file without a token
 */
export async function namedNode(
  name: "algod" | "indexer",
  url: string | undefined,
  tokenFile: string | undefined,
): Promise<Node | undefined> {
  if (url === undefined && tokenFile !== undefined)
    throw new Failure(EXIT.usage, `--${name}-token-file is for --${name}`, ["Give both, or neither."]);
  return url === undefined ? undefined : { url, ...(tokenFile !== undefined && { token: await tokenIn(tokenFile) }) };
}

/** The URL that an option names: by itself or, if it contains a key, in a file. @throws Failure `usage` */
export async function namedUrl(named: string): Promise<string> {
  if (isHttpUrl(named)) return named;
  const text = await tokenIn(named);
  if (isHttpUrl(text)) return text;
  throw new Failure(EXIT.usage, `${named} has no URL`, ["Write the URL of a node into it, on one line."]);
}

/** The token in a file of one line. @throws Failure `usage` when the file has no token, or cannot be read */
async function tokenIn(path: string): Promise<string> {
  const text = await readText(path, EXIT.usage);
  // Only characters that a header may have (RFC 9110): an error about others would print the token.
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new Failure(EXIT.usage, `${path} has no token`, ["A token is one line, without blanks."]);
}
