/** A request that is meant to cost more than it brings. */
export type Hostile = { path: string; body: string; headers?: Record<string, string> };

const KB = 1024;
const MB = 1024 * KB;

/** JSON values of some size that parsers, validators and writers of JSON find hard, by what is hard about them. */
const VALUES: Readonly<Record<string, (size: number) => string>> = {
  "tiny items": (size) => `[${"0,".repeat(size / 2 - 2)}0]`,
  "tiny objects": (size) => `[${"{},".repeat(size / 3 - 2)}{}]`,
  "tiny members": (size) => `{${Array.from({ length: size / 12 }, (_, i) => `"${i.toString(36)}":0`)}}`,
  "members of one name": (size) => `{${'"a":0,'.repeat(size / 6 - 1)}"a":0}`,
  nesting: (size) => "[".repeat(size),
  "nesting as deep as may be, beside each other": (size) => `[${"[[[[[[[]]]]]]],".repeat(size / 15 - 1)}0]`,
  "a long string": (size) => `"${"x".repeat(size - 2)}"`,
  "a long string beyond ASCII": (size) => `"${"\u{1f511}".repeat(size / 4 - 1)}"`,
  "a string of escapes": (size) => `"${"\\u0041".repeat(size / 6 - 1)}"`,
  "a string of quotes": (size) => `"${'\\"'.repeat(size / 2 - 1)}"`,
  "a string of controls": (size) => `"${"\\u0000".repeat(size / 6 - 1)}"`,
  "long names": (size) => `{${Array.from({ length: 32 }, (_, i) => `"${i}${"k".repeat(size / 32 - 8)}":0`)}}`,
  "a long number": (size) => "9".repeat(size),
  "a long fraction": (size) => `0.${"1".repeat(size - 2)}`,
  "small numbers": (size) => `[${"1e5,".repeat(size / 4 - 1)}0]`,
  space: (size) => `${" \n".repeat(size / 2 - 1)}0`,
  "a string without an end": (size) => `"${"x".repeat(size)}`,
};

const MCP = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
};
const META = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';

function tool(name: string, args: string, about = "0"): Hostile {
  const params = `{"name":"${name}","arguments":${args},"_meta":{${META},"x402/payment":${about}}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  return { path: "/mcp", body, headers: { ...MCP, "mcp-name": name } };
}

function skill(part: string, about = "0"): Hostile {
  const message = `{"role":"user","messageId":"m","parts":[${part}],"metadata":{"x402.payment.payload":${about}}}`;
  return { path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message}}}` };
}

const data = (name: string, value: string) => `{"kind":"data","data":{"skill":"${name}","version":${value}}}`;
const text = (name: string, value: string) =>
  `{"kind":"text","text":${JSON.stringify(`{"skill":"${name}","version":${value}}`)}}`;

/** Every place in a request that can have a value, by route group. */
const PLACES: Readonly<Record<string, (value: (size: number) => string) => Hostile[]>> = {
  paid: (value) => [
    { path: "/attest", body: value(64 * KB) },
    { path: "/prove-tx-inclusion", body: `{"chain":"base","txId":${value(60 * KB)}}` },
    {
      path: "/attest",
      body: '{"txid":"A"}',
      headers: { "payment-signature": Buffer.from(value(11 * KB)).toString("base64") },
    },
  ],
  verify: (value) => [
    { path: "/verify", body: value(2 * MB) },
    { path: "/verify-tx-inclusion?chain=1", body: `{"version":1,"source":{"txnBytesBase64":${value(2 * MB - 100)}}}` },
  ],
  mcp: (value) => [
    { path: "/mcp", body: value(2 * MB), headers: MCP },
    tool("attest", `{"txid":${value(2 * MB)}}`),
    tool("attest", `{"txid":${value(60 * KB)}}`),
    tool("attest", "{}", value(2 * MB)),
    tool("attest", "{}", value(15 * KB)),
    tool("verify", `{"version":${value(2 * MB - KB)}}`),
    tool("readiness", value(90 * KB)),
  ],
  a2a: (value) => [
    { path: "/a2a", body: value(2 * MB) },
    skill(data("attest", value(2 * MB))),
    skill(data("attest", value(60 * KB))),
    skill(data("verify", value(2 * MB - KB))),
    skill(text("verify", value(MB))),
    skill(data("attest", "0"), value(2 * MB)),
    skill(data("attest", "0"), value(15 * KB)),
  ],
};

export const ROUTE_GROUPS: readonly string[] = Object.keys(PLACES);

/** Every hostile request to a route group. */
export function hostileTo(group: string): Hostile[] {
  return Object.values(VALUES).flatMap((value) => PLACES[group]?.(value) ?? []);
}
