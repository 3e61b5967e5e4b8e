import { Buffer } from "node:buffer";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import {
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  importSPKI,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { json, Upstream } from "../../test/fakes/providers.ts";
import { cdpKey, payaiKey } from "../config/facilitator-keys.ts";
import type { FacilitatorAuth } from "../config/facilitators.ts";
import { httpFacilitator } from "./facilitator.ts";

let upstream: Upstream;
/** Method, path and Authorization header of every request, in order. */
let seen: { method: string; path: string; authorization: string }[];
beforeAll(async () => {
  upstream = await Upstream.start((_, response) => response.end());
});
beforeEach(() => {
  seen = [];
  upstream.handler = ({ method = "", url: path = "", headers: { authorization = "" } }, response) => {
    seen.push({ method, path, authorization });
    json(response, path.endsWith("supported") ? { kinds: [] } : { isValid: true, success: true });
  };
});
afterAll(() => upstream.close());

/** Unix ms. */
const NOW = Date.parse("2026-11-23T12:00:00.500Z");
const seconds = (offset: number) => new Date(NOW + offset * 1000);
const PAYMENT = { x402Version: 2 } as PaymentPayload;
const REQUIREMENT = { network: "eip155:8453" } as unknown as PaymentRequirements;
const soon = () => AbortSignal.timeout(5_000);

/** Makes each request once, with a facilitator whose URL has a path, like CDP's. */
async function askAll(auth: FacilitatorAuth) {
  const facilitator = httpFacilitator({ url: `${upstream.url}/platform/v2/x402/`, auth }, () => NOW);
  await facilitator.supported(soon());
  await facilitator.verify(PAYMENT, REQUIREMENT, soon());
  await facilitator.settle(PAYMENT, REQUIREMENT, soon());
  await facilitator.settle(PAYMENT, REQUIREMENT, soon());
  return seen;
}

const pair = (algorithm: "EdDSA" | "ES256") => generateKeyPair(algorithm, { extractable: true });
const tokenOf = (authorization = "") => authorization.replace(/^Bearer /, "");

async function cdpPair(algorithm: "EdDSA" | "ES256") {
  const { privateKey, publicKey } = await pair(algorithm);
  const { d = "", x = "" } = await exportJWK(privateKey);
  const raw = Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]).toString("base64");
  const secret = algorithm === "EdDSA" ? raw : await exportPKCS8(privateKey);
  return { publicKey: await importSPKI(await exportSPKI(publicKey), algorithm), secret };
}

describe("a request to a facilitator", () => {
  test.each(["EdDSA", "ES256"] as const)(
    "of kind cdp has a token of its own with %s, bound to method, host and path",
    async (algorithm) => {
      const { publicKey, secret } = await cdpPair(algorithm);
      const requests = await askAll({ kind: "cdp", keyId: "key-1", key: cdpKey(secret) });
      const nonces = new Set<unknown>();
      const options: JWTVerifyOptions = {
        algorithms: [algorithm],
        issuer: "cdp",
        subject: "key-1",
        typ: "JWT",
        maxTokenAge: 120,
        currentDate: new Date(NOW),
        requiredClaims: ["nbf", "iat", "exp", "uris"],
      };
      for (const { method, path, authorization } of requests) {
        const { payload, protectedHeader } = await jwtVerify(tokenOf(authorization), publicKey, options);
        expect(protectedHeader).toEqual({
          alg: algorithm,
          kid: "key-1",
          typ: "JWT",
          nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
        });
        expect(payload.uris).toEqual([`${method} ${upstream.host}${path}`]);
        expect(Object.keys(payload).toSorted()).toEqual(["exp", "iat", "iss", "nbf", "sub", "uris"]);
        expect(Number(payload.exp) - Number(payload.iat)).toBe(120);
        nonces.add(protectedHeader.nonce);
      }
      expect(nonces.size).toBe(4);
      expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /platform/v2/x402/supported",
        "POST /platform/v2/x402/verify",
        "POST /platform/v2/x402/settle",
        "POST /platform/v2/x402/settle",
      ]);
    },
  );

  test("of kind payai has PayAI's token", async () => {
    const { privateKey, publicKey } = await pair("EdDSA");
    const der = (await exportPKCS8(privateKey)).replace(/-----[A-Z ]+-----|\s/g, "");
    const requests = await askAll({ kind: "payai", keyId: "key-2", key: payaiKey(`payai_sk_${der}`) });
    const ids = new Set<unknown>();
    for (const { authorization } of requests) {
      const options = { issuer: "payai-merchant", subject: "key-2", maxTokenAge: 120, currentDate: new Date(NOW) };
      const { payload, protectedHeader } = await jwtVerify(tokenOf(authorization), publicKey, options);
      expect(protectedHeader).toEqual({ alg: "EdDSA", kid: "key-2", typ: "JWT" });
      expect(Object.keys(payload).toSorted()).toEqual(["exp", "iat", "iss", "jti", "sub"]);
      ids.add(payload.jti);
    }
    expect(ids.size).toBe(4);
  });

  test("is also valid where the clock is 29 s behind ours or 89 s ahead, and no further", async () => {
    const { publicKey, secret } = await cdpPair("EdDSA");
    const [request] = await askAll({ kind: "cdp", keyId: "k", key: cdpKey(secret) });
    const validAt = (offset: number) =>
      jwtVerify(tokenOf(request?.authorization), publicKey, { currentDate: seconds(offset) }).then(
        () => true,
        () => false,
      );
    expect(await Promise.all([-32, -29, 0, 89, 91].map(validAt))).toEqual([false, true, true, true, false]);
  });

  test("of kind header has that header, and of kind none has none", async () => {
    const values = (await askAll({ kind: "header", value: "Bearer abc" })).map(({ authorization }) => authorization);
    expect(values).toEqual(Array(4).fill("Bearer abc"));
    seen = [];
    expect((await askAll({ kind: "none" })).map(({ authorization }) => authorization)).toEqual(Array(4).fill(""));
  });
});

describe("a facilitator that repeats our credential", () => {
  const secret = "c2VjcmV0LXdpdGgtYS9zbGFzaA==";
  const ask = () => {
    const auth: FacilitatorAuth = { kind: "header", value: `Bearer ${secret}` };
    return httpFacilitator({ url: upstream.url, auth }, () => NOW);
  };
  test.each([
    ["in a refusal", 401, { error: `bad credential ${secret}` }],
    ["in a slash-escaped refusal", 401, { error: "bad", given: `Bearer ${secret}` }],
  ])("%s, has it removed from what is logged", async (_, status, body) => {
    upstream.handler = (_request, response) =>
      response.writeHead(status).end(JSON.stringify(body).replaceAll("/", "\\/"));
    const error: Error = await ask()
      .verify(PAYMENT, REQUIREMENT, soon())
      .then(
        () => expect.fail(),
        (thrown) => thrown,
      );
    expect(error.message).toContain("HTTP 401");
    expect(error.message).toContain("[credential]");
    expect(error.message).not.toContain("c2Vjcm");
  });

  test("in a verdict, has it removed from what the payer gets", async () => {
    upstream.handler = (_, response) => json(response, { isValid: false, invalidReason: `for Bearer ${secret}` });
    expect(await ask().verify(PAYMENT, REQUIREMENT, soon())).toEqual({ valid: false, reason: "for [credential]" });
  });
});

test("a refusal by a facilitator whose clock differs from ours is logged with the difference", async () => {
  const at = (offset: number) => {
    upstream.handler = (_, response) => {
      response.setHeader("date", seconds(offset).toUTCString());
      json(response, { errorType: "unauthorized", errorMessage: "Unauthorized." }, 401);
    };
    const facilitator = httpFacilitator({ url: upstream.url, auth: { kind: "none" } }, () => NOW);
    return facilitator.verify(PAYMENT, REQUIREMENT, soon()).then(String, (error: Error) => error.message);
  };
  expect(await at(300)).toContain("HTTP 401 (its clock is 300 s ahead of ours): ");
  expect(await at(-95)).toContain("HTTP 401 (its clock is 95 s behind ours): ");
  expect(await at(5)).toContain("HTTP 401: ");
});
