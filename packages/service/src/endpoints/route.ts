import type { IncomingMessage } from "node:http";
import type { Endpoint } from "../catalogue/catalogue.ts";
import type { Answer } from "./answer.ts";

/** The parameters of a request's path and query, percent-decoded. */
export type Parameters = { params: Readonly<Record<string, string>>; query: Readonly<Record<string, string>> };

/** Answers a request. @throws Problem for every answer other than success */
export type Handler = (incoming: IncomingMessage, parameters: Parameters) => Answer | Promise<Answer>;

/** A handler and where it answers; in `path`, `:name` is a parameter. GET answers HEAD too. */
export type Route = Pick<Endpoint, "method" | "path"> & { handle: Handler };
