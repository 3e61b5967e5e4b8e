import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import type { Logger } from "pino";
import type { Admit } from "./calls/admit.ts";
import { SAME_HEADER } from "./calls/asking.ts";
import type { Readiness } from "./calls/readiness.ts";
import { CATALOGUE, type EndpointId } from "./catalogue.ts";
import type { ChainName } from "./chains/chain.ts";
import type { HttpContext } from "./http/body.ts";
import { allowedMethods } from "./http/methods.ts";
import { paidRoute } from "./http/paid.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import { json, problemResponse } from "./http/respond.ts";
import { verifyRoute } from "./http/verify.ts";
import type { Offers } from "./payment/offers.ts";
import { PROBLEMS, Problem, type ProblemCode } from "./problems.ts";
import { attestSubject, blockSubject, inclusionSubject } from "./subjects/request.ts";
import type { Verifier } from "./verification.ts";

export type AppOptions = {
  admit: Admit;
  offers: Offers;
  verifier: Verifier;
  /** A delivered bundle by its id. */
  bundle: (id: string) => Promise<string | undefined>;
  readiness: () => Readiness;
  /** The key history document, as JSON. */
  keyHistory: () => string;
  /** What can be attested and proven of blocks, as JSON. */
  blockCapabilities: string;
  /** The chains whose transactions and blocks are attested here. */
  sources: ReadonlyMap<ChainName, unknown>;
  /** Absent: requests are not limited. */
  rateLimit?: RateLimit;
  /** Of every absolute link. */
  origin: () => string;
  log: Logger;
};

type Route = (c: HttpContext) => Response | Promise<Response>;

/** Every route of the service; what is answered on each is decided by what it calls. */
export function createApp(options: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const { admit, offers, origin, sources, verifier } = options;
  const paid = { admit, offers, origin };
  const routes: Record<EndpointId, Route> = {
    health: (c) => json(c, 200, '{"status":"pass"}'),
    ready: (c) => {
      const { ready, reasons } = options.readiness();
      return json(c, ready ? 200 : 503, JSON.stringify({ status: ready ? "pass" : "fail", reasons }));
    },
    attest: paidRoute({ ...paid, endpoint: CATALOGUE.attest, subject: (body) => attestSubject(body, sources) }),
    attestBlock: paidRoute({
      ...paid,
      endpoint: CATALOGUE.attestBlock,
      subject: (body) => blockSubject(body, sources),
    }),
    proveInclusion: paidRoute({
      ...paid,
      endpoint: CATALOGUE.proveInclusion,
      subject: (body) => inclusionSubject(body, sources),
    }),
    verify: verifyRoute({ verifier, endpoint: CATALOGUE.verify, type: "transaction-attestation" }),
    verifyBlock: verifyRoute({ verifier, endpoint: CATALOGUE.verifyBlock, type: "block-attestation" }),
    verifyInclusion: verifyRoute({ verifier, endpoint: CATALOGUE.verifyInclusion, type: "tx-inclusion" }),
    blockCapabilities: (c) => json(c, 200, options.blockCapabilities),
    bundle: async (c) => {
      const body = await options.bundle(c.req.param("id") ?? "");
      if (body === undefined) throw new Problem("not_found", "No bundle of ours has this id.");
      return json(c, 200, body, { "cache-control": "public, max-age=31536000, immutable" });
    },
    keys: (c) => json(c, 200, options.keyHistory()),
    problem: (c) => {
      const code = c.req.param("code") ?? "";
      if (!Object.hasOwn(PROBLEMS, code)) throw new Problem("not_found", "There is no problem with this code.");
      const [status, title, advice] = PROBLEMS[code as ProblemCode];
      return json(c, 200, JSON.stringify({ code, status, title, advice }));
    },
  };

  const app = new Hono<{ Bindings: HttpBindings }>();
  const { rateLimit } = options;
  if (rateLimit) {
    app.use(async (c, next) => {
      await rateLimit(c);
      await next();
    });
  }
  for (const [id, route] of Object.entries(routes)) {
    const { method, path } = CATALOGUE[id as EndpointId];
    app.on(method, path, route);
  }
  app.notFound((c) => {
    const allow = allowedMethods(c.req.path, Object.values(CATALOGUE));
    const problem = allow
      ? new Problem("method_not_allowed", `${c.req.path} takes ${allow}.`)
      : new Problem("not_found", `There is nothing at ${c.req.path}.`);
    const response = problemResponse(c, problem, origin());
    if (allow) response.headers.set("allow", allow);
    return response;
  });
  app.onError((error, c) => {
    if (error instanceof Problem) return problemResponse(c, error, origin());
    options.log.error({ err: error, method: c.req.method, path: c.req.path }, "a request failed");
    const members = c.req.header("payment-signature") === undefined ? {} : SAME_HEADER;
    return problemResponse(c, new Problem("internal", "The service failed to answer.", { members }), origin());
  });
  return app;
}
