import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The yardstick of a document: node:http that sends the same bytes under the same headers, and the same 304 for their ETag. */
const url = process.argv[2] as string;
const uncompressed = { "accept-encoding": "identity" };
const original = await fetch(url, { headers: uncompressed });
const body = Buffer.from(await original.arrayBuffer());
const etag = original.headers.get("etag") ?? "";
const unchanged = await fetch(url, { headers: { ...uncompressed, "if-none-match": etag } });

const headers = headersOf(original);
const unchangedHeaders = headersOf(unchanged);
const server = createServer((request, response) => {
  if (request.headers["if-none-match"] === etag) response.writeHead(304, unchangedHeaders).end();
  else response.writeHead(200, headers).end(body);
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once("disconnect", () => process.exit());

/** Those that Node does not write by itself. */
function headersOf({ headers }: Response): Record<string, string> {
  const own = ["date", "connection", "keep-alive"];
  return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
}
