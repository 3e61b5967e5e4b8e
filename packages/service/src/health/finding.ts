import { excerpt } from "@attestd/proof/text";
import type { Config } from "../config/config.ts";
import { hasCode } from "../lib/errors.ts";
import { refusalOf } from "../providers/json-rpc.ts";
import { isProviderError } from "../providers/provider.ts";

/** `ok`: fit for sales. `warning`: sales continue, and something should be fixed. `fail`: something cannot be sold. */
export type Mark = "ok" | "warning" | "fail";

/** One line of an examination: a sentence with the name of the setting, and what to do about it. */
export type Finding = {
  mark: Mark;
  message: string;
  /** Whether an upstream or the database gave no answer, or is behind: it may recover with the same settings. */
  isAway?: boolean;
};

/** A finding with the part of the deployment that was examined. */
export type SubjectFinding = Finding & { subject: string };

/** The limit of a message, which may repeat an upstream's answer, in characters. */
const MAX_MESSAGE = 600;
const finding =
  (mark: Mark) =>
  (message: string): Finding => ({ mark, message: excerpt(message, MAX_MESSAGE) });

export const ok = finding("ok");
export const warning = finding("warning");
export const fail = finding("fail");

/** Makes a finding about a temporary failure of an upstream or the database. */
export function away(message: string): Finding {
  return { ...fail(message), isAway: true };
}

/** What every check gets. A check changes nothing, spends nothing, and throws only errors that `troubleOf` does not describe. */
export type Examination = {
  config: Config;
  /** Ends the check. */
  signal: AbortSignal;
};

/** Tells an operator what to do about a refusal, by HTTP status. */
function remedyFor(message: string, token: string | undefined): string {
  const status = Number(/HTTP (\d{3})/.exec(message)?.[1]);
  const where = token === undefined ? "the key in the URL" : token;
  if (status === 401 || status === 403) return ` Check ${where}: the host refuses us.`;
  if (status === 429) return " The host limits our requests: choose a larger plan, or another host.";
  if (status === 404) return " Check the path of the URL.";
  if (/refused getHealth/.test(message)) return " Wait until it has caught up, or name another node.";
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return " Check the host's name.";
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY/.test(message)) return " Check its certificate.";
  if (/ECONNREFUSED|no whole answer|EHOSTUNREACH|ENETUNREACH|ECONNRESET|ETIMEDOUT/.test(message))
    return " Check that it runs, and that a firewall lets us through.";
  if (/is on the network|is on chain|is of the cluster/.test(message)) return " Name a node of the right network.";
  if ((status >= 400 && status < 500) || /cannot be read|redirect|neither result nor error/.test(message))
    return " Check that the URL is the one of the API.";
  return "";
}

/**
 * Describes why an upstream gave no usable answer.
 * @param setting that names the upstream
 * @param token the setting for its token
 * @throws the error when it is neither a provider's nor a wrong setting's
 */
export function troubleOf(setting: string, error: unknown, token?: string): Finding {
  if (hasCode(error, "config_invalid")) return fail(error.message);
  if (!isProviderError(error)) throw error;
  const { message } = error;
  const isRefusal = /HTTP 4\d\d|is on the network|is on chain|is of the cluster/.test(message);
  const mark = isRefusal ? fail : away;
  return mark(`${setting}: ${message}.${remedyFor(message, token)}`);
}

/**
 * Says what could not be examined, because nodes that have their own findings gave no answer. @throws as `troubleOf`
 */
export function unread(what: string, error: unknown): Finding {
  if (!hasCode(error, "providers_unavailable")) return troubleOf(what, error);
  return warning(`${what} was not examined, because its nodes gave no usable answer.`);
}

/** Checks every upstream of a setting, all at once. @returns the findings about each, or why it could not be checked */
export async function checkEach<T>(
  upstreams: readonly T[],
  { setting, token }: { setting: string; token?: string },
  check: (upstream: T) => Promise<Finding[]>,
): Promise<Finding[]> {
  const found = upstreams.map((one) => check(one).catch((error: unknown) => [troubleOf(setting, error, token)]));
  return (await Promise.all(found)).flat();
}

/** Returns why a JSON-RPC node refuses a call; undefined when it answers. @throws every other error */
export async function refusalBy(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return refusal.message.replace(/^.*? refused \w+: /, "");
  }
}

/** Seconds as people write them. */
export function inSeconds(ms: number): string {
  return Math.abs(ms) < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
