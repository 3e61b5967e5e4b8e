import { z } from "zod";
import { cdpKey, payaiKey, type TokenKey } from "./facilitator-keys.ts";
import { orReport } from "./faults.ts";
import { headerValue, list, plainUrl } from "./formats.ts";
import { readSecretFile } from "./secret-file.ts";
import { areDistinct, urlSpelling } from "./url-spelling.ts";

/** How a facilitator knows us. */
export type FacilitatorAuth =
  | { kind: "none" }
  /** One value of the Authorization header. */
  | { kind: "header"; value: string }
  /** A token for each request. */
  | { kind: "cdp" | "payai"; keyId: string; key: TokenKey };

export type FacilitatorSettings = {
  /** As the settings write it; it is published. */
  url: string;
  auth: FacilitatorAuth;
};

const KINDS = ["none", "header", "cdp", "payai"] as const;
type Kind = (typeof KINDS)[number];

/** The settings of a rail's facilitators: lists, each in the order of the URLs, which is the order of preference. */
export type FacilitatorNames = ReturnType<typeof facilitatorNames>;

/** @param prefix such as `BASE_FACILITATOR` */
export function facilitatorNames(prefix: string) {
  return {
    url: `${prefix}_URL`,
    kind: `${prefix}_KIND`,
    keyId: `${prefix}_KEY_ID`,
    secret: `${prefix}_SECRET`,
    secretFile: `${prefix}_SECRET_FILE`,
  };
}

/** The schemas of the settings by name, each of a list. */
export function facilitatorShape({ url, kind, keyId, secret, secretFile }: FacilitatorNames, isRequired = false) {
  const urls = list
    .pipe(z.array(plainUrl(secret, "is published, and ")))
    .refine(areDistinct, "names a facilitator twice");
  const shape: Record<string, z.ZodType> = {
    [url]: isRequired ? urls : urls.optional(),
    [kind]: list.pipe(z.array(z.enum(KINDS, `must be one of ${KINDS.join(", ")}`))).optional(),
    [keyId]: list.pipe(z.array(z.string().regex(/^[\x21-\x7e]{0,512}$/, "must be ASCII without spaces"))).optional(),
    [secret]: list.optional(),
    [secretFile]: list.transform((paths, { addIssue }) => paths.map((path) => contentsOf(path, addIssue))).optional(),
  };
  return shape;
}

/** Reports a fault of a setting; `message` is a predicate. */
export type ReportFault = (setting: string, message: string) => void;

/**
 * @param values as the shape's schemas return them
 * @param report called for every fault. No message quotes a secret
 */
export function readFacilitators(
  names: FacilitatorNames,
  values: Readonly<Record<string, unknown>>,
  report: ReportFault,
): FacilitatorSettings[] {
  const listed = (name: string) => values[name] as readonly string[] | undefined;
  const urls = listed(names.url) ?? [];
  for (const name of [names.kind, names.keyId, names.secret, names.secretFile]) {
    const count = listed(name)?.length ?? urls.length;
    if (count !== urls.length) {
      const remedy = name === names.secret ? `: a secret with a comma belongs in ${names.secretFile}` : "";
      report(name, `has ${count} entries and ${names.url} has ${urls.length}${remedy}`);
      return [];
    }
  }
  return urls.flatMap((url, i) => {
    const { host } = new URL(url);
    const at = (name: string) => listed(name)?.[i] || undefined;
    const [secret, fileSecret] = [at(names.secret), at(names.secretFile)];
    if (secret !== undefined && fileSecret !== undefined) {
      report(names.secretFile, `and ${names.secret} are both set for ${host}: keep one`);
      return [];
    }
    const kind = (at(names.kind) ?? "none") as Kind;
    const given = { ...names, ...(fileSecret !== undefined && { secret: names.secretFile }) };
    const auth = authOf({ kind, keyId: at(names.keyId), secret: secret ?? fileSecret }, (setting, message) =>
      report(given[setting], `for ${host} ${message}`),
    );
    return auth ? [{ url, auth }] : [];
  });
}

type Given = { kind: Kind; keyId: string | undefined; secret: string | undefined };

/** @returns undefined after a fault was reported */
function authOf(
  { kind, keyId, secret }: Given,
  report: (setting: "keyId" | "secret", message: string) => void,
): FacilitatorAuth | undefined {
  const takesKey = kind === "cdp" || kind === "payai";
  const unused = kind === "none" ? (secret ?? keyId) : takesKey ? undefined : keyId;
  if (unused !== undefined) {
    report(unused === secret ? "secret" : "keyId", `is not used by kind ${kind}: set the kind, or leave it out`);
    return undefined;
  }
  if (kind === "none") return { kind };
  if (secret === undefined) {
    report("secret", `is not set, which kind ${kind} needs`);
    return undefined;
  }
  try {
    if (!takesKey) return { kind, value: headerValueOf(secret) };
    const key = kind === "cdp" ? cdpKey(secret) : payaiKey(secret);
    if (keyId !== undefined) return { kind, keyId, key };
    report("keyId", `is not set, which kind ${kind} needs`);
  } catch (error) {
    report("secret", (error as RangeError).message);
  }
  return undefined;
}

/** @throws RangeError a predicate */
function headerValueOf(secret: string): string {
  const { data, error } = headerValue.safeParse(secret);
  if (data === undefined) throw new RangeError(error?.issues[0]?.message);
  return data;
}

function contentsOf(path: string, addIssue: (message: string) => void): string {
  return path === "" ? "" : (orReport(() => readSecretFile(path), addIssue) ?? "");
}

/** The one spelling of a facilitator's URL, by which a call's row names it. */
export function facilitatorId(url: string): string {
  return urlSpelling(url);
}
