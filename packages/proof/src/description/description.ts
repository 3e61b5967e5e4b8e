/** What kind of thing a transaction does. */
export type Kind =
  | "payment"
  | "rekey"
  | "token_transfer"
  | "clawback"
  | "approval"
  | "asset_opt_in"
  | "asset_creation"
  | "asset_configuration"
  | "asset_destruction"
  | "asset_freeze"
  | "deployment"
  | "application_call"
  | "contract_call"
  | "key_registration"
  | "state_proof"
  | "heartbeat"
  | "deposit"
  | "unknown";

/** An amount that the transaction's bytes state. */
export type Amount = {
  /** In the asset's smallest unit: a decimal integer. */
  units: string;
  /** Undefined where the bytes do not say it and the token is not known here. */
  symbol?: string;
  decimals?: number;
  /** For people, with its unit: `25.00 USDC`, `25 units of asset 7`. */
  text: string;
};

/** What an account has to do with a transaction, in words: `From`. */
export type Party = { role: string; account: string };

/** A member of a transaction, for display. */
export type Field = { label: string; value: string };

/** Text that sets ids apart, which a surface may shorten or break. */
export type Words = (string | { id: string })[];

/** What somebody does: `sent …`, `to send …`. */
export type Clause = { past: string; bare: string; what: Words };

/** Who does what, for a sentence. The outcome decides whether it happened. */
export type Deed = {
  actor: Words;
  clauses: [Clause, ...Clause[]];
  /** After the transaction's id: `, submitted by account …`. */
  after?: Words;
};

/**
 * A transaction for people: what its bytes ask for, not whether it happened. Texts that strangers wrote are `printable`.
 * Plain data, so that one thread can describe for another.
 */
export type Description = {
  kind: Kind;
  /** In a few words: `USDC transfer`. */
  title: string;
  /** The account that signed it, or of a deposit its `from`; undefined where the bytes do not show it. */
  sender?: string;
  amount?: Amount;
  /** The accounts that take part, the sender first. */
  parties: Party[];
  /** Undefined for a type that is not read here. */
  deed?: Deed;
  /** What a failure means: `nothing moved`. */
  undone: string;
  /** A sentence about the effects that stay after a failure. */
  lasting?: Words;
  /** Sentences that a surface shows beside it. */
  remarks: string[];
  /** All its members. */
  fields: Field[];
};

/** The remark about a call whose effects depend on code. */
export const CALL_ONLY = "Its bytes show the call, not what happened inside it.";

/** A transaction whose meaning is not known here: its fields alone. */
export function unknownTransaction(title: string, fields: Field[] = []): Description {
  return { kind: "unknown", title, parties: [], undone: "it had no effect", remarks: [], fields };
}

export function account(id: string): Words {
  return ["account ", { id }];
}

export function clause(past: string, bare: string, ...what: Words): Clause {
  return { past, bare, what };
}
