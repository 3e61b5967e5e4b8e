import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The yardstick of a document: node:http that sends the same bytes under the same headers, and 304 for their ETag. */
const original = await fetch(process.argv[2] as string);
const body = Buffer.from(await original.arrayBuffer());
const etag = original.headers.get("etag") ?? "";
const dropped = new Set(["date", "connection", "keep-alive"]);
const headers = Object.fromEntries([...original.headers].filter(([name]) => !dropped.has(name)));

const server = createServer((request, response) => {
  if (request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, headers).end(body);
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once("disconnect", () => process.exit());
