import { decodeMsgpack, type MsgpackValue } from "@attestd/proof/algorand";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { vectors } from "../../../proof/test/vectors.ts";
import { startTestNetwork, type TestNetwork } from "../../test/algorand-network.ts";
import { recordedRequests } from "../../test/recorded-requests.ts";
import { type Json, parseJson } from "../json.ts";

interface Recorded {
  request: string;
  status: number;
  headers: Record<string, string>;
  /** Cut at 1,800 characters. */
  body: string;
}

const MAX_RECORDED = 1800;
const MSGPACK = "MSGPACK ";

/**
 * Members that only a real network has, because of its rewards and its votes for an upgrade, and certificates with
 * their votes.
 */
const OF_THE_NETWORK = new Set(
  (
    "earn frac rate rr rs receiver-rewards sender-rewards nextproto nextbefore nextswitch nextyes upgradeprop upgradeyes " +
    "upgradedelay upgrade-delay upgrade-next-protocol-vote-before upgrade-no-votes upgrade-node-vote upgrade-vote-rounds " +
    "upgrade-votes upgrade-votes-required upgrade-yes-votes next-version last-catchpoint vote encdig"
  ).split(" "),
);

/** Answers of which only status and type are compared, and why. */
const OF_ITS_OWN: Record<string, string> = {
  "GET genesis": "every network has its own accounts",
};

describe.each(["v41", "v42"] as const)("as go-algorand 5.0.0 on %s answers", (consensus) => {
  const recorded: Recorded[] = vectors.json(`go-algorand/answers-${consensus}.json`);
  let network: TestNetwork;
  let requests: ReturnType<typeof recordedRequests>;

  beforeAll(async () => {
    // The recorded network began with v41, too.
    network = await startTestNetwork({ behaviour: { consensus: "v41" } });
    const { round } = network.ledger.advance();
    network.behaviour.consensus = consensus;
    network.ledger.advance();
    requests = recordedRequests(network, round);
  });

  afterAll(() => network.close());

  test("the table has every recorded request, in their order", () => {
    expect(Object.keys(requests)).toEqual(recorded.map(({ request }) => request));
  });

  test.each(recorded)("$request", async ({ request, status, headers, body }) => {
    const isOther = consensus === "v41" && ANOTHER_STATE.includes(request);
    const answer = await (requests[request] as () => Promise<Response>)();
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const named = Object.fromEntries(Object.keys(headers).map((name) => [name, answer.headers.get(name)]));
    if (isOther) return;
    expect({ status: answer.status, headers: named }).toEqual({ status, headers });
    if (request in OF_ITS_OWN) return;
    if (body.startsWith(MSGPACK))
      expect(shapeOf(summary(decodeMsgpack(bytes)))).toBe(shapeOf(body.slice(MSGPACK.length)));
    else if (body.length < MAX_RECORDED) expect(typesOf(parsed(bytes))).toEqual(typesOf(parsed(Buffer.from(body))));
    // If a body was cut off, every complete line is among ours.
    else expect(linesOf(Buffer.from(bytes).toString())).toEqual(expect.arrayContaining(linesOf(body).slice(0, -1)));
  });
});

/**
 * Cases for which the recording has another state: on v41 its lease was already taken, and free again a moment later.
 */
const ANOTHER_STATE = ["POST lease first", "POST lease same txn in pool", "POST lease same txn confirmed"];

function parsed(bytes: Uint8Array): Json {
  const text = Buffer.from(bytes).toString("utf8");
  return text === "" ? "" : parseJson(text);
}

/**
 * Replaces the numbers of a JSON value with their type, and removes from its texts what differs between two networks.
 */
function typesOf(value: Json): unknown {
  if (typeof value === "number" || typeof value === "bigint") return "number";
  if (typeof value === "string") return wording(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(typesOf);
  const members = Object.entries(value).filter(([name]) => !OF_THE_NETWORK.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, typesOf(member as Json)]));
}

function wording(text: string): string {
  return text
    .replace(/transaction (\{_struct.*\}|\{GO-DUMP\}) invalid/s, "transaction {GO-DUMP} invalid")
    .replace(/blk-[A-Z2-7]{52}/g, "BLOCK")
    .replace(/\b[A-Z2-7]{58}\b/g, "ADDRESS")
    .replace(/\b[A-Z2-7]{52}\b/g, "ID")
    .replace(/^(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "BASE64")
    .replace(/\b(MicroAlgos|RewardsBase|RewardedMicroAlgos):\S+/g, "$1:…")
    .replace(/from sender amount \d+/, "from sender amount …")
    .replace(/balance \d+ below/, "balance … below")
    .replace(/round \d+ outside of (\d{2,})--(\d{2,})/, "round … outside of …")
    .replace(/round \d+ outside of 1--2/, "round … outside of 1--2")
    .replace(/\(\d+--\d+\)/, "(…)")
    .replace(/\[pos \d{2,}\]/, "[pos …]")
    .replace(/(oraclea|attestd-sandbox)-v1/g, "GENESIS");
}

/** msgpack in the notation of the recordings: `{block:{fees:bin(32),rnd:7},cert:{}}`. */
function summary(value: MsgpackValue): string {
  if (value instanceof Uint8Array) return `bin(${value.length})`;
  if (Array.isArray(value)) return `[${value.map(summary).join(",")}]`;
  if (value instanceof Map) return `{${[...value].map(([name, member]) => `${name}:${summary(member)}`).join(",")}}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Returns a summary with its numbers replaced by their type, and without members that depend on the network. */
function shapeOf(text: string): string {
  const name = [...OF_THE_NETWORK].join("|");
  return (
    text
      .replace(/,vote:\[.*?snd:bin\(32\)\}\]/, "")
      .replace(new RegExp(`(?<=[{,])(${name}):[^,{}[\\]]+(,|(?=\\}))`, "g"), "")
      .replace(/,(?=\})/g, "")
      .replace(/(?<=[:,])\d+(?=[,}\]])/g, "number")
      .replace(/note:bin\(\d+\)/, "note:bin")
      // A genesis at the beginning of 1970, like the recorded one, has no time.
      .replace(/,ts:number(?=,txn:bin\(32\)\},cert:\{\}\})/, "")
      .replace(/"(oraclea|attestd-sandbox)-v1"/g, "GENESIS")
  );
}

/** Returns the lines of indented JSON, each without what differs between two networks. */
function linesOf(text: string): string[] {
  const members = text.split("\n").map((line) => /^(\s*)(?:"([^"]+)": )?(.*?),?$/.exec(line) ?? []);
  const kept = members.filter(([, , name = ""]) => !OF_THE_NETWORK.has(name));
  return kept.map(([, indent, name, value = ""]) => {
    const text = /^"(.*)"$/.exec(value)?.[1];
    return `${indent}${name}: ${text === undefined ? value.replace(/^\d+$/, "number") : wording(text)}`;
  });
}
