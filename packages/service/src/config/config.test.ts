import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import algosdk from "algosdk";
import { afterAll, describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { facilitatorsAt, merged, secret, settingsOf, type Table } from "../../test/settings.ts";
import { ownTables } from "../payment/rails/registry.ts";
import { ownSettings, readConfig } from "./config.ts";
import { describedSettings, settingsFile, settingsInForce } from "./print.ts";
import { readSettingsFile } from "./settings-file.ts";

const GENESIS = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const SEED = "0".repeat(64);
const MNEMONIC = algosdk.mnemonicFromSeed(new Uint8Array(32));
const ADDRESS = algosdk.encodeAddress(new Uint8Array(32).fill(7));
/** Of EIP-55's own examples. */
const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const WALLET = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
const FACILITATOR = "https://facilitator.example";

const MAINNET: Table = {
  journal: { url: "sqlite:/var/lib/attestd/journal.sqlite" },
  attestor: { mnemonic: secret(MNEMONIC), pq_seed: secret(SEED) },
  chains: { algorand: { algod: ["https://algod.example"], indexer: ["https://indexer.example"] } },
  rails: { algorand: { pay_to: ADDRESS } },
  facilitators: facilitatorsAt({ algorand: FACILITATOR }),
};
const ALL = merged(MAINNET, {
  chains: { base: { rpc: ["https://base.example"] }, solana: { rpc: ["https://solana.example"] } },
  rails: { base: { pay_to: `0x${"1".repeat(40)}` }, solana: { pay_to: WALLET } },
  facilitators: facilitatorsAt({ algorand: FACILITATOR, base: FACILITATOR, solana: FACILITATOR }),
});
const OWN = ownTables();

const folder = mkdtempSync(join(tmpdir(), "attestd-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** As @solana/kit derives it. */
async function usdcAccountOf(owner: string): Promise<string> {
  const programs = ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"];
  const seeds = [owner, ...programs].map((text) => getAddressEncoder().encode(address(text)));
  const programAddress = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
  return (await getProgramDerivedAddress({ programAddress, seeds }))[0];
}

type Variables = Record<string, string>;
const read = (tables: Table, sandbox = false, variables: Variables = {}) =>
  readConfig(settingsOf(tables, variables), { sandbox, own: OWN, signs: true });

/** What a reading says: the faults, a sentence a line. */
const said = (reading: () => unknown) => {
  try {
    reading();
    return "accepted";
  } catch (error) {
    expect(error).toEqual(serviceError("config_invalid"));
    return (error as Error).message;
  }
};
const sentence = (over: Table, sandbox = false, variables: Variables = {}) =>
  said(() => read(merged(MAINNET, over), sandbox, variables));
const attestor = (over: Table) => ({ attestor: over });
const algorand = (over: Table) => ({ chains: { algorand: over } });
const payTo = (rail: string, pay_to: string) => ({ ...ALL, rails: { ...(ALL.rails as Table), [rail]: { pay_to } } });

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
        algorand: { payTo: ADDRESS, price: 1000n, facilitators: [{ url: FACILITATOR, auth: { kind: "none" } }] },
      },
    });
    expect(OWN.rails.map((rail) => ownSettings(read(MAINNET), rail))).toMatchObject([
      { max_fee: 3000 },
      { max_signature_gas: 400_000 },
      { max_compute_units: 50_000, max_compute_unit_price: 100_000 },
    ]);
    const defaults = { transaction_level: "safe", block_level: "finalized", log_span: 1_000 };
    expect(OWN.chains.map((chain) => ownSettings(read(MAINNET), chain))).toMatchObject([defaults, {}]);
  });

  test("have one price, and another where a rail has its own", () => {
    const over = { prices: { call_micro_usdc: 1500 }, rails: { base: { price_micro_usdc: 4000 } } };
    const { rails } = read(merged(ALL, over));
    expect([rails.algorand?.price, rails.base?.price, rails.solana?.price]).toEqual([1500n, 4000n, 1500n]);
  });

  test("give each node its token, and take a node without one as a text", () => {
    const algod = ["https://a.example", { url: "https://b.example", token: "env:TOKEN" }];
    const { algorand: nodes } = read(merged(MAINNET, algorand({ algod })), false, { TOKEN: "tb" });
    expect(nodes.algod).toEqual([{ url: "https://a.example" }, { url: "https://b.example", token: "tb" }]);
  });

  test("have PORT of the environment instead of the port, where it is set", () => {
    expect(read({ ...MAINNET, port: 1 }, false, { PORT: "8080" }).port).toBe(8080);
    expect(read({ ...MAINNET, port: 1 }, false, { PORT: "" }).port).toBe(1);
    expect(sentence({}, false, { PORT: "http" })).toBe("port must be a number, without quotation marks.");
    expect(sentence({}, false, { PORT: "70000" })).toBe("port must be at most 65535.");
  });

  test("have OpenTelemetry's variables of the environment, and no other variable", () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example" };
    expect(read(MAINNET, false, { ...endpoint, DATABASE_URL: "x", OTEL_LOG_LEVEL: "debug" }).tracing).toMatchObject({
      endpoint: "https://otel.example",
      serviceName: "attestd",
      sampler: { name: "always_on", ratio: 1 },
    });
    expect(read(MAINNET).tracing).toBeUndefined();
    expect(sentence({}, false, { OTEL_TRACES_SAMPLER: "parentbased" })).toContain("OTEL_TRACES_SAMPLER must be one of");
    expect(sentence({}, false, { OTEL_TRACES_SAMPLR: "x" })).toBe(
      "OTEL_TRACES_SAMPLR is not read by attestd. Did you mean OTEL_TRACES_SAMPLER?",
    );
  });

  test.each<[Table, string]>([
    [{ journal: undefined }, "journal.url is not set."],
    [algorand({ algod: undefined }), "chains.algorand.algod is not set."],
    [algorand({ algod: [] }), "chains.algorand.algod must name a node."],
    [algorand({ algod: "https://a.example" }), "chains.algorand.algod must be a list, in brackets."],
    [algorand({ algod: ["a.example"] }), "chains.algorand.algod (entry 1) must be an http or https URL"],
    [algorand({ algod: [{ url: "a.example" }] }), "chains.algorand.algod (entry 1).url must be an http or https URL"],
    [algorand({ algod: ["https://a.example", "HTTPS://A.example:443/"] }), "chains.algorand.algod names a node twice."],
    [algorand({ indexer: [{ url: "https://a.example", key: "x" }] }), "chains.algorand.indexer (entry 1).key is not a"],
    [{ chains: { base: { rpc: ["https://b.example", "https://b.example"] } } }, "chains.base.rpc names a node twice."],
    [{ chains: { solana: { rpc: ["https://s.example", "https://s.example/"] } } }, "chains.solana.rpc names a node tw"],
    [{ port: "4020" }, "port must be a number, without quotation marks."],
    [{ port: 4020.5 }, "port must be a whole number."],
    [{ port: Number.NaN }, "port must be a number, without quotation marks."],
    [{ port: new Date(0) }, "port must be a number, without quotation marks."],
    [{ port: 70_000 }, "port must be at most 65535."],
    [{ host: 127 }, "host must be a text, in quotation marks."],
    [{ host: "" }, "host is empty: fill it in, or remove it."],
    [{ host: secret("::1") }, "host is no secret: write its value here, without file: or env:."],
    [{ trust_proxy: 1 }, "trust_proxy must be true or false, without quotation marks."],
    [{ admin: 9464 }, "admin must be a table, [admin]."],
    [{ facilitators: { url: FACILITATOR } }, "facilitators must be tables, each with the head [[facilitators]]."],
    [{ public_url: "https://attestd.example/api" }, "public_url must be an origin, without a path."],
    [{ contact: "operator@attestd.example" }, "contact must be a mailto: or https: URI."],
    [attestor({ pq_seed: secret("secret") }), "attestor.pq_seed must be 32 bytes in hex."],
    [attestor({ mnemonic: secret("one two") }), "attestor.mnemonic must be 25 words."],
    [attestor({ pq_seed: "file:/no/seed" }), "attestor.pq_seed names /no/seed, which cannot be read: ENOENT."],
    [attestor({ pq_seed: "file:/tmp" }), "attestor.pq_seed names /tmp, which cannot be read: It is a folder."],
    [attestor({ pq_seed: "file:" }), "attestor.pq_seed names nothing after file:."],
    [attestor({ pq_seed: secret("") }), ", which is empty."],
    [
      attestor({ pq_seed: "env:NONE" }),
      "attestor.pq_seed names the variable NONE of the environment, which is not set.",
    ],
    [attestor({ signer: "hsm" }), "attestor.signer must be one of seed, socket, aws-kms, google-kms."],
    [attestor({ signer: "aws-kms", account_signer: "seed" }), "attestor.kms_key is not set."],
    [attestor({ kms_key: "alias/bundles" }), 'attestor.kms_key is set, and attestor.signer = "seed" does not use it'],
    [attestor({ kms_key: "bundles" }), "attestor.kms_key must be an id, alias or ARN of AWS KMS, or projects/"],
    [
      attestor({ signer: "google-kms", kms_key: "alias/bundles" }),
      "attestor.kms_key names a key as aws-kms does, and the signer is google-kms: correct one of the two.",
    ],
    [
      attestor({ google_kms_endpoint: "https://cloudkms.example/v1" }),
      "attestor.google_kms_endpoint must be an origin, without a path",
    ],
    [attestor({ signer: "socket" }), "attestor.socket is not set."],
    [
      attestor({ signer: "socket", socket: "/s", mnemonic: undefined }),
      'attestor.pq_seed is set, and attestor.signer = "socket" does not use it: remove it, or choose another signer.',
    ],
    [attestor({ socket: "/s" }), 'attestor.socket is set, and attestor.signer = "seed" does not use it'],
    [
      attestor({ account_signer: "socket", mnemonic: undefined, socket: "/s" }),
      'attestor.signer = "seed" and attestor.account_signer = "socket" contradict each other: socket signs with both',
    ],
    [attestor({ socket: "signer.sock" }), "attestor.socket must be the absolute path of a socket"],
    [attestor({ falcon_mnemonic: secret(MNEMONIC) }), "attestor.falcon_mnemonic and attestor.mnemonic contradict"],
    [{ rails: { ethereum: { pay_to: "0x" } } }, "rails.ethereum is not a setting of attestd."],
    [{ rails: { base: { pay_to: CHECKSUMMED } } }, "rails.base.pay_to is set, but chains.base.rpc is not."],
    [{ rails: { base: { pay_to: CHECKSUMMED } } }, 'but no [[facilitators]] table has "base" in its rails.'],
    [{ facilitators: undefined }, 'Rail algorand is always enabled, but no [[facilitators]] table has "algorand"'],
    [{ facilitators: facilitatorsAt({ algorand: FACILITATOR, base: FACILITATOR }) }, "rails.base.pay_to is not set."],
    [{ rails: { base: { price_micro_usdc: 0 } } }, "rails.base.price_micro_usdc must be at least 1."],
    // Of the last character's six bits only four are used.
    [algorand({ genesis_hash: `${"A".repeat(42)}B=` }), "chains.algorand.genesis_hash must be 32 bytes in base64."],
    [algorand({ genesis_hash: GENESIS }), "another ledger starts only with --sandbox."],
    [{ sandbox_source_chains: ["algorand:x"] }, "sandbox_source_chains needs --sandbox."],
    [{ provider_quorum: 2 }, "provider_quorum is larger than the number"],
    [{ payments: { max_life_seconds: 3601 } }, "payments.max_life_seconds must be at most 3600."],
    [{ payments: { max_life_seconds: 179 } }, "payments.max_life_seconds must be at least 180, a minute more than"],
    [{ rails: { algorand: { max_fee: 1999 } } }, "rails.algorand.max_fee must be at least 2000."],
    [
      { rails: { solana: { max_compute_units: 1_400_001 } } },
      "rails.solana.max_compute_units must be at most 1400000.",
    ],
    [
      { chains: { base: { block_level: "latest" } } },
      "chains.base.block_level must be one of included, safe, finalized.",
    ],
    [{ trace_hosts: ["other.example"] }, "trace_hosts must name hosts of nodes and facilitators"],
  ])("%j is refused in a sentence that names the setting", (over, message) => {
    expect(sentence(over)).toContain(message);
  });

  test("are refused with all their faults at once, each by its key", () => {
    const wrong = {
      port: "http",
      contact: "me",
      ...algorand({ algod: ["https://a.example", "b", "https://c.example", 1] }),
    };
    const absent = { journal: { url: undefined }, facilitators: undefined };
    const contradictory = { provider_quorum: 2, payments: { max_life_seconds: 100 }, sandbox_source_chains: ["x"] };
    const unread = { attestor: { mnemonic: "file:/no/such/file" }, facilitatrs: [] };
    expect(
      sentence({ ...wrong, ...absent, ...contradictory, ...unread })
        .split("\n")
        .sort(),
    ).toEqual([
      'Rail algorand is always enabled, but no [[facilitators]] table has "algorand" in its rails.',
      "attestor.mnemonic names /no/such/file, which cannot be read: ENOENT.",
      "chains.algorand.algod (entry 2) must be an http or https URL, in quotation marks.",
      "chains.algorand.algod (entry 4) must be a text or a table.",
      "contact must be a mailto: or https: URI.",
      "facilitatrs is not a setting of attestd. Did you mean facilitators?",
      "journal.url is not set.",
      "payments.max_life_seconds must be at least 180, a minute more than payments.max_timeout_seconds.",
      "port must be a number, without quotation marks.",
      "provider_quorum is larger than the number of nodes in chains.algorand.algod or chains.algorand.indexer.",
      "sandbox_source_chains needs --sandbox.",
    ]);
  });

  describe("of a process that does not sign", () => {
    const attestorOf = (over: Table) =>
      readConfig(settingsOf({ ...MAINNET, attestor: over }), { sandbox: false, own: OWN }).attestor;

    test.each<[Table, string[]]>([
      [{}, ["attestor.pq_seed is not set.", "attestor.mnemonic is not set."]],
      [{ signer: "socket" }, ["attestor.socket is not set."]],
      [
        { pq_seed: "file:/no/seed", falcon_mnemonic: "env:NO_WORDS" },
        [
          "attestor.pq_seed names /no/seed, which cannot be read: ENOENT.",
          "attestor.falcon_mnemonic names the variable NO_WORDS of the environment, which is not set.",
        ],
      ],
    ])("may lack the attestor's keys: %j", (over, faults) => {
      const none = { kind: "none", faults };
      expect(attestorOf(over)).toEqual({ pq: none, account: none, address: undefined });
    });

    test("may lack one key and have the other", () => {
      const { pq, account } = attestorOf({ mnemonic: secret(MNEMONIC) });
      expect(pq).toEqual({ kind: "none", faults: ["attestor.pq_seed is not set."] });
      expect(account).toMatchObject({ kind: "seed", algorithm: "ed25519" });
    });

    test.each<[Table, string]>([
      [{ pq_seed: secret("secret") }, "attestor.pq_seed must be 32 bytes in hex."],
      [{ signer: "aws-kms", pq_seed: secret(SEED) }, 'attestor.pq_seed is set, and attestor.signer = "aws-kms"'],
    ])("are refused where they are wrong: %j", (over, message) => {
      expect(() => attestorOf(over)).toThrow(message);
    });
  });

  test.each([
    ["log_levle", "log_level"],
    ["hots", "host"],
    ["level_log", "log_level"],
    ["LOG_LEVEL", "log_level"],
    ["pay_to", "rails.algorand.pay_to"],
    ["algod", "chains.algorand.algod"],
    ["algorand", "chains.algorand.algod"],
    ["retention_dys", "journal.retention_days"],
  ])("%s is refused, and %s suggested", (wrong, right) => {
    const said = sentence({ [wrong]: "x" });
    expect(said).toContain(`${wrong} is not a setting of attestd.`);
    if (wrong !== "hots") expect(said).toContain(`Did you mean ${right}?`);
  });

  test.each<[Table, string]>([
    [
      { facilitators: [{ url: "https://user:hunter2@f.example", rails: ["algorand"] }] },
      "secret holds what is secret.",
    ],
    [
      { facilitators: [{ url: "https://hunter2@f.example", rails: ["algorand"] }] },
      ".url is published, and must hold no",
    ],
    [{ facilitators: [{ url: "https://f.example/?apikey=hunter2", rails: ["algorand"] }] }, ".url is published"],
    [{ facilitators: [{ url: "https://f.example/#hunter2", rails: ["algorand"] }] }, ".url is published"],
    [{ public_url: "https://user:hunter2@attestd.example" }, "public_url is published, and must hold no credentials."],
    [{ mcp_url: "https://hunter2@attestd.example" }, "mcp_url is published, and must hold no credentials."],
    [{ contact: "https://user:hunter2@attestd.example/contact" }, "contact is published"],
    [
      algorand({ algod: [{ url: "https://a.example", token: secret("hunter2\r\nb") }] }),
      ".token must be one line of ASCII.",
    ],
    [
      algorand({ algod: [{ url: "https://a.example", token: "hunter2" }] }),
      ".token must not be written here: keep it in a",
    ],
    [
      algorand({ algod: ["https://user:hunter2@a.example"] }),
      "(entry 1) holds a password, and must not be written here",
    ],
    [{ journal: { url: "postgres://us:hunter2@db.example/attestd" } }, "journal.url holds a password, and must not be"],
    [attestor({ pq_seed: "hunter2".padEnd(64, "0") }), "attestor.pq_seed must not be written here"],
    [attestor({ mnemonic: "hunter2 hunter2" }), 'and write "file:PATH" or "env:NAME".'],
    [attestor({ mnemonic: ["hunter2"] }), "attestor.mnemonic must not be written here"],
  ])("%j would show a secret, and is refused without it", (over, message) => {
    const refusal = sentence(over);
    expect(refusal).toContain(message);
    expect(refusal).not.toContain("hunter2");
  });

  test("may have a URL with a secret in it in a file or a variable", () => {
    const url = "postgres://us:hunter2@db.example/attestd";
    expect(read(merged(MAINNET, { journal: { url: secret(url) } })).database).toEqual({ kind: "postgres", url });
    const node = "https://base.example/key/hunter2";
    const over = { chains: { base: { rpc: ["env:BASE"] } } };
    const config = read(merged(MAINNET, over), false, { BASE: node });
    const [base = expect.fail("there is no chain")] = OWN.chains;
    expect(ownSettings(config, base)).toMatchObject({ rpc: [{ url: node }] });
  });

  test.each<[Table, string]>([
    [payTo("algorand", `B${ADDRESS.slice(1)}`), "rails.algorand.pay_to has a wrong checksum: copy the address again."],
    [payTo("algorand", ADDRESS.slice(1)), "rails.algorand.pay_to must be an Algorand address of 58 characters."],
    [payTo("algorand", algosdk.encodeAddress(new Uint8Array(32))), "rails.algorand.pay_to is the zero address"],
    [payTo("base", CHECKSUMMED.replace("aA", "AA")), "rails.base.pay_to has a wrong checksum in its capitals (EIP-55)"],
    [payTo("base", CHECKSUMMED.replace("eAed", "EAed")), "rails.base.pay_to has a wrong checksum in its capitals"],
    [payTo("base", `0x${"0".repeat(40)}`), "rails.base.pay_to is the zero address"],
    [payTo("solana", `${WALLET}2`), "rails.solana.pay_to must be a Solana address: base58 of 32 bytes"],
    [payTo("solana", "1".repeat(32)), "rails.solana.pay_to is the zero address"],
  ])("%j cannot be paid, and is refused", (over, message) => {
    expect(sentence(over)).toContain(message);
  });

  test("a wallet's associated USDC account cannot be paid, and is refused", async () => {
    expect(sentence(payTo("solana", await usdcAccountOf(WALLET)))).toContain(
      "rails.solana.pay_to is not a wallet's: it belongs to a token account or a program",
    );
  });

  test("right addresses are accepted in each of their spellings", () => {
    for (const spelling of [CHECKSUMMED, CHECKSUMMED.toLowerCase()])
      expect(sentence(payTo("base", spelling))).toBe("accepted");
  });

  test("a sandbox needs its own ledger and a loopback host", () => {
    expect(sentence({}, true)).toContain("--sandbox needs chains.algorand.genesis_hash");
    const sandbox = algorand({ genesis_hash: GENESIS });
    expect(sentence(sandbox, true)).toBe("accepted");
    expect(sentence({ ...sandbox, host: "0.0.0.0" }, true)).toContain("set host to 127.0.0.1");
  });
});

describe("the file of settings", () => {
  const path = join(folder, "attestd.toml");
  const from = (text: string | Uint8Array, isFound = false) => {
    writeFileSync(path, text);
    return readSettingsFile(path, {}, isFound);
  };

  test.each<[what: string, text: string | Uint8Array, message: string]>([
    ["a key that is there twice", 'host = "a"\n\nhost = "b"\n', "line 3: trying to redefine an already defined"],
    ["a table that is there twice", "[admin]\nport = 1\n[admin]\n", "line 3: trying to redefine"],
    ["a text without quotation marks", "host = hunter2\n", "line 1: invalid value. In TOML a text has quotation marks"],
    ["a text that does not end", 'port = 1\nhost = "hunter2\n', "line 2: "],
    ["lines of an environment file", "# hunter2\nDATABASE_URL=sqlite:j.db\n", "line 2: invalid value"],
    ["a number beyond 2^53", "port = 9007199254740993\n", "line 1: integer value cannot be represented losslessly"],
    ["lists in lists without end", `a = ${"[".repeat(5_000)}`, "excessively nested structures"],
    ["another encoding", Buffer.from('host = "\xff"\n', "latin1"), "its text is not UTF-8."],
    ["too many bytes", `# ${"x".repeat(2 ** 18)}`, "cannot be read. It has more than 262144 bytes."],
  ])("with %s is refused with its line, and quotes none", (_, text, message) => {
    const refusal = said(() => from(text));
    expect(refusal).toContain(message);
    expect(refusal).toContain(path);
    expect(refusal).not.toContain("hunter2");
  });

  test("that is none is refused in a sentence that says how to make one", () => {
    expect(said(() => readSettingsFile(join(folder, "none.toml"), {}))).toContain(
      "Write one: attestd settings > attestd.toml",
    );
    expect(said(() => readSettingsFile(folder, {}))).toContain("It is a folder.");
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(said(() => readSettingsFile(join(folder, "pipe"), {}))).toContain("It is a named pipe, not a file.");
    symlinkSync(path, join(folder, "link"));
    from("port = 1\n");
    expect(readSettingsFile(join(folder, "link"), {}).tables).toEqual({ port: 1 });
    expect(said(() => readSettingsFile(join(folder, "link"), {}, true))).toContain("It is a link");
  });

  test.each([
    ["__proto__", "[__proto__]\nport = 1\n"],
    ["constructor", 'constructor = "x"\n'],
    ['"gréeting"', '"gréeting" = 1\n'],
    ["rails.__proto__", "[rails.__proto__]\npay_to = 1\n"],
  ])("with the key %s is refused as any other unknown key", (key, text) => {
    expect(said(() => readConfig(from(text), { sandbox: false, own: OWN }))).toContain(
      `${key} is not a setting of attestd.`,
    );
    expect(Object.prototype).not.toHaveProperty("port");
  });

  test("may begin with a byte order mark, and have lines that end as on Windows", () => {
    expect(from('\ufeffhost = "::1"\r\n[admin]\r\nport = 1\r\n').tables).toEqual({ host: "::1", admin: { port: 1 } });
  });

  test("names files by paths from its own folder", () => {
    writeFileSync(join(folder, "seed"), `${SEED}\n`);
    writeFileSync(join(folder, "words"), MNEMONIC);
    const over = {
      journal: { url: "sqlite:journal.sqlite" },
      checkpoint_table: "table",
      attestor: { pq_seed: "file:seed", mnemonic: "file:words" },
    };
    const config = readConfig(
      { ...settingsOf(merged(MAINNET, over)), folder },
      { sandbox: false, own: OWN, signs: true },
    );
    expect(config).toMatchObject({
      database: { path: join(folder, "journal.sqlite") },
      checkpointTable: join(folder, "table"),
      attestor: { pq: { kind: "seed", algorithm: "ml-dsa-65" } },
    });
  });

  /** The file that `attestd settings` prints, filled in. */
  const filled = () =>
    settingsFile(OWN)
      .replace("algod = []", 'algod = [{ url = "https://a.example", token = "env:TOKEN" }]')
      .replace("indexer = []", 'indexer = ["https://i.example"]')
      .replace('pay_to = ""', `pay_to = "${ADDRESS}"`)
      .replace('url = ""', `url = "${FACILITATOR}"`);

  test("as it is printed to start from lacks only what it says, and with that is accepted", () => {
    writeFileSync(join(folder, "attestor.pq-seed"), SEED);
    writeFileSync(join(folder, "attestor.mnemonic"), MNEMONIC);
    const own = { sandbox: false, own: OWN, signs: true };
    expect(said(() => readConfig(from(settingsFile(OWN)), own)).split("\n")).toEqual([
      "chains.algorand.algod must name a node.",
      "chains.algorand.indexer must name a node.",
      "rails.algorand.pay_to is empty: fill it in, or remove it.",
      "facilitators (entry 1).url is empty: fill it in, or remove it.",
    ]);
    const settings = { ...from(filled()), variables: { TOKEN: "hunter2" } };
    expect(readConfig(settings, own)).toMatchObject({
      port: 4020,
      database: { path: join(folder, "data", "journal.sqlite") },
    });
    // Every line that shows a default or an example is one of TOML.
    const shown = filled().replaceAll(/^# (\w+ = .*)$/gm, "$1");
    expect(Object.keys(from(shown).tables)).toHaveLength(23);
  });

  test("as it is in force reads as the same settings, and shows no secret", () => {
    const settings = { ...from(filled()), variables: { TOKEN: "hunter2", PORT: "0" } };
    const text = settingsInForce(settings, OWN);
    expect(text).not.toMatch(new RegExp(`hunter2|${SEED}|${MNEMONIC}`));
    expect(text).toContain("port = 0\n");
    expect(text).toContain('token = "env:TOKEN"');
    expect(text).toContain('pq_seed = "file:attestor.pq-seed"');
    const own = { sandbox: false, own: OWN, signs: true };
    const again = { ...from(text), variables: { TOKEN: "hunter2" } };
    expect(readConfig(again, own)).toEqual(readConfig(settings, own));
  });

  test("has a description of every setting", () => {
    expect(describedSettings(OWN).filter(({ description }) => !description)).toEqual([]);
  });
});
