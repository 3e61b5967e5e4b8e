import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serviceError } from "../../test/errors.ts";
import { type Handler, json, Upstream } from "../../test/fakes/providers.ts";
import { HttpProvider } from "./http.ts";

const open: Upstream[] = [];
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

async function start(handler: Handler): Promise<Upstream> {
  const upstream = await Upstream.start(handler);
  open.push(upstream);
  return upstream;
}

const never = new AbortController().signal;
const silent: Handler = () => {};

function fails(message: RegExp) {
  return expect.objectContaining({
    name: "ServiceError",
    code: "providers_unavailable",
    message: expect.stringMatching(message),
  });
}

describe("HttpProvider", () => {
  it("answers below 500 are answers", async () => {
    const { url } = await start((_, response) => json(response, { message: "no such thing" }, 404));
    const answer = await new HttpProvider({ url }).request({ path: "/thing" }, never);
    expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([404, '{"message":"no such thing"}']);
  });

  it("shows the upstream's message of a status that is not expected, unless it repeats what may be secret", async () => {
    const { url } = await start((request, response) => {
      const message = request.url === "/KEY/echo" ? `no ${request.url}` : "provided disabled\nparameter: tx-type";
      json(response, { message }, 400);
    });
    const provider = new HttpProvider({ url: `${url}/KEY` });
    const ask = (path: string) => provider.json({ path }, z.object({}), never);
    await expect(ask("/search")).rejects.toEqual(fails(/HTTP 400: provided disabled parameter: tx-type$/));
    await expect(ask("/echo")).rejects.toEqual(fails(/answered HTTP 400$/));
  });

  it.each([429, 500, 503])("%i is no answer", async (status) => {
    const { url } = await start((_, response) => response.writeHead(status).end());
    await expect(new HttpProvider({ url }).request({ path: "/" }, never)).rejects.toEqual(fails(/answered HTTP/));
  });

  it("a request that cannot be sent is no answer, and its error does not repeat it", async () => {
    const { url, requests } = await start((_, response) => json(response, {}));
    const provider = new HttpProvider({ url, headers: { authorization: "Bearer SECRET\n" } });
    const failure = await provider.request({ path: "/" }, never).catch((error) => error);
    expect(failure).toEqual(fails(/could not be read: ERR_INVALID_CHAR$/));
    expect(String(failure)).not.toContain("SECRET");
    expect(requests).toEqual([]);
  });

  it("asks for the root of a URL that has a query and no path", async () => {
    let asked: string | undefined;
    const { url } = await start((request, response) => {
      asked = request.url;
      json(response, {});
    });
    await new HttpProvider({ url: `${url}?key=1` }).request({ path: "" }, never);
    expect(asked).toBe("/?key=1");
  });

  it("refuses redirects", async () => {
    const target = await start((_, response) => json(response, {}));
    const { url } = await start((_, response) => response.writeHead(302, { location: target.url }).end());
    await expect(new HttpProvider({ url }).request({ path: "/" }, never)).rejects.toEqual(fails(/redirect/));
    expect(target.requests).toEqual([]);
  });

  it("refuses a body that is cut off", async () => {
    const { url } = await start((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    await expect(new HttpProvider({ url }).request({ path: "/" }, never)).rejects.toEqual(fails(/could not be read/));
  });

  it("outlives a connection that is reset within a body", async () => {
    const { url } = await start((request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => setImmediate(() => request.socket.resetAndDestroy()));
    });
    const provider = new HttpProvider({ url });
    for (let i = 0; i < 3; i++)
      await expect(provider.request({ path: "/" }, never)).rejects.toEqual(fails(/could not be read: ECONNRESET/));
  });

  it("stops reading a body at its bound, whatever length it claims", async () => {
    const { url } = await start((_, response) => {
      const more = () => response.destroyed || response.write("x".repeat(1024), () => setImmediate(more));
      more();
    });
    const request = { path: "/", maxBytes: 10_000 };
    await expect(new HttpProvider({ url }).request(request, never)).rejects.toEqual(fails(/more than 10000 bytes/));
  });

  it("gives up after its time-out", async () => {
    const { url } = await start(silent);
    const provider = new HttpProvider({ url, timeoutMs: 20 });
    await expect(provider.request({ path: "/" }, never)).rejects.toEqual(fails(/within 20 ms/));
  });

  it("ends with the caller's reason when the caller leaves", async () => {
    const upstream = await start(silent);
    const caller = new AbortController();
    const answer = new HttpProvider({ url: upstream.url }).request({ path: "/" }, caller.signal);
    caller.abort(new Error("gone"));
    await expect(answer).rejects.toThrow("gone");
  });

  it("gives up an answer that does not come to its end, for its time-out and for its caller", async () => {
    const begun = Promise.withResolvers<void>();
    const { url } = await start((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("slow", () => begun.resolve());
    });
    const provider = new HttpProvider({ url, timeoutMs: 100 });
    await expect(provider.request({ path: "/" }, never)).rejects.toEqual(fails(/within 100 ms/));
    const caller = new AbortController();
    const patient = new HttpProvider({ url }).request({ path: "/" }, caller.signal);
    await begun.promise;
    caller.abort(new Error("gone"));
    await expect(patient).rejects.toThrow("gone");
  });

  it("gives up a request that waits for a connection, for its time-out and for its caller", async () => {
    const { url } = await start(silent);
    const provider = new HttpProvider({ url, timeoutMs: 20 });
    const polls = new AbortController();
    const polled = Array.from({ length: 256 }, () => provider.request({ path: "/", longPollMs: 60_000 }, polls.signal));
    await expect(provider.request({ path: "/" }, never)).rejects.toEqual(fails(/within 20 ms/));
    const caller = new AbortController();
    const waiting = provider.request({ path: "/", longPollMs: 60_000 }, caller.signal);
    caller.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    polls.abort();
    await Promise.allSettled(polled);
  });

  it("asks again on the connection that it has", async () => {
    const ports = new Set<number | undefined>();
    const { url } = await start((request, response) => {
      ports.add(request.socket.remotePort);
      json(response, {});
    });
    const provider = new HttpProvider({ url });
    for (let i = 0; i < 5; i++) await provider.request({ path: "/", method: "POST", body: "é" }, never);
    expect(ports.size).toBe(1);
  });

  it("leaves an upstream alone after five failures in a row, though not for long polls", async () => {
    const upstream = await start((_, response) => response.writeHead(503).end());
    const provider = new HttpProvider({ url: upstream.url });
    for (let i = 0; i < 5; i++) await expect(provider.request({ path: "/" }, never)).rejects.toThrow("HTTP 503");
    await expect(provider.request({ path: "/" }, never)).rejects.toEqual(fails(/not asked for a while/));
    expect(upstream.requests).toHaveLength(5);
    await expect(provider.request({ path: "/wait", longPollMs: 1000 }, never)).rejects.toThrow("HTTP 503");
  });

  it("answers our own requests while programs of strangers fail there, and fails further requests to run those at once", async () => {
    const upstream = await start(({ url = "" }, response) =>
      url === "/foreign" ? response.writeHead(500).end() : json(response, {}),
    );
    const provider = new HttpProvider({ url: upstream.url });
    const foreign = () => provider.request({ path: "/foreign", breakerName: "foreign" }, never);
    for (let i = 0; i < 5; i++) await expect(foreign()).rejects.toThrow("HTTP 500");
    await expect(foreign()).rejects.toEqual(fails(/not asked for a while/));
    await expect(provider.request({ path: "/own" }, never)).resolves.toMatchObject({ status: 200 });
  });

  it("does not count requests that their callers abort as failures of the upstream", async () => {
    const upstream = await start(silent);
    const provider = new HttpProvider({ url: upstream.url });
    for (let i = 0; i < 6; i++) {
      const caller = new AbortController();
      const answer = provider.request({ path: "/" }, caller.signal);
      caller.abort(new Error("gone"));
      await expect(answer).rejects.toThrow("gone");
    }
    upstream.handler = (_, response) => json(response, {});
    await expect(provider.request({ path: "/" }, never)).resolves.toMatchObject({ status: 200 });
  });

  it("puts no header, credential, path or query into an error", async () => {
    const closed = await Upstream.start(silent);
    await closed.close();
    const provider = new HttpProvider({
      url: `http://secretuser:secretpassword@${closed.host}/v2/secretkey?apikey=secretquery`,
      headers: { "x-algo-api-token": "secrettoken" },
    });
    const error = await provider.request({ path: "/secretpath" }, never).catch((error: unknown) => error);
    expect(error).toEqual(serviceError("providers_unavailable"));
    expect(provider.name).toBe(closed.host);
    for (let cause = error; cause instanceof Error; cause = cause.cause)
      expect(JSON.stringify([cause.message, cause.stack, cause])).not.toContain("secret");
  });

  it("joins the base URL's path and query with the request's, and sends its credentials", async () => {
    const upstream = await start((request, response) => json(response, { auth: request.headers.authorization }));
    const provider = new HttpProvider({ url: `http://user:p%40ss@${upstream.host}/base/?key=1` });
    const { auth } = await provider.json({ path: "/thing?x=2" }, z.object({ auth: z.string() }), never);
    expect(upstream.requests).toEqual(["GET /base/thing?x=2&key=1"]);
    expect(auth).toBe(`Basic ${btoa("user:p@ss")}`);
  });

  it("keeps integers beyond 2^53", async () => {
    const { url } = await start((_, response) => response.end('{"amount":18446744073709551615,"small":7,"half":0.5}'));
    const Anything = z.record(z.string(), z.unknown());
    expect(await new HttpProvider({ url }).json({ path: "/" }, Anything, never)).toEqual({
      amount: 18446744073709551615n,
      small: 7,
      half: 0.5,
    });
  });

  it.each(["", "{", "nonsense", "[]", "\xff"])("refuses %j where an object is due", async (text) => {
    const { url } = await start((_, response) => response.end(text, "latin1"));
    const provider = new HttpProvider({ url });
    await expect(provider.json({ path: "/" }, z.object({}), never)).rejects.toEqual(fails(/cannot be read/));
  });

  it("closes the connection of an answer that it gave up", async () => {
    const upstream = await start(silent);
    const hung = new Promise((resolve) => {
      upstream.handler = (_, response) => resolve(once(response, "close"));
    });
    await expect(
      new HttpProvider({ url: upstream.url, timeoutMs: 20 }).request({ path: "/" }, never),
    ).rejects.toThrow();
    await hung;
  });
});
