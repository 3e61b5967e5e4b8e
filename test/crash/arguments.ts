import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ACCOUNT_KEYS } from "./accounts.ts";
import { SUBJECTS } from "./subjects.ts";

export const USAGE = `npm run test:crash -- [matrix | failover | kms | signer | faults | evidence | replicas | flood | list | report] [options]
npm run soak -- [options]

  --results FILE   file of results (default: attestd-crash.jsonl in the folder for temporary files)
  --resume         keep the results in the file and run what is missing; else the command's results are replaced
  --times N        matrix, failover, kms, signer: runs of each cell, each with another subject (default 4)
  --subject NAME   matrix: buy this in every cell: ${SUBJECTS.join(", ")}
  --account KEY    matrix: the key of the attestor's account: ${ACCOUNT_KEYS.join(", ")}
  --only TEXT      matrix, failover, kms, signer, faults, evidence: run the cells whose title contains the text
  --jobs N         matrix, failover, kms, signer: cells at a time (default 6)
  --seed N         matrix, failover, signer, replicas, soak: seed of the random choices (default 1)
  --purchases N    replicas: purchases during the kills (default 500)
  --payments N     flood: authorizations on one small balance (default 5000)
  --minutes N      soak: duration (default 30)
  --dry            matrix: list the cells and run none`;

/** Minutes of a soak that is recorded. */
export const FULL_SOAK_MINUTES = 30;

/** The arguments of main.ts. */
export function argumentsOf() {
  return parseArgs({
    allowPositionals: true,
    options: {
      results: { type: "string", default: join(tmpdir(), "attestd-crash.jsonl") },
      resume: { type: "boolean", default: false },
      times: { type: "string", default: "4" },
      subject: { type: "string" },
      account: { type: "string" },
      only: { type: "string", default: "" },
      jobs: { type: "string", default: "6" },
      seed: { type: "string", default: "1" },
      purchases: { type: "string", default: "500" },
      payments: { type: "string", default: "5000" },
      minutes: { type: "string", default: String(FULL_SOAK_MINUTES) },
      dry: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
}
