import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { watchStalls } from "./stall-watch.ts";

/** The yardstick of a stall: node:http that reads a body of any length and parses it where it is. */
const server = createServer(async (request, response) => {
  const body = await buffer(request);
  try {
    JSON.parse(body.toString());
    response.writeHead(200).end();
  } catch {
    response.writeHead(400).end();
  }
});
server.listen(0, "127.0.0.1", () => {
  watchStalls();
  process.send?.({ ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
