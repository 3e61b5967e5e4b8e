import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { secret as kept, settingsOf, type Table } from "../../test/settings.ts";
import { Facilitator, type FacilitatorSettings, facilitatorId, readFacilitators } from "./facilitators.ts";
import { SettingFaults } from "./faults.ts";
import { readSettings } from "./read.ts";

/** Reads tables of facilitators, each of the one rail unless it says otherwise. @returns them, or the faults as sentences */
function read(...own: Table[]): FacilitatorSettings[] | string[] {
  const faults = new SettingFaults();
  const tables = own.map((table) => ({ rails: ["moon"], ...table }));
  const schema = z.strictObject({ facilitators: z.array(Facilitator) });
  const { facilitators } = readSettings(schema, settingsOf({ facilitators: tables }), { faults, unread: () => faults });
  const enabled = new Map([
    ["moon", true],
    ["mars", false],
  ]);
  const byRail = readFacilitators(facilitators, tables, enabled, faults);
  return faults.sentences.length === 0 ? (byRail.get("moon") ?? []) : faults.sentences;
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

const CDP = { url: "https://cdp.example/x402", kind: "cdp", key_id: "key-1" };
const PAYAI = { url: "https://payai.example", kind: "payai", key_id: "key-2" };
const at = (host: string) => ({ url: `https://${host}.example` });

describe("facilitators of a rail", () => {
  test("are read in the order of the file, each with a secret of its own", async () => {
    expect(
      read(
        { ...at("a"), kind: "cdp", key_id: "k1", secret: kept(pkcs8()) },
        { ...at("b"), kind: "payai", key_id: "k2", secret: kept(await payaiSecret()) },
        { ...at("c"), kind: "header", secret: kept("Bearer abc, with a comma") },
        { ...at("d"), kind: "none" },
      ),
    ).toEqual([
      {
        url: "https://a.example",
        auth: { kind: "cdp", keyId: "k1", key: { algorithm: "ES256", key: expect.anything() } },
      },
      {
        url: "https://b.example",
        auth: { kind: "payai", keyId: "k2", key: { algorithm: "EdDSA", key: expect.anything() } },
      },
      { url: "https://c.example", auth: { kind: "header", value: "Bearer abc, with a comma" } },
      { url: "https://d.example", auth: { kind: "none" } },
    ]);
  });

  test("need no kind where none asks who we are", () => {
    expect(read(at("a"))).toEqual([{ url: "https://a.example", auth: { kind: "none" } }]);
  });

  test("are known by one spelling of their URLs, and none is named twice", () => {
    expect(["https://A.example/x402/", "https://a.example:443/x402"].map(facilitatorId)).toEqual(
      Array(2).fill("https://a.example/x402"),
    );
    expect(read(at("a"), { url: "https://A.example/" })).toEqual([
      "facilitators (entry 2).url is that of entry 1 too: name all its rails there, and remove this table.",
    ]);
  });

  test.each([
    [["pluto"], "must be some of moon, mars."],
    [["moon", "mars"], "names mars, but rails.mars.pay_to is not set."],
    [[], "must name a rail."],
  ])("settle rails that are enabled, and no others: %j", (rails, predicate) => {
    expect(read({ ...at("a"), rails })).toEqual([`facilitators (entry 1).rails ${predicate}`]);
  });

  test("take every form of a right secret", async () => {
    const [ed25519, payai, pem] = [await cdpSecret(), await payaiSecret(), pkcs8()];
    const secrets: [Table, string][] = [
      [CDP, ed25519],
      [CDP, pem],
      // As the JSON file has it that CDP's portal downloads.
      [CDP, pem.replaceAll("\n", "\\n")],
      [PAYAI, payai],
      [PAYAI, payai.replace("payai_sk_", "")],
    ];
    for (const [own, secret] of secrets)
      expect(read({ ...own, secret: kept(secret) })).toMatchObject([{ auth: { keyId: own.key_id } }]);
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
    const [fault = "accepted", ...more] = read({ ...own, secret: kept(secret) }).map(String);
    expect(fault).toContain("facilitators (entry 1).secret ");
    expect(fault).toContain(message);
    expect(more).toEqual([]);
    for (const part of secret.match(/[\w+/]{12,}/g) ?? []) expect(fault).not.toContain(part);
  });

  test.each<[Table, string]>([
    [CDP, "secret is not set, which kind cdp needs."],
    [{ ...CDP, key_id: "a b", secret: kept("x") }, "key_id must be ASCII without spaces."],
    [{ url: CDP.url, kind: "header" }, "secret is not set, which kind header needs."],
    [{ url: CDP.url, secret: kept("Bearer abc") }, "secret is not used by kind none: set the kind, or leave it out."],
    [{ url: CDP.url, key_id: "k" }, "key_id is not used by kind none: set the kind, or leave it out."],
    [{ ...CDP, kind: "jwt", secret: kept("x") }, "kind must be one of none, header, cdp, payai."],
    [{ url: CDP.url, kind: "header", secret: kept("a\nb") }, "secret must be one line of ASCII."],
    [{ ...CDP, secret: "file:/no/such/file" }, "secret names /no/such/file, which cannot be read: ENOENT."],
    [{ ...CDP, secret: "file:/dev/null" }, "secret names /dev/null, which cannot be read: It is a device, not a file."],
    [
      { ...CDP, secret: "hunter2" },
      'secret must not be written here: keep it in a file or a variable, and write "file:PATH" or "env:NAME".',
    ],
  ])("refuse %j", (own, sentence) => {
    expect(read(own)).toEqual([`facilitators (entry 1).${sentence}`]);
  });

  test("refuse a key without its id", async () => {
    const { key_id: _, ...unnamed } = CDP;
    expect(read({ ...unnamed, secret: kept(await cdpSecret()) })).toEqual([
      "facilitators (entry 1).key_id is not set, which kind cdp needs.",
    ]);
  });

  test("report every fault of every facilitator", () => {
    expect(read({ ...at("a"), kind: "cdp" }, { ...at("b"), kind: "payai" })).toHaveLength(4);
  });
});
