import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSecretFile } from "../config/secret-file.ts";
import { readRegularFile } from "./regular-file.ts";

let folder: string;
const path = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-files-"));
  writeFileSync(path("file"), "12345");
  writeFileSync(path("empty"), "");
  writeFileSync(path("sparse"), "");
  truncateSync(path("sparse"), 2 ** 40);
  symlinkSync("file", path("link"));
  symlinkSync("/dev/zero", path("zero"));
  symlinkSync("pipe", path("link to a pipe"));
  execFileSync("mkfifo", [path("pipe")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const named = (name: string, maxBytes = 5) => readRegularFile(path(name), { maxBytes }).bytes.toString();
const found = (name: string, maxBytes = 5) => readRegularFile(path(name), { maxBytes, isFound: true }).bytes.toString();

test("a file is read to its last byte, and not one byte more than it may have", () => {
  expect([named("file"), found("file"), found("empty")]).toEqual(["12345", "12345", ""]);
  expect(() => named("file", 4)).toThrow("It has more than 4 bytes.");
  expect(() => found("sparse", 100)).toThrow(expect.objectContaining({ code: "TOO_LARGE", bytes: 2 ** 40 }));
});

test("a link that someone named leads to its file; one that was found is not followed", () => {
  expect(named("link")).toBe("12345");
  expect(() => found("link")).toThrow("It is a link, which is not followed here.");
});

test.runIf(process.platform === "linux")("a file whose size is said to be 0 is bounded, too", () => {
  expect(() => readRegularFile("/proc/self/maps", { maxBytes: 100 })).toThrow("It has more than 100 bytes.");
});

describe("what would never end is not opened", () => {
  test.each([
    ["pipe", "It is a named pipe, not a file."],
    ["link to a pipe", "It is a named pipe, not a file."],
    ["zero", "It is a device, not a file."],
    [".", "It is a folder."],
  ])("%s", (name, why) => {
    expect(() => named(name)).toThrow(expect.objectContaining({ code: "NOT_A_FILE", message: why }));
  });

  test("a socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path("socket"), resolve));
    expect(() => found("socket")).toThrow("It is a socket, not a file.");
    await new Promise((resolve) => server.close(resolve));
  });
});

test("a secret's file is one that can end", () => {
  expect(readSecretFile(path("link"))).toBe("12345");
  expect(() => readSecretFile(path("empty"))).toThrow("is empty");
  expect(() => readSecretFile(path("pipe"))).toThrow("cannot be read: It is a named pipe, not a file");
  expect(() => readSecretFile(path("sparse"))).toThrow("cannot be read: It has more than 65536 bytes");
});
