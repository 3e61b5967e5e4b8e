import { z } from "zod";
import { PROBLEMS, type ProblemCode } from "../../lib/problems.ts";
import { SafeInteger } from "./primitives.ts";
import { namedObject } from "./registry.ts";
import { VerifyReport } from "./reports.ts";

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

export const ProblemCodeSchema = z.enum(CODES).describe("Stable; each is explained at /problems/{code}.");

/** RFC 9457 problem details, with our own members. */
export const ProblemDocument = namedObject("Problem", "Why a request was not served (RFC 9457).", {
  type: z.url().describe("Where the code is explained."),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  code: ProblemCodeSchema,
  requestId: z.string().describe("Identifies the request in the service's log: quote it to the operator."),
  errors: z
    .array(z.strictObject({ pointer: z.string().describe("JSON pointer (RFC 6901)."), detail: z.string() }))
    .optional()
    .describe("Each member at fault."),
  items: z
    .array(z.strictObject({ index: SafeInteger.describe("Its place in the request."), code: z.enum(CODES) }))
    .optional()
    .describe("Every item of a batch that cannot be attested, and why; `code` is the code of the most serious one."),
  retry: z
    .strictObject({ sameHeader: z.literal(true) })
    .optional()
    .describe("Money may have moved: send the same PAYMENT-SIGNATURE again, and sign no new payment."),
  rootId: z.string().optional().describe("The transaction that contains the inner one."),
  height: SafeInteger.optional().describe("The height of the transaction's block."),
  check: z.enum(["chainSource", "chainAttest"]).optional().describe("Which record is missing."),
  report: VerifyReport.optional(),
});

export const ProblemExplanation = namedObject("ProblemExplanation", "The meaning of a problem's code.", {
  code: ProblemCodeSchema,
  status: z.int(),
  title: z.string(),
  advice: z.string().describe("What to do."),
});
