import { ALGORAND_ID, getBytes, getInteger, getString, isAlgorandAddress } from "@attestd/proof/algorand";
import { equalBytes, fromBase64, fromBase64Url, toBase64Url } from "@attestd/proof/encoding";
import { attempt } from "@attestd/proof/errors";
import type { BlockStore, BlockTransaction, Location } from "./block.ts";
import { apiError } from "./http.ts";
import { getAddress } from "./transaction.ts";

const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

/** Members of a transaction that name an address in a role. */
const ROLE_MEMBERS = new Map([
  ["sender", ["snd", "asnd"]],
  ["receiver", ["rcv", "arcv"]],
  ["freeze-target", ["fadd"]],
]);
const CLOSE_MEMBERS = ["close", "aclose"];

const PARAMETERS = new Set(
  (
    "txid tx-type sig-type note-prefix min-round max-round round asset-id address address-role exclude-close-to " +
    "group-id rekey-to limit next"
  ).split(" "),
);

/**
 * Parameters that an indexer on PostgreSQL accepts only if its operator allows them (algorand/indexer,
 * `api/disabled_parameters.go`). Searches for one account allow some more.
 */
const DISABLED = "note-prefix tx-type sig-type asset-id before-time after-time rekey-to".split(" ");
const DISABLED_WITHOUT_ACCOUNT =
  "currency-greater-than currency-less-than address-role exclude-close-to application-id group-id".split(" ");

/**
 * Refuses a search that an indexer with default settings refuses.
 * @param isOfAccount whether the path names an account
 * @throws HTTPException 400
 */
export function checkParameters(query: URLSearchParams, isOfAccount: boolean): void {
  const disabled = isOfAccount ? DISABLED : [...DISABLED, ...DISABLED_WITHOUT_ACCOUNT];
  const given = disabled.find((name) => query.get(name));
  if (given !== undefined) throw apiError(400, `provided disabled parameter: ${given}`);
}

type Search = ReturnType<typeof parseSearch>;

/**
 * Parses the query of an indexer search. An unknown parameter is an error, so that no filter is ignored.
 * @param address from the path, if the search is for one account
 * @throws HTTPException 400
 */
export function parseSearch(query: URLSearchParams, address = query.get("address") ?? undefined) {
  const unknown = query.keys().find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) throw apiError(400, `Unknown parameter detected: ${unknown}`);
  const txid = query.get("txid") ?? undefined;
  if (txid !== undefined && !ALGORAND_ID.pattern.test(txid))
    throw apiError(400, "unable to parse base32 digest data 'txid': not a transaction id");
  const round = integer(query, "round");
  const minRound = integer(query, "min-round");
  const maxRound = integer(query, "max-round");
  if (round !== undefined && (minRound !== undefined || maxRound !== undefined))
    throw apiError(400, "cannot specify round and min-round/max-round");
  if (minRound !== undefined && maxRound !== undefined && minRound > maxRound)
    throw apiError(400, "min-round must be less than max-round");
  const after = query.get("next");
  return {
    minRound: round ?? minRound ?? 0,
    maxRound: round ?? maxRound ?? Number.MAX_SAFE_INTEGER,
    /** The indexer lists the newest first when searching by address. */
    newestFirst: address !== undefined,
    limit: Math.min(integer(query, "limit") ?? DEFAULT_LIMIT, MAX_LIMIT),
    /** Only results after this one, in the search's order. */
    after: after === null ? undefined : parseNextToken(after),
    txid,
    matches: matcher(query, address),
  };
}

/** The results of a search, in its order. */
export function searchTransactions(blocks: BlockStore, search: Search): BlockTransaction[] {
  const { txid, after, newestFirst, limit } = search;
  return roundsOf(blocks, search)
    .values()
    .flatMap((round) => (newestFirst ? blocks.payset(round).reverse() : blocks.payset(round)))
    .filter((found) => after === undefined || comesAfter(found, after, newestFirst))
    .filter((found) => (txid === undefined || found.id === txid) && search.matches(found))
    .take(limit)
    .toArray();
}

/** The indexer's next token: round (8 bytes) and offset (4 bytes), little-endian, base64url. */
export function nextToken({ round, index }: Location): string {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(BigInt(round));
  bytes.writeUInt32LE(index, 8);
  return toBase64Url(bytes);
}

function parseNextToken(token: string): Location {
  const bytes = Buffer.from(decode(fromBase64Url, token, "unable to parse next token"));
  if (bytes.length !== 12) throw apiError(400, "unable to parse next token");
  return { round: Number(bytes.readBigUInt64LE()), index: bytes.readUInt32LE(8) };
}

function roundsOf(blocks: BlockStore, { txid, minRound, maxRound, newestFirst, after }: Search): number[] {
  const location = txid === undefined ? undefined : blocks.locate(txid);
  if (txid !== undefined && location === undefined) return [];
  const candidates = location === undefined ? blocks.paysetRounds() : [location.round];
  const least = newestFirst ? minRound : Math.max(minRound, after?.round ?? 0);
  const most = newestFirst ? Math.min(maxRound, after?.round ?? maxRound) : maxRound;
  const rounds = candidates.filter((round) => round >= least && round <= most);
  return newestFirst ? rounds.reverse() : rounds;
}

function comesAfter(location: Location, other: Location, newestFirst: boolean): boolean {
  const order = location.round - other.round || location.index - other.index;
  return newestFirst ? order < 0 : order > 0;
}

function matcher(query: URLSearchParams, address: string | undefined): (found: BlockTransaction) => boolean {
  if (address !== undefined && !isAlgorandAddress(address))
    throw apiError(400, `unable to parse address 'address': ${address}`);
  const type = query.get("tx-type");
  const signature = query.get("sig-type");
  const assetId = integer(query, "asset-id");
  const prefix = bytesOf(query, "note-prefix");
  const group = bytesOf(query, "group-id");
  const rekeys = query.get("rekey-to") === "true";
  const members = addressMembers(query.get("address-role"), query.get("exclude-close-to") === "true");
  return ({ txn, inBlock }) =>
    (type === null || getString(txn, "type") === type) &&
    (signature === null || inBlock.has(signature)) &&
    (assetId === undefined ||
      ["xaid", "caid", "faid"].some((name) => Number(getInteger(txn, name)) === assetId) ||
      (assetId !== 0 && Number(getInteger(inBlock, "caid")) === assetId)) &&
    (prefix === undefined || startsWith(getBytes(txn, "note"), prefix)) &&
    (group === undefined || equalBytes(getBytes(txn, "grp") ?? new Uint8Array(), group)) &&
    (!rekeys || txn.has("rekey")) &&
    (address === undefined || members.some((name) => getAddress(txn, name) === address));
}

function addressMembers(role: string | null, excludeClose: boolean): string[] {
  if (role === null) return [...ROLE_MEMBERS.values(), CLOSE_MEMBERS].flat();
  const members = ROLE_MEMBERS.get(role);
  if (members === undefined)
    throw apiError(400, `unknown address role [valid roles: freeze-target, receiver, sender]: '${role}'`);
  return role === "receiver" && !excludeClose ? [...members, ...CLOSE_MEMBERS] : members;
}

function startsWith(note: Uint8Array | undefined, prefix: Uint8Array): boolean {
  return note !== undefined && note.length >= prefix.length && equalBytes(note.subarray(0, prefix.length), prefix);
}

function bytesOf(query: URLSearchParams, name: string): Uint8Array | undefined {
  const text = query.get(name);
  return text === null ? undefined : decode(fromBase64, text, `unable to parse base64 data: '${name}'`);
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw apiError(400, `Invalid format for parameter ${name}: ${text}`);
  return Number(text);
}

function decode(decoder: (text: string) => Uint8Array, text: string, message: string): Uint8Array {
  const bytes = attempt("malformed", () => decoder(text));
  if (bytes === undefined) throw apiError(400, message);
  return bytes;
}
