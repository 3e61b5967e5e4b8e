/*
 * Node's HTTP without undici: an import of `node:http` reads all that it exports, among it WebSocket, for which Node loads undici
 * whole. That takes 25 ms of a start.
 */

export const {
  Agent: HttpAgent,
  createServer,
  request: requestByHttp,
  STATUS_CODES,
} = process.getBuiltinModule("node:http");
export const { Agent: HttpsAgent, request: requestByHttps } = process.getBuiltinModule("node:https");
