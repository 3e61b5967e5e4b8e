import { address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import algosdk from "algosdk";
import { describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { RAIL_SETTINGS } from "../payment/rails/registry.ts";
import { ownSettings, readConfig } from "./config.ts";

const GENESIS = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const SEED = "0".repeat(64);
const MNEMONIC = algosdk.mnemonicFromSeed(new Uint8Array(32));
const ADDRESS = algosdk.encodeAddress(new Uint8Array(32).fill(7));
/** Of EIP-55's own examples. */
const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const SOLANA = {
  SOLANA_RPC_URL: "https://solana.example",
  PAY_TO_SOLANA: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4",
  SOLANA_FACILITATOR_URL: "https://facilitator.example",
};

const MAINNET = {
  DATABASE_URL: "sqlite:/var/lib/attestd/journal.sqlite",
  ALGOD_URL: "https://algod.example",
  INDEXER_URL: "https://indexer.example",
  ATTESTOR_MNEMONIC: MNEMONIC,
  ATTESTOR_PQ_SEED: SEED,
  PAY_TO_ALGORAND: ADDRESS,
  FACILITATOR_URL: "https://facilitator.example",
};
const BASE = {
  BASE_RPC_URL: "https://base.example",
  PAY_TO_BASE: `0x${"1".repeat(40)}`,
  BASE_FACILITATOR_URL: "https://facilitator.example",
};

/** As @solana/kit derives it. */
async function usdcAccountOf(owner: string): Promise<string> {
  const programs = ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"];
  const seeds = [owner, ...programs].map((text) => getAddressEncoder().encode(address(text)));
  const programAddress = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
  return (await getProgramDerivedAddress({ programAddress, seeds }))[0];
}

const read = (env: Record<string, string>, sandbox = false) =>
  readConfig(env, { sandbox, rails: RAIL_SETTINGS, signs: true });

const sentence = (env: Record<string, string>, sandbox = false) => {
  try {
    read(env, sandbox);
    return "accepted";
  } catch (error) {
    expect(error).toEqual(serviceError("config_invalid"));
    return (error as Error).message;
  }
};

describe("the settings", () => {
  test("have the documented defaults", () => {
    expect(read(MAINNET)).toMatchObject({
      host: "127.0.0.1",
      port: 4020,
      trustProxy: false,
      database: { kind: "sqlite", path: "/var/lib/attestd/journal.sqlite" },
      maxTimeoutSeconds: 120,
      maxLifeSeconds: 3600,
      logLevel: "info",
      rails: {
        algorand: {
          payTo: ADDRESS,
          price: 1000n,
          facilitators: [{ url: "https://facilitator.example", auth: { kind: "none" } }],
        },
      },
    });
    expect(RAIL_SETTINGS.map((rail) => ownSettings(read(MAINNET), rail))).toEqual([
      { ALGORAND_MAX_FEE: 3000 },
      { BASE_MAX_SIGNATURE_GAS: 400_000, BASE_LOG_SPAN: 1_000 },
      { SOLANA_MAX_COMPUTE_UNITS: 50_000, SOLANA_MAX_COMPUTE_UNIT_PRICE: 100_000 },
    ]);
    expect(read(MAINNET).sources.base).toBeUndefined();
    expect(read({ ...MAINNET, ...BASE }).sources.base).toMatchObject({
      confirmation: "safe",
      blockConfirmation: "finalized",
    });
  });

  test("have one price, and another where a rail has its own", () => {
    const { rails } = read({
      ...MAINNET,
      ...BASE,
      ...SOLANA,
      PRICE_MICRO_USDC: "1500",
      PRICE_MICRO_USDC_BASE: "4000",
    });
    expect([rails.algorand?.price, rails.base?.price, rails.solana?.price]).toEqual([1500n, 4000n, 1500n]);
  });

  test("pair tokens with providers in their order", () => {
    const env = { ...MAINNET, ALGOD_URL: "https://a.example, https://b.example", ALGOD_TOKEN: "ta,tb" };
    expect(read(env).algorand.algod).toEqual([
      { url: "https://a.example", token: "ta" },
      { url: "https://b.example", token: "tb" },
    ]);
    expect(sentence({ ...env, ALGOD_TOKEN: "ta" })).toBe("ALGOD_TOKEN has 1 entries and ALGOD_URL has 2.");
  });

  test.each([
    [{ DATABASE_URL: "" }, "DATABASE_URL is not set"],
    [{ ALGOD_URL: "" }, "ALGOD_URL is not set."],
    [{ ALGOD_URL: "algod.example" }, "ALGOD_URL must be an http or https URL."],
    [{ ALGOD_URL: "https://a.example, HTTPS://A.example:443/" }, "ALGOD_URL names a node twice."],
    [{ INDEXER_URL: "https://a.example/i,https://a.example/i/" }, "INDEXER_URL names a node twice."],
    [{ BASE_RPC_URL: "https://b.example,https://b.example" }, "BASE_RPC_URL names a node twice."],
    [{ SOLANA_RPC_URL: "https://s.example,https://s.example" }, "SOLANA_RPC_URL names a node twice."],
    [{ PORT: "http" }, "PORT must be a whole number."],
    [{ PORT: "70000" }, "PORT must be at most 65535."],
    [{ PUBLIC_URL: "https://attestd.example/api" }, "PUBLIC_URL must be an origin, without a path."],
    [{ CONTACT: "operator@attestd.example" }, "CONTACT must be a mailto: or https: URI."],
    [{ ATTESTOR_PQ_SEED: "secret" }, "ATTESTOR_PQ_SEED must be 32 bytes in hex."],
    [{ ATTESTOR_MNEMONIC: "one two" }, "ATTESTOR_MNEMONIC must be 25 words."],
    [{ ATTESTOR_PQ_SEED_FILE: "/seed" }, "ATTESTOR_PQ_SEED and ATTESTOR_PQ_SEED_FILE are both set: keep one."],
    [{ ATTESTOR_PQ_SEED: "", ATTESTOR_PQ_SEED_FILE: "/no/such/file" }, "ATTESTOR_PQ_SEED_FILE cannot be read: ENOENT."],
    [{ ATTESTOR_SIGNER: "hsm" }, "ATTESTOR_SIGNER must be one of seed, socket, aws-kms, google-kms."],
    [{ ATTESTOR_SIGNER: "aws-kms", ATTESTOR_ACCOUNT_SIGNER: "seed" }, "ATTESTOR_KMS_KEY is not set."],
    [{ ATTESTOR_KMS_KEY: "alias/bundles" }, "ATTESTOR_KMS_KEY is set, and ATTESTOR_SIGNER=seed does not use it"],
    [{ ATTESTOR_KMS_KEY: "bundles" }, "ATTESTOR_KMS_KEY must be an id, alias or ARN of AWS KMS, or projects/"],
    [
      { ATTESTOR_SIGNER: "google-kms", ATTESTOR_KMS_KEY: "alias/bundles" },
      "ATTESTOR_KMS_KEY names a key as aws-kms does, and the signer is google-kms: correct one of the two.",
    ],
    [
      { ATTESTOR_GOOGLE_KMS_ENDPOINT: "https://cloudkms.example/v1" },
      "ATTESTOR_GOOGLE_KMS_ENDPOINT must be an origin, without a path",
    ],
    [{ ATTESTOR_SIGNER: "socket" }, "ATTESTOR_SIGNER_SOCKET is not set."],
    [
      { ATTESTOR_SIGNER: "socket", ATTESTOR_SIGNER_SOCKET: "/s", ATTESTOR_MNEMONIC: "" },
      "ATTESTOR_PQ_SEED is set, and ATTESTOR_SIGNER=socket does not use it: remove it, or choose another signer.",
    ],
    [{ ATTESTOR_SIGNER_SOCKET: "/s" }, "ATTESTOR_SIGNER_SOCKET is set, and ATTESTOR_SIGNER=seed does not use it"],
    [
      { ATTESTOR_ACCOUNT_SIGNER: "socket", ATTESTOR_MNEMONIC: "", ATTESTOR_SIGNER_SOCKET: "/s" },
      "ATTESTOR_SIGNER=seed and ATTESTOR_ACCOUNT_SIGNER=socket contradict each other: socket signs with both",
    ],
    [{ ATTESTOR_SIGNER_SOCKET: "signer.sock" }, "ATTESTOR_SIGNER_SOCKET must be the absolute path of a socket"],
    [{ PAY_TO_ETHEREUM: "0x" }, "PAY_TO_ETHEREUM is not a setting of attestd."],
    [{ FACILITATOR_TOKEN: "x" }, "FACILITATOR_TOKEN is not a setting of attestd."],
    [{ PAY_TO_BASE: BASE.PAY_TO_BASE }, "PAY_TO_BASE is set but BASE_FACILITATOR_URL is not."],
    [{ ...BASE, BASE_RPC_URL: "" }, "PAY_TO_BASE is set but BASE_RPC_URL is not."],
    [{ BASE_FACILITATOR_URL: "https://f.example" }, "BASE_FACILITATOR_URL is set but PAY_TO_BASE is not."],
    [{ BASE_FACILITATOR_KIND: "cdp" }, "BASE_FACILITATOR_KIND is set but PAY_TO_BASE is not."],
    [{ FACILITATOR_TOKENS: "x" }, "FACILITATOR_TOKENS is not a setting of attestd."],
    [{ PRICE_MICRO_USDC_BASE: "0" }, "PRICE_MICRO_USDC_BASE must be at least 1."],
    [{ PRICE_MICRO_USDC_MOON: "1" }, "PRICE_MICRO_USDC_MOON is not a setting of attestd."],
    // Of the last character's six bits only four are used.
    [{ ALGORAND_GENESIS_HASH: `${"A".repeat(42)}B=` }, "ALGORAND_GENESIS_HASH must be 32 bytes in base64."],
    [{ ALGORAND_GENESIS_HASH: GENESIS }, "another ledger starts only with --sandbox."],
    [{ SANDBOX_SOURCE_CHAINS: "algorand:x" }, "SANDBOX_SOURCE_CHAINS needs --sandbox."],
    [{ PROVIDER_QUORUM: "2" }, "PROVIDER_QUORUM is larger than the number"],
    [{ MAX_PAYMENT_LIFE_SECONDS: "3601" }, "MAX_PAYMENT_LIFE_SECONDS must be at most 3600."],
    [{ MAX_PAYMENT_LIFE_SECONDS: "179" }, "MAX_PAYMENT_LIFE_SECONDS must be at least 180, a minute more than"],
    [{ MAX_PAYMENT_LIFE: "180" }, "MAX_PAYMENT_LIFE is not a setting of attestd."],
    [{ ALGORAND_MAX_FEE: "1999" }, "ALGORAND_MAX_FEE must be at least 2000."],
    [{ SOLANA_MAX_COMPUTE_UNITS: "1400001" }, "SOLANA_MAX_COMPUTE_UNITS must be at most 1400000."],
    [{ BASE_CONFIRMATION: "latest" }, "BASE_CONFIRMATION must be one of included, safe, finalized."],
  ])("%j is refused in a sentence that names the setting", (over, message) => {
    expect(sentence({ ...MAINNET, ...over })).toContain(message);
  });

  test("are refused with all their faults at once, each by its name", () => {
    const wrong = { ...MAINNET, PORT: "http", CONTACT: "me", ALGOD_URL: "https://a.example,b,https://c.example,d" };
    const absent = { DATABASE_URL: "", FACILITATOR_URL: "", BASE_RPC_URL: "https://base.example" };
    const contradictory = { PROVIDER_QUORUM: "2", MAX_PAYMENT_LIFE_SECONDS: "100", SANDBOX_SOURCE_CHAINS: "x" };
    const unread = { ATTESTOR_MNEMONIC: "", ATTESTOR_MNEMONIC_FILE: "/no/such/file", BASE_FACILITATR_URL: "https://f" };
    expect(
      sentence({ ...wrong, ...absent, ...contradictory, ...unread })
        .split("\n")
        .sort(),
    ).toEqual([
      "ALGOD_URL, entry 2, must be an http or https URL.",
      "ALGOD_URL, entry 4, must be an http or https URL.",
      "ATTESTOR_MNEMONIC_FILE cannot be read: ENOENT.",
      "BASE_FACILITATR_URL is not a setting of attestd. Did you mean BASE_FACILITATOR_URL?",
      "CONTACT must be a mailto: or https: URI.",
      "DATABASE_URL is not set.",
      "FACILITATOR_URL is not set.",
      "MAX_PAYMENT_LIFE_SECONDS must be at least 180, a minute more than MAX_TIMEOUT_SECONDS.",
      "PORT must be a whole number.",
      "PROVIDER_QUORUM is larger than the number of ALGOD_URL or INDEXER_URL providers.",
      "SANDBOX_SOURCE_CHAINS needs --sandbox.",
    ]);
  });

  describe("of a process that does not sign", () => {
    const { ATTESTOR_MNEMONIC: _, ATTESTOR_PQ_SEED: __, ...keyless } = MAINNET;
    const attestorOf = (env: Record<string, string>) =>
      readConfig(env, { sandbox: false, rails: RAIL_SETTINGS }).attestor;

    test.each<[object, string[]]>([
      [{}, ["ATTESTOR_PQ_SEED is not set.", "ATTESTOR_MNEMONIC is not set."]],
      [{ ATTESTOR_SIGNER: "socket" }, ["ATTESTOR_SIGNER_SOCKET is not set."]],
      [
        { ATTESTOR_PQ_SEED_FILE: "/no/seed", ATTESTOR_FALCON_MNEMONIC_FILE: "/no/words" },
        ["ATTESTOR_FALCON_MNEMONIC_FILE cannot be read: ENOENT.", "ATTESTOR_PQ_SEED_FILE cannot be read: ENOENT."],
      ],
    ])("may lack the attestor's keys: %j", (over, faults) => {
      const none = { kind: "none", faults };
      expect(attestorOf({ ...keyless, ...over })).toEqual({ pq: none, account: none, address: undefined });
    });

    test("may lack one key and have the other", () => {
      const { pq, account } = attestorOf({ ...keyless, ATTESTOR_MNEMONIC: MNEMONIC });
      expect(pq).toEqual({ kind: "none", faults: ["ATTESTOR_PQ_SEED is not set."] });
      expect(account).toMatchObject({ kind: "seed", algorithm: "ed25519" });
    });

    test.each<[object, string]>([
      [{ ATTESTOR_PQ_SEED: "secret" }, "ATTESTOR_PQ_SEED must be 32 bytes in hex."],
      [{ ATTESTOR_SIGNER: "aws-kms", ATTESTOR_PQ_SEED: SEED }, "ATTESTOR_PQ_SEED is set, and ATTESTOR_SIGNER=aws-kms"],
      [{ OTEL_EXPORTER_OTLP_HEADERS_FILE: "/no" }, "OTEL_EXPORTER_OTLP_HEADERS_FILE cannot be read: ENOENT."],
    ])("are refused where they are wrong: %j", (over, message) => {
      expect(() => attestorOf({ ...keyless, ...over })).toThrow(message);
    });
  });

  test.each([
    ["FACILITATR_URL", "FACILITATOR_URL"],
    ["ALGOD_URLS", "ALGOD_URL"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["BASE_PAY_TO", "PAY_TO_BASE"],
    ["PAYTO_SOLANA", "PAY_TO_SOLANA"],
    ["log_level", "LOG_LEVEL"],
    ["ATTESTOR_PQSEED_FILE", "ATTESTOR_PQ_SEED_FILE"],
    ["LGO_LEVEL", "LOG_LEVEL"],
  ])("%s is refused, and %s suggested", (wrong, right) => {
    const env: Record<string, string> = { ...MAINNET, [wrong]: "x", [right]: "" };
    expect(sentence(env)).toContain(`${wrong} is not a setting of attestd. Did you mean ${right}?`);
  });

  test("variables of other programs are accepted, also with names like those of settings that are set", () => {
    const others = { HOME: "/root", PATH: "/bin", HOSTNAME: "h", PROT: "x", USER: "u", WORKER: "", DATABASE_URI: "x" };
    expect(sentence({ ...MAINNET, ...others })).toBe("accepted");
  });

  test.each<[object, string]>([
    [
      { FACILITATOR_URL: "https://user:pw@f.example" },
      "FACILITATOR_SECRET or FACILITATOR_SECRET_FILE holds what is secret.",
    ],
    [{ FACILITATOR_URL: "https://key@f.example" }, "FACILITATOR_URL is published, and must hold no credentials"],
    [{ FACILITATOR_URL: "https://f.example/?apikey=hunter2" }, "FACILITATOR_URL is published"],
    [{ FACILITATOR_URL: "https://f.example/x402?" }, "FACILITATOR_URL is published"],
    [{ FACILITATOR_URL: "https://f.example/#hunter2" }, "FACILITATOR_URL is published"],
    [
      { ...BASE, BASE_FACILITATOR_URL: "https://f.example/?k=hunter2" },
      "BASE_FACILITATOR_SECRET or BASE_FACILITATOR_SECRET_F",
    ],
    [
      { ...SOLANA, SOLANA_FACILITATOR_URL: "https://a:b@f.example" },
      "SOLANA_FACILITATOR_SECRET or SOLANA_FACILITATOR_S",
    ],
    [{ PUBLIC_URL: "https://user:hunter2@attestd.example" }, "PUBLIC_URL is published, and must hold no credentials."],
    [{ MCP_URL: "https://hunter2@attestd.example" }, "MCP_URL is published, and must hold no credentials."],
    [{ CONTACT: "https://user:hunter2@attestd.example/contact" }, "CONTACT is published"],
    [
      { FACILITATOR_KIND: "header", FACILITATOR_SECRET: "Bearer hunter2\nX-Other: b" },
      "FACILITATOR_SECRET for facilitator.example must be one line of ASCII.",
    ],
    [{ ALGOD_TOKEN: "hunter2\r\nb" }, "ALGOD_TOKEN must be one line of ASCII."],
  ])("%j would publish a secret, and is refused", (over, message) => {
    const refusal = sentence({ ...MAINNET, ...over });
    expect(refusal).toContain(message);
    expect(refusal).not.toContain("hunter2");
  });

  test.each<[object, string]>([
    [{ PAY_TO_ALGORAND: `B${ADDRESS.slice(1)}` }, "PAY_TO_ALGORAND has a wrong checksum: copy the address again."],
    [{ PAY_TO_ALGORAND: ADDRESS.slice(1) }, "PAY_TO_ALGORAND must be an Algorand address of 58 characters."],
    [{ PAY_TO_ALGORAND: algosdk.encodeAddress(new Uint8Array(32)) }, "PAY_TO_ALGORAND is the zero address"],
    [
      { ...BASE, PAY_TO_BASE: CHECKSUMMED.replace("aA", "AA") },
      "PAY_TO_BASE has a wrong checksum in its capitals (EIP-55)",
    ],
    [
      { ...BASE, PAY_TO_BASE: CHECKSUMMED.replace("eAed", "EAed") },
      "PAY_TO_BASE has a wrong checksum in its capitals (EIP-55)",
    ],
    [{ ...BASE, PAY_TO_BASE: `0x${"0".repeat(40)}` }, "PAY_TO_BASE is the zero address"],
    [
      { ...SOLANA, PAY_TO_SOLANA: `${SOLANA.PAY_TO_SOLANA}2` },
      "PAY_TO_SOLANA must be a Solana address: base58 of 32 bytes",
    ],
    [{ ...SOLANA, PAY_TO_SOLANA: "1".repeat(32) }, "PAY_TO_SOLANA is the zero address"],
    // The associated USDC account of the wallet.
    [
      { ...SOLANA, PAY_TO_SOLANA: "TOKEN_ACCOUNT" },
      "PAY_TO_SOLANA is not a wallet's: it belongs to a token account or a program",
    ],
  ])("%j cannot be paid, and is refused", async (over, message) => {
    const env = { ...MAINNET, ...over } as Record<string, string>;
    if (env.PAY_TO_SOLANA === "TOKEN_ACCOUNT") env.PAY_TO_SOLANA = await usdcAccountOf(SOLANA.PAY_TO_SOLANA);
    expect(sentence(env)).toContain(message);
  });

  test("right addresses are accepted in each of their spellings", () => {
    for (const PAY_TO_BASE of [CHECKSUMMED, CHECKSUMMED.toLowerCase()])
      expect(sentence({ ...MAINNET, ...BASE, ...SOLANA, PAY_TO_BASE })).toBe("accepted");
  });

  test("a sandbox needs its own ledger and a loopback host", () => {
    expect(sentence(MAINNET, true)).toContain("--sandbox needs ALGORAND_GENESIS_HASH");
    const sandbox = { ...MAINNET, ALGORAND_GENESIS_HASH: GENESIS };
    expect(sentence(sandbox, true)).toBe("accepted");
    expect(sentence({ ...sandbox, HOST: "0.0.0.0" }, true)).toContain("loopback HOST");
  });

  test("no sentence repeats a secret", () => {
    const secrets = {
      ATTESTOR_PQ_SEED: "hunter2hunter2",
      ATTESTOR_MNEMONIC: "hunter2 hunter2",
      ALGOD_TOKEN: "hunter2,x",
    };
    for (const [name, value] of Object.entries(secrets))
      expect(sentence({ ...MAINNET, [name]: value })).not.toContain("hunter2");
  });
});
