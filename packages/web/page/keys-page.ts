import type { KeyEntry } from "@attestd/proof";
import type { Fact } from "../src/facts.ts";
import { hostOf, type KeyList } from "../src/verdict.ts";
import { SENTENCES } from "../src/words.ts";
import { h } from "./dom.ts";
import { factList, heading, saveKeysButton } from "./parts.ts";
import type { Site } from "./site.ts";

const TITLE = "Keys believed here";

/** The view of the key list by which this page judges. */
export async function openKeysPage(site: Site, focus: boolean): Promise<void> {
  await site.keysReady;
  const { current } = site.keys;
  site.show(
    [
      heading(TITLE),
      h("p", { class: "block" }, current ? provenance(current) : SENTENCES.noHistory),
      ...(current ? current.history.keys.toReversed().flatMap(entryView) : []),
      ...(current
        ? [
            h("h2", {}, "Keep it"),
            h("p", {}, "With a copy of this list, bundles can be checked when this site is gone."),
            h("p", { class: "actions" }, saveKeysButton(current)),
          ]
        : []),
    ],
    { title: TITLE, focus },
  );
}

function provenance({ from, since, history }: KeyList): string {
  const day = new Date(since).toISOString().slice(0, 10);
  const where = from === "file" ? "From a file that you gave, believed until you leave" : `From this site, on ${day}`;
  return `${where}. Ledger: ${history.ledger}.`;
}

function entryView(entry: KeyEntry): Node[] {
  const { untilRound, revokedRound, fromRound } = entry;
  const status = revokedRound !== undefined ? "Withdrawn" : untilRound !== undefined ? "Replaced" : "Current";
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
