import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Admit } from "../../calls/admit.ts";
import type { Recall } from "../../calls/outcome.ts";
import type { Catalogue, Endpoint } from "../../catalogue/catalogue.ts";
import type { Offers } from "../../payment/offers.ts";
import type { Answer } from "./answer.ts";
import type { ReadMessage } from "./messages.ts";
import type { Operations } from "./operations.ts";

/** The service as its transports call it. */
export type Api = { admit: Admit; recall: Recall; offers: Offers; operations: Operations; readMessage: ReadMessage };

/**
 * Called with the answer to each call over a protocol that carries answers inside its messages.
 * @param status that HTTP gives the same answer
 */
export type ObserveCall = (endpoint: Endpoint, status: number, payment: "none" | "sent") => void;

/** The options of the transports. */
export type TransportOptions = Api & {
  /** Observes the calls of MCP and A2A, whose own answers are all 200. */
  observeCall?: ObserveCall | undefined;
  catalogue: Catalogue;
  /** The origin of every absolute link. */
  origin: string;
  log: Logger;
};

/** The parameters of a request's path and query, percent-decoded. */
export type Parameters = { params: Readonly<Record<string, string>>; query: Readonly<Record<string, string>> };

/** Answers a request. @throws Problem for every answer other than success */
export type Handler = (incoming: IncomingMessage, parameters: Parameters) => Answer | Promise<Answer>;

/** A handler and its path, in which `:name` is a parameter. GET answers HEAD too. */
export type Route = Pick<Endpoint, "method" | "path"> & { handle: Handler };
