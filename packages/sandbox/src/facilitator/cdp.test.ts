import { HTTPFacilitatorClient } from "@x402/core/http";
import { importJWK, importPKCS8, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StubRail, stubPayment, stubRail } from "../../test/stub-rail.ts";
import { cdpDialect } from "./cdp.ts";
import type { Credentials } from "./credentials.ts";
import { type Facilitator, startFacilitator } from "./server.ts";

/** Unix ms: the moment at which the recorded tokens were signed. */
const SIGNED_AT = 1_795_000_000_000;

/** Made by `generateJwt` of @coinbase/cdp-sdk 1.57.0 for `POST https://api.cdp.coinbase.com/platform/v2/x402/settle`. */
const RECORDED = [
  {
    algorithm: "EdDSA",
    keyId: "8d1c1b2e-0000-4000-8000-000000000001",
    publicKey: "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c",
    token:
      "eyJhbGciOiJFZERTQSIsImtpZCI6IjhkMWMxYjJlLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsInR5cCI6IkpXVCIsIm5vbmNlIjoiYTc1ZWQ2YjY2MzEwZmUzMmU1NDc3ZTA3ZTRmOGM0N2YifQ.eyJzdWIiOiI4ZDFjMWIyZS0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEiLCJpc3MiOiJjZHAiLCJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIveDQwMi9zZXR0bGUiXSwiaWF0IjoxNzk1MDAwMDAwLCJuYmYiOjE3OTUwMDAwMDAsImV4cCI6MTc5NTAwMDEyMH0.eV54Kmx6DNH6RgQTiTaNLwMxNnnkeNnBLywwkfRa2I_E7v46gkJHCltcHEfs2FQCkd9lJthx1OCJ4XQDOinFAw",
  },
  {
    algorithm: "ES256",
    keyId: "organizations/o/apiKeys/k",
    publicKey:
      "0402c15f64107e604cf294b54e79abf17620cd251f4024fbd773bd015476d7d4ef07a084a637fd200bb6586d811700e004c604b1091fd5a4026d55ea11c8dac406",
    token:
      "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9yZ2FuaXphdGlvbnMvby9hcGlLZXlzL2siLCJ0eXAiOiJKV1QiLCJub25jZSI6IjdiMDhhOTUyNjU4MDc3MmM3NTIyNDdhNGM4YmQ0ZTc3In0.eyJzdWIiOiJvcmdhbml6YXRpb25zL28vYXBpS2V5cy9rIiwiaXNzIjoiY2RwIiwidXJpcyI6WyJQT1NUIGFwaS5jZHAuY29pbmJhc2UuY29tL3BsYXRmb3JtL3YyL3g0MDIvc2V0dGxlIl0sImlhdCI6MTc5NTAwMDAwMCwibmJmIjoxNzk1MDAwMDAwLCJleHAiOjE3OTUwMDAxMjB9.MSB3ZmHJ51O8Szja0HIqgl49h9h3EL1eW0PJH-FDKqbsU0U2goSvxRxmIC4sfujVNh-DTh9Di8ui2sD-FHu1eQ",
  },
] as const;
const SETTLE = { method: "POST", path: "/platform/v2/x402/settle" } as const;

describe.each(RECORDED)("a token that CDP's SDK signed with $algorithm", ({ algorithm, keyId, publicKey, token }) => {
  const dialectAt = (now: number, host = "api.cdp.coinbase.com") => {
    const tokenKey = { keyId, algorithm, publicKey: Buffer.from(publicKey, "hex") };
    return cdpDialect(
      () => host,
      () => now,
      [{ credentials: { keyId, secret: "", algorithm }, tokenKey }],
    );
  };
  const authorization = `Bearer ${token}`;

  test("is taken once", () => {
    const dialect = dialectAt(SIGNED_AT);
    expect(() => dialect.authenticate({ ...SETTLE, authorization })).not.toThrow();
    expect(() => dialect.authenticate({ ...SETTLE, authorization })).toThrow("header.nonce was used before");
  });

  test("is taken from its second until two minutes later", () => {
    const at = (now: number) => () => dialectAt(now).authenticate({ ...SETTLE, authorization });
    expect(at(SIGNED_AT - 1)).toThrow("not valid yet");
    expect(at(SIGNED_AT + 119_999)).not.toThrow();
    expect(at(SIGNED_AT + 120_000)).toThrow("has expired");
  });

  test("is refused for another method, host or path, and when a bit of it is changed", () => {
    const asked = { ...SETTLE, authorization };
    const uris = 'claims.uris is not ["';
    expect(() => dialectAt(SIGNED_AT).authenticate({ ...asked, path: "/platform/v2/x402/verify" })).toThrow(uris);
    expect(() => dialectAt(SIGNED_AT).authenticate({ ...asked, method: "GET" })).toThrow(uris);
    expect(() => dialectAt(SIGNED_AT, "api.cdp.coinbase.com:444").authenticate(asked)).toThrow(uris);
    const [head = "", body = "", tail = ""] = token.split(".");
    const otherTail = `${tail.startsWith("A") ? "B" : "A"}${tail.slice(1)}`;
    const changed = `Bearer ${head}.${body}.${otherTail}`;
    expect(() => dialectAt(SIGNED_AT).authenticate({ ...asked, authorization: changed })).toThrow(
      "the signature does not verify",
    );
  });
});

describe("CDP's facilitator over HTTP", () => {
  let rail: StubRail;
  let facilitator: Facilitator;
  let keys: readonly [Credentials, Credentials];
  beforeAll(async () => {
    rail = stubRail();
    facilitator = await startFacilitator({ kind: "cdp", rails: [rail.register] });
    keys = facilitator.credentials as typeof keys;
  });
  afterAll(() => facilitator.close());

  type Changes = { header?: object; claims?: object; key?: Credentials; signer?: Credentials };

  /** Signs as jose does. @param signer the key that signs, when it is not the key that the token names */
  async function tokenFor(
    operation: string,
    method = "POST",
    { header, claims, key = keys[0], signer = key }: Changes = {},
  ) {
    const { host, pathname } = new URL(facilitator.url);
    const now = Math.floor(Date.now() / 1000);
    const uris = [`${method} ${host}${pathname}/${operation}`];
    const nonce = crypto.randomUUID().replaceAll("-", "");
    return new SignJWT({ sub: key.keyId, iss: "cdp", uris, iat: now, nbf: now, exp: now + 120, ...claims })
      .setProtectedHeader({ alg: key.algorithm, kid: key.keyId, typ: "JWT", nonce, ...header })
      .sign(await signingKey(signer));
  }

  async function signingKey({ secret, algorithm }: Credentials) {
    if (algorithm === "ES256") return importPKCS8(secret, algorithm);
    const bytes = Buffer.from(secret, "base64");
    const part = (from: number, to: number) => bytes.subarray(from, to).toString("base64url");
    return importJWK({ kty: "OKP", crv: "Ed25519", d: part(0, 32), x: part(32, 64) }, algorithm);
  }

  async function settle(nonce: string, authorization: string | undefined, resource?: object) {
    const { payload, requirements } = stubPayment(nonce, "base", resource);
    const response = await fetch(`${facilitator.url}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization && { authorization }) },
      body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: requirements }),
    });
    return { status: response.status, json: await response.json() };
  }

  test.each([0, 1] as const)(
    "takes every operation of a stock client with jose's tokens, with key %i",
    async (index) => {
      const key = keys[index];
      const client = new HTTPFacilitatorClient({
        url: facilitator.url,
        createAuthHeaders: async () => ({
          verify: { Authorization: `Bearer ${await tokenFor("verify", "POST", { key })}` },
          settle: { Authorization: `Bearer ${await tokenFor("settle", "POST", { key })}` },
          supported: { Authorization: `Bearer ${await tokenFor("supported", "GET", { key })}` },
        }),
      });
      const { kinds } = await client.getSupported();
      expect(kinds.map(({ network }) => network)).toEqual(["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]);
      const { payload, requirements } = stubPayment(`stock ${index}`);
      expect(await client.verify(payload, requirements)).toEqual({ isValid: true });
      expect(await client.settle(payload, requirements)).toMatchObject({ success: true });
      const elsewhere = stubPayment("elsewhere", "algorand");
      await expect(client.verify(elsewhere.payload, elsewhere.requirements)).rejects.toThrow("invalid_request");
    },
  );

  const now = Math.floor(Date.now() / 1000);
  test.each<[string, Changes]>([
    ["header.kid names no API key", { header: { kid: "another" } }],
    ["header.alg is not EdDSA", { header: { alg: "ES256" }, signer: { keyId: "", secret: "", algorithm: "ES256" } }],
    ["header.typ is not JWT", { header: { typ: "at+jwt" } }],
    ["header.nonce is not 32 hex digits", { header: { nonce: "1" } }],
    ["header.nonce is missing", { header: { nonce: undefined } }],
    ["header.x is not expected", { header: { x: 1 } }],
    ["claims.sub is not ", { claims: { sub: "another" } }],
    ["claims.iss is not cdp", { claims: { iss: "payai-merchant" } }],
    ["claims.uris is not ", { claims: { uris: [] } }],
    ["claims.aud is not expected", { claims: { aud: ["cdp_service"] } }],
    ["claims.nbf is missing", { claims: { nbf: undefined } }],
    ["the token lives longer than 120 s", { claims: { exp: now + 300 } }],
    ["the token is not valid yet", { claims: { nbf: now + 100 } }],
    ["the token has expired", { claims: { iat: now - 500, nbf: now - 500, exp: now - 400 } }],
  ])("answers 401, and settles nothing: %s", async (message, changes) => {
    const signer = changes.signer && keys[1];
    const token = await tokenFor("settle", "POST", { ...changes, ...(signer && { signer }) });
    expect(await settle("never", `Bearer ${token}`)).toEqual({
      status: 401,
      json: { errorType: "unauthorized", errorMessage: expect.stringContaining(message) },
    });
    expect(rail.settled).not.toContain("never");
  });

  test("answers 401 without a token, to one that is no JWT, and to an unsigned one", async () => {
    const [, body] = (await tokenFor("settle")).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT", kid: keys[0].keyId })).toString("base64url");
    for (const authorization of [
      undefined,
      "Bearer secret",
      `Bearer ${none}.${body}.`,
      `Basic ${await tokenFor("settle")}`,
    ])
      expect((await settle("never", authorization)).status).toBe(401);
    expect((await fetch(`${facilitator.url}/supported`)).status).toBe(401);
    expect(rail.settled).not.toContain("never");
  });

  test("refuses a description of more than 500 characters", async () => {
    const send = async (length: number) =>
      settle(`of ${length}`, `Bearer ${await tokenFor("settle")}`, { description: "x".repeat(length) });
    expect(await send(501)).toEqual({
      status: 400,
      json: { errorType: "invalid_request", errorMessage: expect.stringContaining("description") },
    });
    expect((await send(500)).status).toBe(200);
  });

  test("is not where a stock one is", async () => {
    expect((await fetch(new URL("/supported", facilitator.url))).status).toBe(404);
  });
});
