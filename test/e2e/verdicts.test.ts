import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BundleType, type KeyHistory, parseKeyHistory, type VerifyReport, verify } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CASES, type Case, HISTORIES, UNREADABLE } from "../../docs/verify/bundles.ts";
import { type AppOptions, createApp } from "../../packages/service/src/api/app.ts";
import { CATALOGUE } from "../../packages/service/src/catalogue/catalogue.ts";
import {
  createVerifier,
  type Verifier,
  type VerifierOptions,
} from "../../packages/service/src/verification/verifier.ts";
import { createVerificationPool } from "../../packages/service/src/verification/worker-pool.ts";
import { serve } from "../../packages/service/test/fakes/transport.ts";

/*
 * The library, the service and the command give the same verdicts on the same bundles. The page and the verifiers in
 * docs/verify, which share no code with ours, have their own tests with these bundles.
 */

const COMMAND = resolve(import.meta.dirname, "../../packages/attestd/src/main.ts");

/** The verdict on a bundle; of a malformed bundle only that it is malformed. */
type Verdict = Pick<Case, "name" | "failed" | "status" | "warnings"> & {
  receipt: Case["receipt"] | undefined;
  statement: Case["statement"] | undefined;
};

const right = ({ name, failed, status, warnings, receipt, statement }: Case): Verdict => ({
  name,
  failed,
  status,
  warnings,
  receipt,
  statement,
});

function verdict(name: string, { checks, attestor, warnings, receipt, statement }: VerifyReport): Verdict {
  const failed = (Object.keys(checks) as (keyof typeof checks)[]).filter((check) => checks[check] === "fail");
  return {
    name,
    failed,
    status: checks.schema === "fail" ? undefined : attestor.status,
    warnings,
    receipt: receipt?.status,
    statement: checks.note === "pass" ? statement : undefined,
  };
}

describe.each(Object.entries(HISTORIES))(
  "with the key history %s, the verdicts are right",
  (keys, history: KeyHistory) => {
    const cases = CASES.filter((one) => one.keys === keys);
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "attestd-verdicts-"));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test("by the library", () => {
      const trust = parseKeyHistory(history);
      const reports = cases.map(({ name, text }) => ({ name, report: verify(utf8(text), { trust }) }));
      expect(reports.map(({ name, report }) => verdict(name, report))).toEqual(cases.map(right));
      expect(reports.filter(({ report }) => report.verified).map(({ name }) => name)).toEqual(namesOfVerified(cases));
    });

    test("by the service, on the route of each kind", async () => {
      await using service = await verifyingService(history);
      const answers = await Promise.all(cases.map((one) => service.verify(one)));
      expect(answers.map(({ name, report }) => verdict(name, report))).toEqual(cases.map(right));
      expect(answers.filter(({ status }) => status === 200).map(({ name }) => name)).toEqual(namesOfVerified(cases));
      expect(new Set(answers.map(({ status }) => status))).toEqual(
        new Set(cases.map(isVerified).map((is) => (is ? 200 : 400))),
      );
    });

    test("by the command", async () => {
      const files = cases.map(({ text }, index) => {
        const file = join(folder, `${index}.json`);
        writeFileSync(file, text);
        return file;
      });
      const keysFile = join(folder, "keys.json");
      writeFileSync(keysFile, JSON.stringify(history));
      const { code, lines } = await command(["verify", ...files, "--keys", keysFile, "--json"], folder);
      expect(lines.map((line) => line.file)).toEqual(files);
      const verdicts = cases.map(({ name }, index) => ofCommand(name, lines[index] as CommandLine));
      expect(verdicts).toEqual(cases.map(right));
      expect(lines.flatMap(({ verified }, index) => (verified ? cases[index]?.name : []))).toEqual(
        namesOfVerified(cases),
      );
      expect(code).toBe(cases.every(isVerified) ? 0 : 1);
    });
  },
);

describe("a text that is not JSON is rejected", () => {
  test("by the library", () => {
    for (const { name, bytes } of UNREADABLE)
      expect(() => verify(bytes), name).toThrow(expect.objectContaining({ name: "ProofError", code: "json" }));
  });

  test("by the service", async () => {
    await using service = await verifyingService(HISTORIES.keys);
    const answers = await Promise.all(UNREADABLE.map(({ bytes }) => service.post("/verify", bytes)));
    const said = await Promise.all(
      answers.map(async (answer) => [answer.status, ((await answer.json()) as { code: string }).code]),
    );
    const right = UNREADABLE.map(({ bytes }) =>
      bytes.length > 2 ** 21 ? [413, "body_too_large"] : [400, "body_not_json"],
    );
    expect(said).toEqual(right);
  });

  test("by the command", async () => {
    const folder = mkdtempSync(join(tmpdir(), "attestd-verdicts-"));
    const files = UNREADABLE.map(({ bytes }, index) => {
      writeFileSync(join(folder, `${index}.json`), bytes);
      return join(folder, `${index}.json`);
    });
    writeFileSync(join(folder, "keys.json"), JSON.stringify(HISTORIES.keys));
    const { code, lines } = await command(["verify", ...files, "--keys", "keys.json", "--json"], folder);
    expect(lines.filter((line) => line.unreadable === undefined)).toEqual([]);
    expect(lines.map(({ file }) => file)).toEqual(files);
    expect(code).not.toBe(0);
    rmSync(folder, { recursive: true });
  });
});

const isVerified = ({ failed }: Case) => failed.length === 0;
const namesOfVerified = (cases: Case[]) => cases.filter(isVerified).map(({ name }) => name);

type CommandLine = VerifyReport & { file: string; unreadable?: string };

/** The command distinguishes a file without any part of a bundle from a malformed bundle. */
function ofCommand(name: string, line: CommandLine): Verdict {
  return line.unreadable === undefined
    ? verdict(name, line)
    : { name, failed: ["schema"], status: undefined, warnings: [], receipt: undefined, statement: undefined };
}

function command(args: string[], cwd: string): Promise<{ code: number; lines: CommandLine[] }> {
  return new Promise((done) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd, maxBuffer: 2 ** 24 }, (error, stdout) => {
      const lines = stdout.trim().split("\n");
      done({ code: typeof error?.code === "number" ? error.code : 0, lines: lines.map((line) => JSON.parse(line)) });
    });
  });
}

const ROUTES: Record<BundleType, string> = {
  "transaction-attestation": "/verify",
  "block-attestation": "/verify-block",
  "tx-inclusion": "/verify-tx-inclusion",
  "batch-item": "/verify",
};

/** The verify routes of a service whose own history is the given one, over HTTP. */
async function verifyingService(history: KeyHistory) {
  const pool = createVerificationPool(1, () => history);
  const verifier = createVerifier({
    pool,
    records: {} as VerifierOptions["records"],
    genesisHash: "",
  });
  const { verify: transactions, verifyBlock, verifyInclusion } = CATALOGUE;
  const app = createApp({
    catalogue: { transactions, verifyBlock, verifyInclusion },
    operations: {
      transactions: verifying(verifier, "transaction-attestation", "batch-item"),
      verifyBlock: verifying(verifier, "block-attestation"),
      verifyInclusion: verifying(verifier, "tx-inclusion"),
    },
    routes: [],
    origin: "https://attestd.example",
    log: pino({ level: "silent" }),
  } as unknown as AppOptions);
  const server = await serve(app);
  const headers = { "content-type": "application/json" };
  const post = (route: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`${server.url}${route}`, { method: "POST", headers, body });
  return {
    post,
    async verify({ name, text }: Case): Promise<{ name: string; status: number; report: VerifyReport }> {
      const response = await post(ROUTES[verify(utf8(text)).type], text);
      const body = (await response.json()) as VerifyReport & { report: VerifyReport };
      return { name, status: response.status, report: response.ok ? body : body.report };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await pool.close();
    },
  };
}

function verifying(verifier: Verifier, ...types: BundleType[]) {
  return { kind: "verify", verify: async (bundle: Uint8Array) => verifier.verify(bundle, types, { chain: false }) };
}
