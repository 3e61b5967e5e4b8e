import { Hono } from "hono";
import type { Json } from "../json.ts";
import { type Behaviour, BehaviourError, behaviourChanges } from "./behaviour.ts";
import { json } from "./http.ts";

const AWAY = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body>\r\n</html>\r\n";

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * Puts the control of behaviours in front of a server: `GET` and `PATCH /sandbox/behaviour` show and change them, only
 * for this machine. While the server is away, a proxy's 502 answers everything else.
 */
export function front(server: Fetch, behaviour: Behaviour, away: "algodAway" | "indexerAway"): Fetch {
  const app = new Hono();
  app.get("/sandbox/behaviour", () => json({ ...behaviour }));
  app.patch("/sandbox/behaviour", async (c) => {
    try {
      Object.assign(behaviour, behaviourChanges((await c.req.json()) as Json));
    } catch (error) {
      if (error instanceof BehaviourError || error instanceof SyntaxError) return json({ message: error.message }, 400);
      throw error;
    }
    return json({ ...behaviour });
  });
  app.all("*", (c) =>
    behaviour[away] ? new Response(AWAY, { status: 502, headers: { "content-type": "text/html" } }) : server(c.req.raw),
  );
  return app.fetch;
}
