export type { SandboxAccount } from "./algorand/account.ts";
export type { Ledger } from "./algorand/ledger.ts";
export { type AlgorandNetwork, type AlgorandOptions, startAlgorand } from "./algorand/network.ts";
export { type RailRegistration, startFacilitator } from "./facilitator/server.ts";
export type { RequestObserver, SandboxRequest } from "./http.ts";
export { type OptionalNetwork, type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
