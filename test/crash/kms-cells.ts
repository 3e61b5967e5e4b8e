import type { Fault } from "../../packages/service/test/fakes/kms/keys.ts";
import type { JournalKind } from "./databases.ts";
import { PROVIDERS, type Provider } from "./kms-server.ts";

/** The signatures of a purchase, in their order. */
export const SIGNATURES = ["attestation", "bundle", "receipt"] as const;

/** What befalls the KMS, or the service that waits for it, during a purchase. */
type Conduct = {
  story: string;
  /** How the first requests to sign of the purchase are answered. */
  faults?: readonly Fault[];
  /** The signature at which a process is killed. */
  at?: (typeof SIGNATURES)[number];
  killed?: "service" | "kms";
  /** How long the KMS takes for each signature, in ms. */
  slowMs?: number;
  /** Whether both keys are disabled when the first signature is asked for, until the service says that it sells nothing. */
  isDisabled?: true;
};

const KILLS = Object.fromEntries(
  (["service", "kms"] as const).flatMap((killed) =>
    SIGNATURES.map((at): [string, Conduct] => [
      `${killed} killed, ${at}`,
      { story: `the ${killed} is killed while it signs the ${at}`, at, killed },
    ]),
  ),
);

export const KMS_CONDUCTS: Readonly<Record<string, Conduct>> = {
  throttled: { story: "it answers three requests that it is asked too often", faults: Array(3).fill("throttled") },
  silent: { story: "it leaves one request without an answer", faults: ["silent"] },
  slow: { story: "it takes four seconds for each signature, and is right", slowMs: 4_000 },
  "wrong signature": {
    story: "one bit of each of the first two signatures is another",
    faults: ["flipped", "flipped"],
  },
  "wrong key": { story: "the first two signatures are by another key", faults: ["other-key", "other-key"] },
  disabled: {
    story: "both keys are disabled while it signs, until the service says that it sells nothing",
    isDisabled: true,
  },
  ...KILLS,
};

export type KmsCell = { provider: Provider; conduct: string };
export type KmsRun = KmsCell & { journal: JournalKind };

export const KMS_CELLS: readonly KmsCell[] = Object.keys(KMS_CONDUCTS).flatMap((conduct) =>
  PROVIDERS.map((provider) => ({ provider, conduct })),
);

/** Of every test run: test/e2e/kms.test.ts tests the rest of what takes no kill. */
export const KMS_SAMPLE: readonly KmsCell[] = [{ provider: "aws", conduct: "service killed, bundle" }];

/** All cells, `times` times; the journal changes from cell to cell and from time to time. */
export function kmsRuns(cells: readonly KmsCell[], times: number): KmsRun[] {
  return Array.from({ length: times }, (_, time) =>
    cells.map(
      (cell, i): KmsRun => ({ ...cell, journal: (Math.floor(i / 2) + time) % 2 === 0 ? "sqlite" : "postgres" }),
    ),
  ).flat();
}

/** `disabled · google`. */
export function kmsTitle({ conduct, provider }: KmsCell): string {
  return `${conduct} · ${provider}`;
}
