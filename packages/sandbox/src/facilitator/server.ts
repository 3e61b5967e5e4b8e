import { x402Facilitator } from "@x402/core/facilitator";
import { listen, type ServerOptions } from "../http.ts";
import { facilitatorApp } from "./app.ts";
import { createBehaviours } from "./behaviour.ts";
import { cdpDialect } from "./cdp.ts";
import { type Dialect, type FacilitatorKind, stockDialect } from "./dialect.ts";
import { payaiDialect } from "./payai.ts";

/** Adds one rail's schemes to the facilitator, as its kind has them. */
export type RailRegistration = (facilitator: x402Facilitator, kind: FacilitatorKind) => void | Promise<void>;

export interface FacilitatorOptions extends ServerOptions {
  rails: RailRegistration[];
  /** Default: `stock`. */
  kind?: FacilitatorKind | undefined;
  /** Its first behaviours on demand, in the format of `Behaviours.set`. */
  behaviour?: string | undefined;
  /** The node that gives PayAI's blockhashes. */
  solanaRpcUrl?: string | undefined;
}

/** A facilitator that listens. */
export type Facilitator = Awaited<ReturnType<typeof startFacilitator>>;

/**
 * Starts a facilitator for the registered rails. The stock scheme packages verify and settle; on Algorand,
 * GoPlausible's own.
 * @throws {Error} when the behaviour is wrong, or the port in use
 */
export async function startFacilitator({ rails, kind = "stock", ...options }: FacilitatorOptions) {
  const { behaviour, solanaRpcUrl, ...server } = options;
  const facilitator = new x402Facilitator();
  for (const register of rails) await register(facilitator, kind);
  const behaviours = createBehaviours(behaviour);
  const closing = new AbortController();
  let host = "";
  const dialects: Record<FacilitatorKind, () => Dialect> = {
    stock: () => stockDialect,
    goplausible: () => stockDialect,
    cdp: () => cdpDialect(() => host, Date.now),
    payai: () => payaiDialect(solanaRpcUrl),
  };
  const dialect = dialects[kind]();
  const app = facilitatorApp({ facilitator, dialect, behaviours, closed: closing.signal });
  const listening = await listen(app.fetch, { server: "facilitator", ...server });
  host = new URL(listening.url).host;
  return {
    /** The base of its operations' URLs. */
    url: listening.url + dialect.path,
    kind,
    /** Its API keys, the usual one first; empty when it needs none. */
    credentials: dialect.credentials,
    /** Replaces its behaviours on demand. @throws {Error} as `Behaviours.set` does */
    behave: (text: string) => behaviours.set(text),
    /** Stops listening and closes all connections, also of waiting requests. */
    close: () => {
      closing.abort();
      return listening.close();
    },
  };
}
