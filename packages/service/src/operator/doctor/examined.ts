import type { Logger } from "pino";
import type { Examination, Finding } from "../../health/finding.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Nodes } from "../../networks/nodes.ts";

/** A deployment that is examined. */
export type Examined = Examination & {
  nodes: Nodes;
  /** The attestor's account. */
  ledger: Ledger;
  /** The id of the attestor's ML-DSA-65 key. */
  kid: string;
  log: Logger;
};

/** One subject's check. */
export type Check = (examined: Examined) => Promise<Finding[]>;
