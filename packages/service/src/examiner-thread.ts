import type { BundleType } from "@attestd/proof/bundle";
import { JsonError } from "@attestd/proof/json";
import type { KeyHistory } from "@attestd/proof/trust";
import { verify } from "@attestd/proof/verify";
import { serviceCrypto } from "./crypto.ts";
import type { Examined, ExaminerJob } from "./examiner.ts";
import { readMessage } from "./messages.ts";
import { answerJobs } from "./thread.ts";

const crypto = await serviceCrypto();
let trust: KeyHistory | undefined;

const JOBS: Record<ExaminerJob, (body: Uint8Array, how: never) => unknown> = { examine, readMessage };

answerJobs(
  (name, [body, how]) => JOBS[name as ExaminerJob](body as Uint8Array, how as never),
  (history) => {
    trust = history as KeyHistory;
  },
);

function examine(body: Uint8Array, type: BundleType): Examined {
  try {
    return { report: verify(body, { trust, crypto, type }) };
  } catch (error) {
    if (error instanceof JsonError) return { notJson: error.message };
    throw error;
  }
}
