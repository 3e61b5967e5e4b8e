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
  /** Undefined if the bytes do not say it and the token is not known here. */
  symbol?: string;
  decimals?: number;
  /** For people, with its unit: `25.00 USDC`, `25 units of asset 7`. */
  text: string;
};

/** An account's role in a transaction, in words: `From`. */
export type Party = { role: string; account: string };

/** A member of a transaction, for display. */
export type Field = { label: string; value: string };

/** Text with its ids set apart, so that a surface can shorten or break them. */
export type Words = (string | { id: string })[];

/** An action in the past tense and the infinitive: `sent …`, `to send …`. */
export type Clause = { past: string; bare: string; what: Words };

/** An actor and an action, for a sentence. The outcome decides whether it happened. */
export type Deed = {
  actor: Words;
  clauses: [Clause, ...Clause[]];
  /** After the transaction's id: `, submitted by account …`. */
  after?: Words;
};

/**
 * A transaction for people: what its bytes ask for, not whether it happened. Texts that strangers wrote are made
 * `printable`. Plain data, so that one thread can describe for another.
 */
export type Description = {
  kind: Kind;
  /** In a few words: `USDC transfer`. */
  title: string;
  /** The account that signed it, or a deposit's `from`; undefined if the bytes do not show it. */
  sender?: string;
  amount?: Amount;
  /** The accounts that take part, the sender first. */
  parties: Party[];
  /** Undefined for a type that is not described here. */
  deed?: Deed;
  /** What a failure means: `nothing moved`. */
  undone: string;
  /** A sentence about the effects that stay after a failure. */
  lasting?: Words;
  /** Sentences to show next to the description. */
  remarks: string[];
  /** All its members. */
  fields: Field[];
};

/** The remark about a call whose effects depend on code. */
export const CALL_ONLY = "Its bytes show the call, not what happened inside it.";

/** Describes a transaction of unknown meaning: its fields only. */
export function unknownTransaction(title: string, fields: Field[] = []): Description {
  return { kind: "unknown", title, parties: [], undone: "it had no effect", remarks: [], fields };
}

export function account(id: string): Words {
  return ["account ", { id }];
}

export function clause(past: string, bare: string, ...what: Words): Clause {
  return { past, bare, what };
}
