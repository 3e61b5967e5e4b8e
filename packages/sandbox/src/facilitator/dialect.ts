import { BASE_MAINNET } from "@attestd/proof/base";
import { RAILS } from "@attestd/proof/rails";
import type { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { Operation } from "./behaviour.ts";
import type { Credentials } from "./credentials.ts";

/** The service as which a facilitator behaves. `stock` is @x402/core's own facilitator. */
export type FacilitatorKind = "stock" | "cdp" | "payai" | "goplausible";

/** Whether a kind settles payments on one of the sandbox's rails, by its network (CAIP-2). */
export function settles(kind: FacilitatorKind, network: string): boolean {
  const isEverywhere = kind === "stock" || kind === "goplausible";
  return isEverywhere || network === BASE_MAINNET || network === RAILS.solana.network;
}

/** Why a request is not answered as asked. */
export type Fault = "unauthorized" | "exhausted" | "limited" | "failing" | "malformed";

/** A request of an operation, before its body is read. */
export interface Asked {
  method: string;
  /** Without query. */
  path: string;
  authorization: string | undefined;
}

/** A payment to verify or to settle. */
export interface FacilitatorRequest {
  payload: PaymentPayload;
  requirements: PaymentRequirements;
}

/** A settlement gave no result because the same payment is already being settled. */
export const IN_FLIGHT = Symbol("in flight");

/** How one kind of facilitator differs from another. */
export interface Dialect {
  /** The path prefix of its operations' URLs. */
  readonly path: string;
  /** Its API keys; empty when it needs none. */
  readonly credentials: readonly Credentials[];
  /** Whether a body that is not a payment is answered before the credentials are checked. */
  readsBodyFirst(operation: Operation): boolean;
  /** @throws {TokenRefused} when the credentials are missing or invalid */
  authenticate(asked: Asked): void;
  /** Returns why a well-formed request is answered as malformed. */
  objection(request: FacilitatorRequest): string | undefined;
  /** Answers a request that it cannot or will not serve. @param message for the client */
  fault(operation: Operation, fault: Fault, message: string): Response;
  /** Settles with `run`, unless the outcome of the same payment is known. */
  settle(request: FacilitatorRequest, run: () => Promise<SettleResponse>): Promise<SettleResponse | typeof IN_FLIGHT>;
  /** Whether `settlement_pending` names the transaction of a payment on a network (CAIP-2). */
  namesPending(network: string): boolean;
  /** Answers a settlement that was processed, whether it succeeded or not. */
  settled(outcome: SettleResponse): Response;
  /** Answers `/supported`. */
  supported(facilitator: x402Facilitator): Promise<object>;
}

/** The status of each fault's answer. */
export const STATUS: Record<Fault, 400 | 401 | 403 | 429 | 500> = {
  malformed: 400,
  unauthorized: 401,
  exhausted: 403,
  limited: 429,
  failing: 500,
};

/** @x402/core's facilitator behind plain HTTP, without credentials. As far as described, GoPlausible's is the same. */
export const stockDialect: Dialect = {
  path: "",
  credentials: [],
  readsBodyFirst: () => false,
  authenticate: () => {},
  objection: () => undefined,
  fault: (_, fault, message) => Response.json({ error: message }, { status: STATUS[fault] }),
  settle: (_, run) => run(),
  namesPending: () => true,
  settled: (outcome) => Response.json(outcome),
  supported: async (facilitator) => facilitator.getSupported(),
};
