import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Request } from "./load.ts";

/** The yardstick of short answers: node:http that reads the body, and sends what another server answered to the request. */
const [origin = "", request = ""] = process.argv.slice(2);
const { method, path, headers = {}, body } = JSON.parse(request) as Request;
const original = await fetch(origin + path, {
  method,
  headers: {
    "accept-encoding": "identity",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  },
  ...(body !== undefined && { body }),
});
const bytes = Buffer.from(await original.arrayBuffer());
/** Node writes these by itself. */
const OF_NODE = ["date", "connection", "keep-alive"];
const sent = Object.fromEntries([...original.headers].filter(([name]) => !OF_NODE.includes(name)));

const server = createServer((incoming, outgoing) => {
  const answer = () => outgoing.writeHead(original.status, sent).end(bytes);
  if (body === undefined) return void answer();
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", answer);
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once("disconnect", () => process.exit());
