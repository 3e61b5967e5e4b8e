// node verify.mjs [--evidence EVIDENCE CHECKPOINT] FILE... KEYS: says which checks each bundle, batch or receipt passes, and exits
// with 0 if all pass all, else with 1. EVIDENCE is of one bundle; CHECKPOINT is a file, or the root of a table in hex.
// KEYS is the file of a key history, or the kid of the one key that is believed. node verify.mjs - reads such arguments from
// standard input, a JSON list in each line, and says behind each what the exit code would be. docs/format.md as a program: it
// shares nothing with attestd but Node's hashes and, from npm, @noble/post-quantum and @noble/hashes.
import { readFileSync } from "node:fs";
import { attempt } from "./attempt.mjs";
import { itemsOf } from "./batch.mjs";
import { check } from "./checks.mjs";
import { chainOf } from "./form.mjs";
import { parse } from "./json.mjs";
import { judgeKey, keyId, MAINNET, readTrust } from "./keys.mjs";
import { outcome, stating } from "./note.mjs";
import { isReceipt, reportReceipt } from "./receipt.mjs";

/** Says what the evidence shows, and whether none of it is wrong. */
function reportEvidence({ checkEvidence, readCheckpoint }, [file, checkpoint], bundle, passed) {
  const { recorded, authorised, source, ...results } = checkEvidence(file, bundle, passed, readCheckpoint(checkpoint));
  for (const [name, result] of Object.entries(results)) console.log(result.replace("fail", "FAIL"), `evidence.${name}`);
  if (recorded) console.log("recorded", ...recorded);
  if (authorised) console.log("authorised", ...authorised);
  if (source) console.log("source", ...source);
  return !Object.values(results).includes("fail");
}

/** Says what is right and wrong with a bundle, and whether it verifies. */
function reportBundle(bundle, trust, evidence, stake) {
  const chain = chainOf(bundle);
  const signed = bundle?.batch ?? bundle;
  const results = { schema: chain !== undefined, ...(chain && check(bundle, chain, trust)) };
  for (const [name, passed] of Object.entries(results)) console.log(passed ? "pass" : "FAIL", name);
  if (chain && bundle.inclusion?.lightHeader) console.log("not_checked commitment");
  const status = bundle?.inclusion && results.inclusion && outcome(bundle);
  if (status) console.log("receipt", status);
  const stated = results.note && !bundle.block ? stating(bundle) : [];
  if (stated.length > 0) console.log("states", ...stated);
  if (chain) console.log("key", keyId(signed.attestor.pqPublicKey), judgeKey(signed, trust)[0]);
  const isRight = !chain || !evidence || reportEvidence(stake, evidence, bundle, results);
  const verified = Object.values(results).every(Boolean) && isRight;
  if (verified && trust.ledger !== MAINNET) console.log("warning sandbox");
  if (verified && (bundle.statement?.level === "included" || signed.attest.note.includes('"l":"included"')))
    console.log("warning included_only");
  if (verified && [status, stated[3]].includes("failed")) console.log("warning transaction_failed");
  console.log(verified ? `verified, stated as recorded on Algorand in round ${signed.attest.round}` : "not verified");
  return verified;
}

/** Says what is right and wrong with what a file holds, and whether all of it verifies. */
function report(file, trust, evidence, stake) {
  const bytes = readFileSync(file);
  const value = attempt(() => parse(bytes));
  const items = attempt(() => itemsOf(value ?? parse(bytes, 16 * 2 ** 20, 64_000)));
  if (items) return items.map((item, index) => reportAs(`${file} ${index}`, item)).every(Boolean);
  return reportAs(file, value);

  function reportAs(name, one) {
    console.log(name);
    const verified = isReceipt(one)
      ? attempt(() => reportReceipt(one, trust))
      : reportBundle(one, trust, evidence, stake);
    if (verified === undefined) console.log("FAIL schema\nnot verified");
    return verified === true;
  }
}

/** Judges what the arguments name. @returns the exit code */
async function run(files) {
  const evidence = files[0] === "--evidence" ? files.splice(0, 3).slice(1) : undefined;
  // Falcon and sumhash are loaded only where they are needed.
  const stake = evidence && (await import("./evidence.mjs"));
  const trust = readTrust(files.pop());
  return files.map((file) => report(file, trust, evidence, stake)).every(Boolean) && files.length > 0 ? 0 : 1;
}

const files = process.argv.slice(2);
if (files[0] !== "-") process.exitCode = await run(files);
else
  for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean))
    console.log("exit", await run(JSON.parse(line)).catch(() => 1));
