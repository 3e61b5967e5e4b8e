/** Every sentence of the page about buying. */
export const BUY = {
  title: "Buy an attestation",
  intro:
    "An attestation records on Algorand that a transaction was on its chain. It is paid for each time, with USDC from a wallet of this browser: on Algorand, and for a Base transaction also on Base or Solana.",
  field: "Transaction",
  listTitle: "Buy many attestations",
  listIntro:
    "One payment for up to 1,000 transactions of both chains, each with a bundle of its own. All or nothing: if one of them can't be attested, you see which, and nothing is charged.",
  listField: "Transactions",
  listHint: "One id per line, or a table (CSV) with a column of ids.",
  list: "A list instead",
  single: "One transaction instead",
  chooseList: "Choose a file",
  notAList: (faults: readonly string[]) =>
    `That list can't be attested as it is: ${faults.join("; ")}. Nothing was paid.`,
  tooMany: (n: number, most: number) =>
    `These are ${n} transactions, and one payment is for at most ${most}. Paste a part of them; or use the command line, which divides a list. Nothing was paid.`,
  many: (n: number) => `${n.toLocaleString("en")} transactions`,
  itemsAtFault: (n: number, of: number) => `${n} of the ${of} can't be attested`,
  buyOthers: (n: number) => `See the price of the other ${n}`,
  fieldHint: "A Base hash, 0x and 64 characters, or an Algorand id, 52 capital letters and digits.",
  unreadableList: (why: string) => `This file can't be read as a list: ${why}.`,
  notAnId: "That is not a transaction id: 0x and 64 characters of 0–9 and a–f, or 52 of A–Z and 2–7.",
  asking: "Asking the price…",
  reviewTitle: "Review",
  notCharged: "Not charged if it can't be attested. If it failed on its chain, you are asked first.",
  signs: {
    base: (amount: string, until: string) =>
      `a permission to move exactly ${amount} USDC to that address before ${until}. Not an approval; nothing else can be taken.`,
    algorand: (amount: string, until: string) =>
      `your part of a transaction group: it moves exactly ${amount} USDC to that address, and is void from about ${until}. Nothing else can be taken.`,
    solana: (amount: string, until: string) =>
      `a transaction that moves exactly ${amount} USDC to that address, and is void from about ${until}. Nothing else can be taken.`,
  },
  fees: { sponsored: "No network fee.", own: "And the network's fee." },
  tooLittle: (have: string, rail: string, need: string) =>
    `You have ${have} USDC on ${rail}, and ${need} is needed. Nothing was paid.`,
  noAccount: {
    algorand: "This account has not opted in to USDC (asset 31566704), so it has none. Nothing was paid.",
    base: "This account has no USDC. Nothing was paid.",
    solana: "This account has no USDC on Solana. Nothing was paid.",
  },
  unknownBalance: "unknown",
  notConnected: "unknown: the wallet is not connected yet",
  loading: "Loading…",
  chooseTitle: "Pay with",
  chooseHint: "You see what is paid, and to whom, before the wallet opens.",
  siteHint: (name: string) => `${name} is a site that opens in a window of its own.`,
  noWallet: "No wallet was found in this browser. The command line can buy, too:",
  otherLedger:
    "This wallet doesn't know the ledger on which this site is paid. Choose another wallet, or use the command line:",
  altered: (why: string) =>
    `Your wallet changed the payment before it signed it, and so it was refused: ${why.replace(/\.$/, "")}.`,
  declined: "You declined. Nothing was paid.",
  otherChain: "The wallet is on another network than Base.",
  noBase: "The wallet doesn't know Base yet.",
  noNetwork: "The wallet doesn't know this network. Nothing was paid.",
  walletTrouble: (why: string) => `The wallet failed: ${why}. Nothing was paid.`,
  cantKeep:
    "This browser stores nothing for this page, perhaps because its window is private. A payment could be lost, so buying is off. Nothing was paid.",
  workingTitle: "Buying",
  continuing: "Continuing your paid call.",
  stillWorking: "Still working. Don't pay again.",
  doneTitle: "Bought and saved",
  notVerifiedTitle: "Bought, but not verified",
  notPaidTitle: "Not paid",
  notPaid: (why: string) => `The service refused the payment: ${why.replace(/\.$/, "")}.`,
  held: (until: string) =>
    `The payment that you signed can be taken until ${until}. It stays here, and no other is signed before.`,
  expired: "The payment that you signed can no longer be taken. If it was taken before, your wallet shows it.",
  dated: (clocks: string) => `${clocks}. The payment is dated by the service's.`,
  openTitle: "Paid, not finished",
  open: "The payment is kept here. Ask again; don't pay again.",
  refusedTitle: "Not attested",
  refused: "The service says that you were not charged.",
  failedTitle: "It failed on its chain",
  failed:
    "This transaction is in a block, and it failed: it moved nothing. The service says that you were not charged. That it failed can be attested, too, for the price that you signed.",
  attestFailure: "Attest that it failed",
  failedMany:
    "Some of these transactions are in a block, and failed: they moved nothing. The service says that you were not charged. That they failed can be attested, too, with the others, for the price that you signed.",
  attestFailures: "Attest them all",
  notPriced: (why: string) => `${why.replace(/\.$/, "")}. Nothing was paid.`,
  cantSell: "The service can't be reached now. Nothing was paid.",
  savedTitle: "Saved on this device",
} as const;

/** The steps of a purchase, in order, with their labels. */
const STEPS = {
  wallet: "Signed",
  paying: "Paying",
  paid: "Paid",
  recording: "Recording",
  recorded: "Recorded",
  checked: "Checked here",
  saved: "Saved",
} as const;
export type StepName = keyof typeof STEPS;

export type Step = {
  label: string;
  /** Id of the step's transaction. */
  id: string | undefined;
  state: "done" | "failed" | "now" | "todo";
};

/** @param now the current step; undefined when all are done. @param facts when all are done */
export function purchaseSteps(
  now: StepName | undefined,
  facts: { transaction?: string | undefined; round?: number; verified?: boolean } = {},
): Step[] {
  const names = Object.keys(STEPS) as StepName[];
  const reached = now === undefined ? names.length : names.indexOf(now);
  return names.map((name, index) => {
    const reachedAs = name === "checked" && facts.verified === false ? "failed" : "done";
    const inRound = name === "recorded" && facts.round !== undefined ? ` in round ${facts.round}` : "";
    return {
      label: `${STEPS[name]}${inRound}`,
      id: name === "paid" ? facts.transaction : undefined,
      state: index < reached ? reachedAs : index === reached ? "now" : "todo",
    };
  });
}

/** Returns the step that a problem's code (docs/problems.md) indicates; undefined for any other code, or none. */
export function stepOf(code: string | undefined): StepName | undefined {
  if (code === "attestation_pending") return "recording";
  return code === "settlement_pending" ? "paying" : undefined;
}
