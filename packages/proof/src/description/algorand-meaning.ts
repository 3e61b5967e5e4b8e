import { encodeAddress, getBytes, type MsgpackMap } from "../algorand/index.ts";
import { type Amount, account, type Clause, clause, type Deed, type Description, type Words } from "./description.ts";

const ZERO = new Uint8Array(32);

/** The parts of a description that a type of transaction decides. The first party after the sender comes first. */
export type Meaning = Pick<Description, "kind" | "title" | "amount"> &
  Partial<Pick<Description, "parties" | "remarks">> &
  Pick<Deed, "clauses">;

/** Describes what a transfer moves to its receiver and to the close-out account. */
export function moved(
  title: string,
  closeOut: string,
  transaction: MsgpackMap,
  amount: Amount,
  receiver: string,
  closed: Clause | undefined,
  rest: string | undefined,
): Omit<Meaning, "kind"> {
  const remainder = rest ? [{ role: "The rest goes to (close-out)", account: rest }] : [];
  // An amount of zero would hide what a close-out moves.
  if (closed && amount.units === "0") return { title: closeOut, parties: remainder, clauses: [closed] };
  const sent = clause("sent", "send", `${amount.text} to `, ...named(receiver, transaction));
  return {
    title: closed ? `${title} and close-out` : title,
    amount,
    parties: [{ role: "To", account: receiver }, ...remainder],
    clauses: closed ? [sent, closed] : [sent],
  };
}

/** The account, or `itself` for the sender. */
export function named(address: string, transaction: MsgpackMap): Words {
  return address === addressOf(transaction, "snd") ? ["itself"] : account(address);
}

/** Returns the address in a member; an absent member is the zero address. */
export function addressOf(map: MsgpackMap, member: string): string {
  return optionalAddress(map, member) ?? encodeAddress(ZERO);
}

export function optionalAddress(map: MsgpackMap, member: string): string | undefined {
  const bytes = getBytes(map, member, 32);
  return bytes && encodeAddress(bytes);
}
