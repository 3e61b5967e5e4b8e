import { chainNamed } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import type { Fact } from "../src/file-facts.ts";
import { printable } from "../src/printable.ts";
import { listed, type ServiceStatus } from "../src/service-status.ts";
import { recordedTime } from "../src/verdict.ts";
import { actions, button, type Child, h, verdictSection } from "./dom.ts";
import { fetchStatus } from "./frame.ts";
import { contactLink, factList, heading, type Row, rowList } from "./parts.ts";
import type { Site } from "./site.ts";

/** The view of what the service says of itself now. */
export async function openStatusPage(site: Site, focus: boolean): Promise<void> {
  const status = await fetchStatus();
  const again = button("Ask again", () => void openStatusPage(site, true));
  if (status) return site.show(statusView(status, again), focus);
  const why = "The service doesn't answer now. Files can still be checked, on this device. Nothing can be bought.";
  site.show(
    [verdictSection({ tone: "caution" }, heading("Not reachable", "⚠"), h("p", {}, why), actions(again))],
    focus,
  );
}

function statusView(status: ServiceStatus, again: Child): Child[] {
  const { networks, chains, ledger, attestor, version, reasons, origin, contact } = status;
  const isOpen = status.status === "pass";
  const tone = !isOpen || reasons.length > 0 ? "caution" : "passed";
  const title = !isOpen ? "Nothing is sold now" : reasons.length > 0 ? "Selling, with trouble" : "Selling";
  const rail = ({ network, priceUsdc, obstacle }: ServiceStatus["networks"][number]): Row => ({
    label: railLabel(network),
    value: [obstacle === undefined ? `${priceUsdc} USDC` : `${priceUsdc} USDC, not sold now: ${printable(obstacle)}`],
  });
  const key: Fact[] = [
    { label: "Key", id: attestor.kid },
    { label: "Account", id: attestor.algorandAddress },
    { label: "Since", text: `round ${attestor.fromRound}` },
  ];
  return [
    verdictSection(
      { tone },
      heading(title, tone === "passed" ? "✓" : "⚠"),
      ...reasons.map((reason) => h("p", {}, sentence(reason))),
      isOpen ? undefined : h("p", {}, "Checking files works meanwhile. Nobody is charged for what is not attested."),
      actions(again),
    ),
    h("h2", {}, "Paid on"),
    rowList(networks.map(rail)),
    h("h2", {}, "What is attested"),
    rowList(
      chains.map(({ chain, networks: able }) => ({
        label: chainNamed(chain)?.label ?? chain,
        value: [`transactions and blocks, paid on ${listed(able.map(railLabel))}`],
      })),
    ),
    h("h2", {}, "Ledger"),
    factList([
      { label: "Last round", text: `${ledger.round}, seen ${recordedTime({ recordedAt: ledger.seenAt })}` },
      { label: "Network", text: ledger.network },
    ]),
    h("h2", {}, "Current key"),
    factList(key),
    h("h2", {}, "Service"),
    rowList([
      { label: "Origin", value: [printable(origin)] },
      { label: "Contact", value: [contactLink(contact)] },
      { label: "Version", value: [printable(version)] },
    ]),
  ];
}

/** A reason of the service as a sentence. */
function sentence(reason: string): string {
  const text = printable(reason);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}
