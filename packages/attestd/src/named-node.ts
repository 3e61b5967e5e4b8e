import { EXIT, Failure } from "./failure.ts";
import { tokenIn } from "./secret-file.ts";

/**
 * A node that options name, with its token: every process of the machine can read arguments, so that stands in a file.
 *
 * @param name of the option that has the URL
 * @returns undefined where none is named
 * @throws Failure `usage` for a token without a node, and for a file without a token
 */
export async function namedNode(name: "algod" | "indexer", url: string | undefined, tokenFile: string | undefined) {
  if (url === undefined && tokenFile !== undefined)
    throw new Failure(EXIT.usage, `--${name}-token-file is for --${name}`, ["Give both, or neither."]);
  return url === undefined ? undefined : { url, ...(tokenFile !== undefined && { token: await tokenIn(tokenFile) }) };
}
