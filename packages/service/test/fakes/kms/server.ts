import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { answerAws } from "./aws.ts";
import type { FakeRequest } from "./exchange.ts";
import { answerGoogle, type GoogleOptions } from "./google.ts";
import type { FakeKey, Fault } from "./keys.ts";

export type FakeKms = {
  url: string;
  /** By id. */
  keys: Map<string, FakeKey>;
  /** Every operation that came, in its order, by the provider's name; "metadata" of Google's metadata server. */
  requests: string[];
  /** Of the next requests to sign, in their order. */
  faults: Fault[];
  /** Of every request to sign that has none of `faults`. */
  status: Fault | undefined;
  /** Called with the key of every request to sign, which is answered once it resolves. */
  onSign: ((key: string) => Promise<void> | void) | undefined;
  close(): Promise<void>;
};

/**
 * A key management service on loopback, which answers as AWS KMS does and as Google Cloud KMS does with its metadata
 * server. Both were written from their clients and documents: what the real ones do beyond is not known here.
 */
export async function startKms(
  keys: readonly FakeKey[],
  options: GoogleOptions & { port?: number } = {},
): Promise<FakeKms> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    // A client that leaves breaks off the body.
    const body = await buffer(incoming).catch(() => undefined);
    if (body) await reply({ method, url, headers, body }, outgoing);
  });
  await once(server.listen(options.port ?? 0, "127.0.0.1"), "listening");
  const fake: FakeKms = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: new Map(keys.map((key) => [key.id, key])),
    requests: [],
    faults: [],
    status: undefined,
    onSign: undefined,
    close: async () => {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;

  async function reply(request: FakeRequest, outgoing: ServerResponse): Promise<void> {
    let fault: Fault | undefined;
    const faultOf = () => fault;
    const { operation, key, answer } = request.headers["x-amz-target"]
      ? answerAws(request, fake.keys, faultOf)
      : answerGoogle(request, fake.keys, faultOf, options);
    fake.requests.push(operation);
    if (operation.endsWith("Sign")) {
      fault = fake.faults.shift() ?? fake.status;
      await fake.onSign?.(key);
    }
    if (fault === "silent") return;
    if (fault === "reset") return void outgoing.destroy();
    if (fault === "not-json")
      return void outgoing.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>");
    if (fault === "endless") return endless(outgoing);
    const { status, type, body, headers } = answer();
    outgoing.writeHead(status, { "content-type": type, ...headers }).end(body);
  }
}

function endless(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { "content-type": "application/json" });
  const more = () => {
    while (!outgoing.destroyed && outgoing.write("[".repeat(16_384)));
  };
  outgoing.on("drain", more);
  more();
}
