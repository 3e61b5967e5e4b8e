import { type KeyEntry, keyStatusOf } from "@attestd/proof";
import type { Fact } from "../src/file-facts.ts";
import { hostOf } from "../src/printable.ts";
import { basisSentence, contradictionOf, doubtSentence, type KeyList } from "../src/trust-basis.ts";
import { NO_KEY_LIST } from "../src/words.ts";
import { actions, h } from "./dom.ts";
import { chooseButton, factList, heading, saveKeysButton } from "./parts.ts";
import type { Site } from "./site.ts";

/** The view of the key list that this page judges by. */
export async function openKeysPage(site: Site, focus: boolean): Promise<void> {
  await site.keysReady;
  const { current } = site.keys;
  const title = heading("Trusted keys");
  const choose = chooseButton("Choose a key list", site.take);
  if (!current) return site.show([title, h("p", { class: "block" }, NO_KEY_LIST), actions(...choose)], focus);
  const found = contradictionOf(current, current.history.keys.at(-1)?.kid);
  site.show(
    [
      title,
      h("p", { class: "block" }, provenance(current)),
      found && h("p", { class: "notice", "data-tone": "caution" }, doubtSentence(found)),
      ...current.history.keys.toReversed().flatMap(entryView),
      h("h2", {}, "Keep it"),
      h("p", {}, "With a copy of this list, bundles can be checked when this site is gone."),
      actions(saveKeysButton(current), ...choose),
    ],
    focus,
  );
}

function provenance({ basis, history }: KeyList): string {
  const given = basis.basis === "file" ? " You gave it; it is trusted until you leave." : "";
  return `${basisSentence(basis)}${given} Ledger: ${history.ledger}.`;
}

function entryView(entry: KeyEntry): Node[] {
  const { untilRound, revokedRound, fromRound } = entry;
  const status = { current: "Current", retired: "Replaced", revoked: "Withdrawn" }[keyStatusOf(entry)];
  const facts: Fact[] = [
    { label: "Key", id: entry.kid },
    { label: "In notes as", id: entry.keySha256 },
    { label: "Account", id: entry.algorandAddress },
    { label: "Rounds", text: untilRound === undefined ? `from ${fromRound}` : `${fromRound} to ${untilRound - 1}` },
    ...(revokedRound === undefined ? [] : [{ label: "Withdrawn", text: `in round ${revokedRound}` }]),
    { label: "Origin", text: entry.origin },
  ];
  return [h("h2", {}, `${status} key of ${hostOf(entry.origin)}`), factList(facts)];
}
