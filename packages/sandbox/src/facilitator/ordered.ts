import { type FacilitatorKind, settles } from "./dialect.ts";
import { type Facilitator, type FacilitatorOptions, type RailRegistration, startFacilitator } from "./server.ts";

/** A rail of the sandbox. */
export interface SandboxRail {
  /** CAIP-2. */
  network: string;
  /** Registrations with separate keys, one for each facilitator that the rail may have. */
  registrations: readonly RailRegistration[];
}

export interface OrderedOptions extends Omit<FacilitatorOptions, "rails" | "kind"> {
  /** In order of preference. */
  kinds: readonly FacilitatorKind[];
  rails: readonly SandboxRail[];
}

/**
 * Starts facilitators, each for every rail that it settles, and a stock one for the rails that none of them settles.
 * Only the first has the port and the behaviour.
 * @returns the facilitators of each rail, in order of preference
 * @throws {Error} when one does not start; the others are stopped again
 */
export async function startFacilitators(options: OrderedOptions) {
  const { kinds, rails, port, behaviour, ...others } = options;
  await using starting = new AsyncDisposableStack();
  const started = new Map(rails.map((rail): [SandboxRail, Facilitator[]] => [rail, []]));
  let first: { port?: number | undefined; behaviour?: string | undefined } | undefined = { port, behaviour };
  const start = async (kind: FacilitatorKind, settled: readonly SandboxRail[]) => {
    if (settled.length === 0) return;
    const registrations = settled.map((rail) => registrationOf(rail, started.get(rail)?.length ?? 0));
    const facilitator = await startFacilitator({ ...others, ...first, kind, rails: registrations });
    first = undefined;
    starting.defer(facilitator.close);
    for (const rail of settled) started.get(rail)?.push(facilitator);
  };
  const settledBy = (kind: FacilitatorKind) => rails.filter(({ network }) => settles(kind, network));
  for (const kind of kinds) await start(kind, settledBy(kind));
  const left = rails.filter((rail) => started.get(rail)?.length === 0);
  await start("stock", left);
  const running = starting.move();
  return {
    of: (rail: SandboxRail): readonly Facilitator[] => started.get(rail) ?? [],
    close: () => running.disposeAsync(),
  };
}

function registrationOf({ network, registrations }: SandboxRail, place: number): RailRegistration {
  const registration = registrations[place];
  if (registration === undefined) throw new Error(`${network} has keys for ${registrations.length} facilitators only`);
  return registration;
}
