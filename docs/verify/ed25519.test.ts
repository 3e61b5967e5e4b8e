import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAMS, run } from "./programs.ts";

/* The verifiers' own Ed25519, held to what go-algorand's consensus said of each signature. */

const VECTORS = join(import.meta.dirname, "../../packages/proof/test/recorded/ed25519.json");
const { vectors }: { vectors: { valid: boolean }[] } = JSON.parse(readFileSync(VECTORS, "utf8"));

/** Each prints 1 or 0 for each vector. */
const JAVASCRIPT = `
import { readFileSync } from "node:fs";
import { verifiesEd25519 } from "./javascript/ed25519.mjs";
const hex = (text) => Buffer.from(text, "hex");
for (const { publicKey, message, signature } of JSON.parse(readFileSync(process.argv[1], "utf8")).vectors)
  console.log(Number(verifiesEd25519(hex(publicKey), hex(message), hex(signature))));
`;
const PYTHON = `
import json, sys
sys.path.insert(0, "python")
from ed25519 import verifies
for one in json.load(open(sys.argv[1]))["vectors"]:
    print(int(verifies(*(bytes.fromhex(one[name]) for name in ("publicKey", "message", "signature")))))
`;
const GO = `package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestVectors(t *testing.T) {
	var file struct{ Vectors []struct{ PublicKey, Message, Signature string } }
	text, _ := os.ReadFile(os.Getenv("VECTORS"))
	_ = json.Unmarshal(text, &file)
	for _, one := range file.Vectors {
		key, _ := hex.DecodeString(one.PublicKey)
		message, _ := hex.DecodeString(one.Message)
		signature, _ := hex.DecodeString(one.Signature)
		verified := 0
		attempt(func() {
			if verifyEd25519(key, message, signature) {
				verified = 1
			}
		})
		fmt.Println(verified)
	}
}
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attestd-ed25519-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const RUN: Record<string, () => ReturnType<typeof run>> = {
  JavaScript: () => run(process.execPath, ["--input-type=module", "-e", JAVASCRIPT, VECTORS]),
  Python: () => run("python3", ["-c", PYTHON, VECTORS]),
  Go: () => {
    const copy = join(folder, "go");
    cpSync(join(import.meta.dirname, "go"), copy, { recursive: true });
    writeFileSync(join(copy, "vectors_test.go"), GO);
    return run("env", [`VECTORS=${VECTORS}`, "go", "test", "-count=1", "-v", "-run", "TestVectors", "."], copy);
  },
};

describe.each(Object.entries(PROGRAMS))("Ed25519 of the verifier in %s", (language, find) => {
  it("says of each signature what go-algorand's consensus says", async ({ skip }) => {
    const program = await find(folder);
    if ("missing" in program) {
      console.warn(`skipped: the verifier in ${language}: ${program.missing}`);
      return skip();
    }
    const { stdout, stderr } = (await RUN[language]?.()) ?? { stdout: "", stderr: "no such language" };
    const said = stdout.split("\n").filter((line) => /^[01]$/.test(line));
    expect(said, stderr).toEqual(vectors.map(({ valid }) => String(Number(valid))));
  });
});
