/** The steps of a purchase, in order. */
export const STEPS = ["wallet", "paying", "paid", "recording", "recorded", "checked", "saved"] as const;
export type StepName = (typeof STEPS)[number];

/** Known facts of a purchase that is in progress or done. */
export type PurchaseFacts = { transaction?: string; round?: number; verified?: boolean };

export type Step = {
  name: StepName;
  label: string;
  /** Id of the step's transaction. */
  id?: string;
  state: "done" | "failed" | "now" | "todo";
};

const LABELS: Readonly<Record<StepName, (state: Step["state"], facts: PurchaseFacts) => string>> = {
  wallet: (state) => (state === "done" ? "Signed" : "Waiting for wallet"),
  paying: () => "Paying",
  paid: () => "Paid",
  recording: () => "Recording",
  recorded: (_, { round }) => (round === undefined ? "Recorded" : `Recorded in round ${round}`),
  checked: () => "Checked here",
  saved: () => "Saved",
};

/** @param now the step in progress; undefined when all are done */
export function purchaseSteps(now: StepName | undefined, facts: PurchaseFacts = {}): Step[] {
  const reached = now === undefined ? STEPS.length : STEPS.indexOf(now);
  return STEPS.map((name, index) => {
    const { transaction, verified } = facts;
    const reachedAs = name === "checked" && verified === false ? "failed" : "done";
    const state = index < reached ? reachedAs : index === reached ? "now" : "todo";
    const id = name === "paid" && transaction !== undefined ? { id: transaction } : {};
    return { name, label: LABELS[name](state, facts), state, ...id };
  });
}

/**
 * The step of a purchase that a problem's code indicates; undefined for any other code.
 * @param code (docs/problems.md); undefined when no answer came
 */
export function stepOf(code: string | undefined): StepName | undefined {
  if (code === "attestation_pending") return "recording";
  return code === "settlement_pending" ? "paying" : undefined;
}
