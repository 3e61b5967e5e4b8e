import { parseArgs } from "node:util";
import { checkStateProof } from "../src/algorand/state-proof/index.ts";
import { authorisationItem } from "../src/evidence/authorisation.ts";
import { type Authorised, changesOf, faultsOf, recordedAuthorisations, signedMembers } from "./authorisations.ts";
import { mutations } from "./state-proof-mutations.ts";
import { mainnetProofs, type Proven, privateProofs } from "./state-proofs.ts";

/*
 * npm run mutate:state-proofs -- [--mainnet STEP]
 *
 * Changes every bit of a recorded state proof of a private network, of its message and of its checkpoint, and every STEP-th
 * bit of one of MainNet, one at a time, and verifies each; then every bit of what authorises recorded transactions, by ed25519,
 * of a rekeyed account, and by Falcon-1024. Exits with 1 if one is accepted. docs/measured/state-proofs.md
 * has the last result.
 */

const AUTHORISED = ["pay", "pay by rekeyed (sgnr)", "pay Falcon-1024 (pqsig)"];
const { values } = parseArgs({ options: { mainnet: { type: "string", default: "2003" } } });
const [small] = privateProofs() as [Proven];
const [large] = mainnetProofs("a state proof of MainNet") ?? [];
if (large === undefined) throw new Error("ATTESTD_VECTORS does not name the folder of large test vectors");

const step = Number(values.mainnet);
const accepted = [
  ...tried("private network, interval 16", small, () => 1),
  ...tried("MainNet, rounds 59,999,745 to 60,000,000", large, (part) => (part === "proof" ? step : 1)),
  ...Object.entries(recordedAuthorisations(AUTHORISED)).flatMap(([label, of]) => triedAuthorisation(label, of)),
];
for (const what of accepted) console.log(`accepted: ${what}`);
process.exitCode = accepted.length === 0 ? 0 : 1;

function triedAuthorisation(label: string, of: Authorised): string[] {
  const item = authorisationItem(signedMembers(of));
  if (item === undefined || faultsOf(item, of).length > 0) throw new Error(`${label} is not authorised as it stands`);
  const changes = [...changesOf(item, of, 1)];
  const wrong = changes.filter(({ item, changed }) => faultsOf(item, changed).length === 0);
  console.log(`authorisation, ${label}: ${changes.length} changes, ${wrong.length} accepted`);
  return wrong.map(({ what }) => `authorisation, ${label}: ${what}`);
}

function tried(name: string, proven: Proven, stepOf: (part: string) => number): string[] {
  const wrong: string[] = [];
  const faults = new Map<string, number>();
  let count = 0;
  for (const { what, changed } of mutations(proven, stepOf)) {
    const fault = checkStateProof(changed.stateProof, changed.message, changed.checkpoint);
    if (fault === undefined) wrong.push(`${name}: ${what}`);
    else faults.set(fault, (faults.get(fault) ?? 0) + 1);
    count++;
  }
  const found = [...faults].map(([fault, times]) => `${fault} ${times}`).join(", ");
  console.log(`${name}: ${count} changes, ${wrong.length} accepted (${found})`);
  return wrong;
}
