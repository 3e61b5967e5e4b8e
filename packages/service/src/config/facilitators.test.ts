import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type FacilitatorSettings, facilitatorId, facilitatorNames, readFacilitators } from "./facilitators.ts";
import { SettingFaults } from "./faults.ts";
import { readRail } from "./rails.ts";

const NAMES = facilitatorNames("F_FACILITATOR");
const RAIL = { name: "f", payTo: z.string(), own: z.object({}) };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "facilitators-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Names and values of a rail's settings without their prefix; the facilitators, or the faults as sentences. */
function read(own: Record<string, string>): FacilitatorSettings[] | string[] {
  const named = Object.entries(own).map(([name, value]) => [`F_FACILITATOR_${name}`, value]);
  const faults = new SettingFaults();
  const settings = readRail(RAIL, { PAY_TO_F: "us", ...Object.fromEntries(named) }, faults);
  return faults.sentences.length === 0 ? (settings?.facilitators ?? []) : faults.sentences;
}

const openssl = (...args: string[]) => execFileSync("openssl", args, { encoding: "utf8" });
const rawOf = (text = "") => Buffer.from(text, "base64url");
/** As CDP's portal gives an Ed25519 key: base64 of seed and public key. */
async function cdpSecret(): Promise<string> {
  const { d, x } = await exportJWK((await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })).privateKey);
  return Buffer.concat([rawOf(d), rawOf(x)]).toString("base64");
}
/** As PayAI's portal gives one. */
async function payaiSecret(): Promise<string> {
  const pem = await exportPKCS8((await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })).privateKey);
  return `payai_sk_${pem.replace(/-----[A-Z ]+-----|\s/g, "")}`;
}
const pkcs8 = () => openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256");

const CDP = { URL: "https://cdp.example/x402", KIND: "cdp", KEY_ID: "key-1" };
const PAYAI = { URL: "https://payai.example", KIND: "payai", KEY_ID: "key-2" };

describe("facilitators of a rail", () => {
  test("are read in their order, each with a secret of its own, from the setting or from a file", async () => {
    const file = join(folder, "cdp.pem");
    writeFileSync(file, pkcs8());
    const four = {
      URL: "https://a.example,https://b.example, https://c.example ,https://d.example",
      KIND: "cdp,payai,header,none",
      KEY_ID: "k1,k2,,",
      SECRET: `,${await payaiSecret()},Bearer abc,`,
      SECRET_FILE: `${file},,,`,
    };
    expect(read(four)).toEqual([
      {
        url: "https://a.example",
        auth: { kind: "cdp", keyId: "k1", key: { algorithm: "ES256", key: expect.anything() } },
      },
      {
        url: "https://b.example",
        auth: { kind: "payai", keyId: "k2", key: { algorithm: "EdDSA", key: expect.anything() } },
      },
      { url: "https://c.example", auth: { kind: "header", value: "Bearer abc" } },
      { url: "https://d.example", auth: { kind: "none" } },
    ]);
  });

  test("need no kind where none asks who we are", () => {
    expect(read({ URL: "https://a.example" })).toEqual([{ url: "https://a.example", auth: { kind: "none" } }]);
  });

  test("are known by one spelling of their URLs, and none is named twice", () => {
    expect(["https://A.example/x402/", "https://a.example:443/x402"].map(facilitatorId)).toEqual(
      Array(2).fill("https://a.example/x402"),
    );
    expect(read({ URL: "https://a.example,https://A.example/" })).toEqual([
      "F_FACILITATOR_URL names a facilitator twice.",
    ]);
  });

  test("take every form of a right secret", async () => {
    const [ed25519, payai, pem] = [await cdpSecret(), await payaiSecret(), pkcs8()];
    const secrets = [
      { ...CDP, SECRET: ed25519 },
      { ...CDP, SECRET: pem },
      // As the JSON file has it that CDP's portal downloads.
      { ...CDP, SECRET: pem.replaceAll("\n", "\\n") },
      { ...PAYAI, SECRET: payai },
      { ...PAYAI, SECRET: payai.replace("payai_sk_", "") },
    ];
    for (const own of secrets) expect(read(own)).toMatchObject([{ auth: { keyId: own.KEY_ID } }]);
  });

  const SEC1 = () => openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout");
  const flipped = (secret: string, at: number) => {
    const bytes = Buffer.from(secret, "base64");
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes.toString("base64");
  };
  test.each<[string, object, () => string | Promise<string>, string]>([
    ["SEC1", CDP, SEC1, 'is a SEC1 key ("BEGIN EC PRIVATE KEY"): convert it to PKCS#8 with openssl pkcs8 -topk8'],
    [
      "P-384",
      CDP,
      () => openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"),
      "PEM of a P-256 key",
    ],
    [
      "RSA",
      CDP,
      () =>
        generateKeyPairSync("rsa", {
          modulusLength: 1024,
          privateKeyEncoding: { type: "pkcs8", format: "pem" },
          publicKeyEncoding: { type: "spki", format: "pem" },
        }).privateKey,
      "PEM of a P-256 key",
    ],
    [
      "a public key",
      CDP,
      () =>
        generateKeyPairSync("ec", {
          namedCurve: "P-256",
          privateKeyEncoding: { type: "pkcs8", format: "pem" },
          publicKeyEncoding: { type: "spki", format: "pem" },
        }).publicKey,
      "PEM of a P-256 key",
    ],
    [
      "an encrypted key",
      CDP,
      () => openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:x"),
      "is encrypted",
    ],
    ["half a PEM", CDP, () => pkcs8().slice(0, 90), "must be a whole PKCS#8 PEM"],
    ["the seed alone", CDP, async () => `${(await cdpSecret()).slice(0, 43)}=`, "must be base64 of 64 bytes"],
    ["PayAI's key", CDP, payaiSecret, "must be base64 of 64 bytes"],
    ["another public key", CDP, async () => flipped(await cdpSecret(), 63), "a public key that is not of its seed"],
    ["another seed", CDP, async () => flipped(await cdpSecret(), 0), "a public key that is not of its seed"],
    ["base64url", CDP, async () => `-_${(await cdpSecret()).slice(2)}`, "must be base64 of 64 bytes"],
    ["CDP's key", PAYAI, cdpSecret, "must be base64 of the PKCS#8 DER of an Ed25519 key"],
    ["a P-256 key", PAYAI, () => pkcs8().replace(/-----[A-Z ]+-----|\s/g, ""), "of an Ed25519 key"],
    ["nothing but the prefix", PAYAI, () => "payai_sk_", "of an Ed25519 key"],
  ])("refuse %s as a secret in a sentence without any of it", async (_, own, make, message) => {
    const secret = await make();
    const host = new URL((own as typeof CDP).URL).host;
    const [fault = "accepted", ...more] = read({ ...own, SECRET: secret }).map(String);
    expect(fault).toContain(`F_FACILITATOR_SECRET for ${host} `);
    expect(fault).toContain(message);
    expect(more).toEqual([]);
    for (const part of secret.match(/[\w+/]{12,}/g) ?? []) expect(fault).not.toContain(part);
  });

  test.each<[Record<string, string>, string]>([
    [{ ...CDP }, "F_FACILITATOR_SECRET for cdp.example is not set, which kind cdp needs."],
    [{ ...CDP, KEY_ID: "a b", SECRET: "x" }, "F_FACILITATOR_KEY_ID must be ASCII without spaces."],
    [{ URL: CDP.URL, KIND: "header" }, "F_FACILITATOR_SECRET for cdp.example is not set, which kind header needs."],
    [
      { URL: CDP.URL, SECRET: "Bearer abc" },
      "F_FACILITATOR_SECRET for cdp.example is not used by kind none: set the kind, or leave it out.",
    ],
    [
      { URL: CDP.URL, KEY_ID: "k" },
      "F_FACILITATOR_KEY_ID for cdp.example is not used by kind none: set the kind, or leave it out.",
    ],
    [{ ...CDP, KIND: "jwt" }, "F_FACILITATOR_KIND must be one of none, header, cdp, payai."],
    [{ ...CDP, KIND: "cdp,none" }, "F_FACILITATOR_KIND has 2 entries and F_FACILITATOR_URL has 1."],
    [
      { URL: CDP.URL, KIND: "header", SECRET: "a,b" },
      "F_FACILITATOR_SECRET has 2 entries and F_FACILITATOR_URL has 1: a secret with a comma belongs in F_FACILITATOR_SECRET_FILE.",
    ],
    [{ ...CDP, SECRET_FILE: "/no/such/file" }, "F_FACILITATOR_SECRET_FILE cannot be read: ENOENT."],
    [
      { ...CDP, SECRET: "x", SECRET_FILE: "/dev/null" },
      "F_FACILITATOR_SECRET_FILE cannot be read: It is a device, not a file.",
    ],
  ])("refuse %j", (own, sentence) => {
    expect(read(own)).toEqual([sentence]);
  });

  test("refuse a key without its id, and a secret in two places", async () => {
    const secret = await cdpSecret();
    const { KEY_ID: _, ...unnamed } = CDP;
    expect(read({ ...unnamed, SECRET: secret })).toEqual([
      "F_FACILITATOR_KEY_ID for cdp.example is not set, which kind cdp needs.",
    ]);
    const file = join(folder, "secret");
    writeFileSync(file, `${secret}\n`);
    expect(read({ ...CDP, SECRET_FILE: file })).toMatchObject([{ auth: { kind: "cdp" } }]);
    expect(read({ ...CDP, SECRET: secret, SECRET_FILE: file })).toEqual([
      "F_FACILITATOR_SECRET_FILE and F_FACILITATOR_SECRET are both set for cdp.example: keep one.",
    ]);
  });

  test("report every fault of every facilitator", () => {
    const faults: string[] = [];
    const values = { [NAMES.url]: ["https://a.example", "https://b.example"], [NAMES.kind]: ["cdp", "payai"] };
    expect(readFacilitators(NAMES, values, (setting, message) => faults.push(`${setting} ${message}`))).toEqual([]);
    expect(faults).toHaveLength(2);
  });
});
