import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { revisionOf } from "./revision.ts";

test("the revision is what git says: of a branch, packed, of a work tree and of no branch", () => {
  const folder = mkdtempSync(join(tmpdir(), "attestd-revision-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    git("init");
    expect(revisionOf(folder)).toBeUndefined();
    git("commit", "--allow-empty", "-m", "one");
    expect(revisionOf(folder)).toBe(git("rev-parse", "HEAD"));
    git("pack-refs", "--all");
    expect(revisionOf(folder)).toBe(git("rev-parse", "HEAD"));
    git("worktree", "add", "-b", "other", join(folder, "tree"));
    expect(revisionOf(join(folder, "tree"))).toBe(git("rev-parse", "other"));
    git("checkout", "--detach");
    expect(revisionOf(folder)).toBe(git("rev-parse", "HEAD"));
    expect(revisionOf(join(folder, "absent"))).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
