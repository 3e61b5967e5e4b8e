/*
 * Node's HTTP without undici. An import of `node:http` reads all that it exports, including WebSocket, for which Node
 * loads all of undici; this would add 25 ms to a start.
 */

export const {
  Agent: HttpAgent,
  createServer,
  request: requestByHttp,
  STATUS_CODES,
} = process.getBuiltinModule("node:http");
export const { Agent: HttpsAgent, request: requestByHttps } = process.getBuiltinModule("node:https");
