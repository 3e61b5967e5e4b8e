import type { Clock } from "../../clock.ts";
import type { Nodes } from "../../networks/nodes.ts";
import { BASE_RAIL } from "../../payment/rails/base/kind.ts";
import { SOLANA_RAIL } from "../../payment/rails/solana/kind.ts";
import type { LedgerReading } from "../ledger.ts";
import type { Ask } from "../reading.ts";
import { algorandReader } from "./algorand.ts";
import { baseReader } from "./base.ts";
import type { PaymentReader } from "./rail.ts";
import { solanaReader } from "./solana.ts";

/** What readers are made of. */
export type Opened = { nodes: Nodes; ledger: LedgerReading; clock: Clock; ask: Ask };

/** Every rail's reader, enabled or not; undefined where no node of the rail is configured. */
export const READERS: readonly ((opened: Opened) => PaymentReader | undefined)[] = [
  ({ ledger }) => algorandReader(ledger),
  ({ nodes, ask }) => {
    const base = nodes.rail(BASE_RAIL);
    return base.rpcs.length > 0 ? baseReader(base, ask) : undefined;
  },
  ({ nodes, clock, ask }) => {
    const solana = nodes.rail(SOLANA_RAIL);
    return solana.rpcs.length > 0 ? solanaReader(solana, clock, ask) : undefined;
  },
];
