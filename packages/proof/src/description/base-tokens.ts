import { type Token, tokenAmount } from "./amounts.ts";
import type { TokenCall } from "./base-calls.ts";
import { isSame, type Meaning, type Message, named, party } from "./base-meaning.ts";
import { clause, type Words } from "./description.ts";

const UNLIMITED = 2n ** 256n - 1n;

/** What a call of a well-known token does. */
export function tokenMeaning(call: TokenCall, token: Token, { sender }: Message): Meaning {
  if (call.does === "approve") return approval(call, token, sender);
  const { to, units } = call;
  const amount = tokenAmount(units, token);
  const from = call.does === "transfer" ? sender : call.from;
  const isOwn = call.does === "transfer" || isSame(from, sender);
  const isMoved = call.does === "transferFrom" && !isOwn && !call.bySignature;
  const sent = clause("sent", "send", `${amount.text} to `, ...named(to, from));
  const moved = clause("moved", "move", `${amount.text} from `, ...named(from), " to ", ...named(to, sender));
  return {
    kind: "token_transfer",
    title: `${token.symbol} transfer`,
    amount,
    parties: [
      ...party("From", from),
      ...party("To", to),
      ...(isOwn ? [] : party(`${isMoved ? "Moved" : "Submitted"} by, who paid the network fee`, sender)),
    ],
    deed: {
      actor: named(isMoved ? sender : from),
      clauses: [isMoved ? moved : sent],
      ...(isOwn || isMoved ? {} : { after: submittedBy(sender) }),
    },
    undone: "nothing moved",
  };
}

function approval(
  call: Extract<TokenCall, { does: "approve" }>,
  token: Token,
  sender: Uint8Array | undefined,
): Meaning {
  const { spender, units } = call;
  const owner = call.owner ?? sender;
  const isOwn = call.owner === undefined || isSame(owner, sender);
  const isUnlimited = units === UNLIMITED;
  const exact = tokenAmount(units, token);
  const most = isUnlimited ? `an unlimited amount of ${token.symbol}` : `up to ${exact.text}`;
  const allowed = clause("allowed", "allow", ...named(spender), ` to spend ${most}`);
  const withdrawn = clause("withdrew", "withdraw", `the ${token.symbol} allowance of `, ...named(spender));
  const amount = isUnlimited ? { ...exact, text: `unlimited ${token.symbol}` } : exact;
  return {
    kind: "approval",
    title: `${token.symbol} approval`,
    amount,
    parties: [
      ...party("Owner", owner),
      ...party("May spend", spender),
      ...(isOwn ? [] : party("Submitted by, who paid the network fee", sender)),
    ],
    deed: {
      actor: named(owner),
      clauses: [units === 0n ? withdrawn : allowed],
      ...(isOwn ? {} : { after: submittedBy(sender) }),
    },
    undone: "nothing was approved",
  };
}

function submittedBy(sender: Uint8Array | undefined): Words {
  return [", submitted by ", ...named(sender), ", which paid the network fee"];
}
