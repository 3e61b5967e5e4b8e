import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PROGRAMS, run } from "../../docs/verify/programs.ts";
import { dropPaths } from "../web/browser.ts";
import { attestdProcess } from "./command.ts";

/** The names of the files of one bundle in a folder. */
export type OfflineFiles = { bundle: string; keys: string; evidence: string; checkpoint: string };

/** What one of them says; `isRecorded`: that the ledger's stake has signed for the record. */
export type Judgement = { judge: string; isRecorded: boolean; says: string };

/**
 * Has a bundle judged with its evidence, by everything that can: the command, the verifiers in JavaScript and Go, which share no
 * code with attestd, and the page. Nothing runs meanwhile: no service, no node, and the page has no network.
 *
 * @param page opened before everything was switched off; undefined: without the page
 * @returns of each what it says; Go and the page are left out where they cannot run
 */
export async function judgeOffline(folder: string, files: OfflineFiles, page: Page | undefined): Promise<Judgement[]> {
  const at = (name: string) => join(folder, name);
  const { bundle, keys, evidence, checkpoint } = files;
  const options = ["--keys", keys, "--evidence", evidence, "--checkpoint", checkpoint];
  const { code, stdout, stderr } = await attestdProcess(["verify", bundle, ...options], { cwd: folder });
  const judged = [
    { judge: "attestd verify", isRecorded: isGood(code, stdout, "ALGO signed for the round"), says: stdout + stderr },
  ];
  for (const language of ["JavaScript", "Go"]) {
    const program = await PROGRAMS[language]?.(folder);
    if (program === undefined || "missing" in program) continue;
    const args = ["--evidence", at(evidence), at(checkpoint), at(bundle), at(keys)];
    const ended = await run(program.command, [...program.args, ...args]);
    const isRecorded = isGood(ended.code, ended.stdout, "pass evidence.stateProof");
    judged.push({ judge: `docs/verify in ${language}`, isRecorded, says: ended.stdout + ended.stderr });
  }
  return page ? [...judged, await judgeByPage(folder, files, page)] : judged;
}

function isGood(code: number | null, output: string, sign: string): boolean {
  return code === 0 && output.includes(sign);
}

/** Drops the files on the page as a folder, as a reader would. */
async function judgeByPage(folder: string, files: OfflineFiles, page: Page): Promise<Judgement> {
  await page.context().setOffline(true);
  const given = join(folder, "for-the-page");
  await mkdir(given);
  for (const name of Object.values(files)) await cp(join(folder, name), join(given, name));
  await dropPaths(page, given);
  const says = await page.locator(".verdict[data-state]").textContent();
  return {
    judge: "the page in Chromium, offline",
    isRecorded: says?.includes("ALGO signed for its block") ?? false,
    says: says ?? "",
  };
}
