import { createPublicKey, verify } from "node:crypto";
import { type Answer, type FakeRequest, json, type Reading } from "./exchange.ts";
import { type FakeKey, type Fault, pemOf, publicKeyOf, signatureOf } from "./keys.ts";

/** Names of enums, as google/cloud/kms/v1/resources.proto has them. */
const ALGORITHMS = {
  "ml-dsa-65": "PQ_SIGN_ML_DSA_65_EXTERNAL_MU",
  "ml-dsa-65-whole-messages": "PQ_SIGN_ML_DSA_65",
  ed25519: "EC_SIGN_ED25519",
  "p-256": "EC_SIGN_P256_SHA256",
} as const;
const STATES = { enabled: "ENABLED", disabled: "DISABLED", "pending-deletion": "DESTROY_SCHEDULED" } as const;
const SOFTWARE = "SOFTWARE";

/** The token that the fake metadata server gives. */
export const METADATA_TOKEN = "ya29.of-the-fake-metadata-server";

export type GoogleOptions = {
  /** SPKI PEM of the service account's key, if one is accepted. */
  serviceAccountKey?: string | undefined;
};

/** The REST API of Cloud KMS: getCryptoKeyVersion, getPublicKey and asymmetricSign; and a metadata server. */
export function answerGoogle(
  { method, url, headers, body }: FakeRequest,
  keys: ReadonlyMap<string, FakeKey>,
  faultOf: (key: FakeKey) => Fault | undefined,
  options: GoogleOptions,
): Reading {
  const { pathname, searchParams } = new URL(url, "http://fake");
  if (!pathname.startsWith("/v1/"))
    return { operation: "metadata", key: "", answer: () => metadata(pathname, headers) };
  const [, name = "", part] =
    /^\/v1\/(projects\/[^:]+?\/cryptoKeyVersions\/\d+)(\/publicKey|:asymmetricSign)?$/.exec(pathname) ?? [];
  const operation =
    part === ":asymmetricSign" ? "AsymmetricSign" : part === "/publicKey" ? "GetPublicKey" : "GetCryptoKeyVersion";
  return { operation, key: name, answer };

  function answer(): Answer {
    if (!isAuthorized(headers.authorization, options))
      return error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");
    const key = keys.get(name);
    if (!key) return error(404, "NOT_FOUND", `CryptoKeyVersion ${name} not found.`);
    const algorithm = ALGORITHMS[key.kind];
    if (operation === "GetCryptoKeyVersion" && method === "GET")
      return json(200, {
        name,
        state: STATES[key.state],
        protectionLevel: SOFTWARE,
        algorithm,
        createTime: "2026-11-01T00:00:00Z",
      });
    if (key.state !== "enabled")
      return error(400, "FAILED_PRECONDITION", `${name} is not enabled, current state is: ${STATES[key.state]}.`);
    if (operation === "GetPublicKey" && method === "GET")
      return publicKey(key, algorithm, searchParams.get("publicKeyFormat"));
    if (operation === "AsymmetricSign" && method === "POST")
      return signed(key, JSON.parse(body.toString()), faultOf(key));
    return error(404, "NOT_FOUND", "Not Found");
  }
}

function publicKey(key: FakeKey, algorithm: string, asked: string | null): Answer {
  const common = { name: key.id, algorithm, protectionLevel: SOFTWARE };
  if (key.kind === "ed25519" || key.kind === "p-256") {
    if (asked !== null && asked !== "PEM")
      return error(400, "INVALID_ARGUMENT", "the format is not supported for the algorithm");
    const pem = pemOf(key);
    return json(200, { ...common, pem, pemCrc32c: `${crc32c(Buffer.from(pem))}` });
  }
  if (asked !== "NIST_PQC") return error(400, "INVALID_ARGUMENT", "public_key_format is required for PQC algorithms");
  const data = Buffer.from(publicKeyOf(key));
  const checksummed = { data: data.toString("base64"), crc32cChecksum: `${crc32c(data)}` };
  return json(200, { ...common, publicKeyFormat: asked, publicKey: checksummed });
}

type SignRequest = {
  digest?: { externalMu?: string };
  digestCrc32c?: string;
  data?: string;
  dataCrc32c?: string;
};

function signed(key: FakeKey, request: SignRequest, fault: Fault | undefined): Answer {
  const { id: name, kind } = key;
  switch (fault) {
    case "throttled":
      return error(
        429,
        "RESOURCE_EXHAUSTED",
        "Quota exceeded for quota metric 'Cryptographic requests' of service 'cloudkms.googleapis.com'.",
      );
    case "internal":
      return error(500, "INTERNAL", "Internal error encountered.");
    case "unavailable":
      return error(503, "UNAVAILABLE", "The service is currently unavailable.");
    case "denied":
      return error(
        403,
        "PERMISSION_DENIED",
        `Permission 'cloudkms.cryptoKeyVersions.useToSign' denied on resource '${name}' (or it may not exist).`,
      );
    default:
  }
  const isMu = kind === "ml-dsa-65";
  const [sent, checksum] = isMu
    ? [request.digest?.externalMu, request.digestCrc32c]
    : [request.data, request.dataCrc32c];
  const isRight = isMu ? request.data === undefined : kind === "ed25519" && request.digest === undefined;
  if (sent === undefined || !isRight)
    return error(400, "INVALID_ARGUMENT", "digest or data does not fit the algorithm of the key");
  const input = Buffer.from(sent, "base64");
  if (isMu && input.length !== 64) return error(400, "INVALID_ARGUMENT", "external_mu must have 64 bytes");
  if (checksum !== undefined && Number(checksum) !== crc32c(input))
    return error(400, "INVALID_ARGUMENT", "The checksum in field data_crc32c did not match the data in field data.");
  const signature = signatureOf(key, input, fault);
  const isChecked = checksum !== undefined && fault !== "unchecked";
  return json(200, {
    signature: signature.toString("base64"),
    signatureCrc32c: `${fault === "damaged" ? 1 : crc32c(signature)}`,
    name: fault === "renamed" ? name.replace(/\d+$/, "99") : name,
    protectionLevel: SOFTWARE,
    ...(isChecked && { [isMu ? "verifiedDigestCrc32c" : "verifiedDataCrc32c"]: true }),
  });
}

/** A token of the metadata server, or a token that the service account has signed itself (RS256, for an hour at most). */
function isAuthorized(authorization: string | undefined, { serviceAccountKey }: GoogleOptions): boolean {
  const token = authorization?.replace(/^Bearer /, "") ?? "";
  if (token === METADATA_TOKEN) return true;
  const [header = "", claims = "", signature = ""] = token.split(".");
  if (serviceAccountKey === undefined || signature === "") return false;
  const { exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { exp: number; iat: number };
  const bytes = Buffer.from(signature, "base64url");
  const isSigned = verify("sha256", Buffer.from(`${header}.${claims}`), createPublicKey(serviceAccountKey), bytes);
  return isSigned && exp - iat <= 3_600 && exp > Date.now() / 1000;
}

function metadata(path: string, headers: FakeRequest["headers"]): Answer {
  if (headers["metadata-flavor"] !== "Google") return { status: 403, type: "text/html", body: "Forbidden" };
  const flavour = { "metadata-flavor": "Google" };
  const below = path.replace(/^\/computeMetadata\/v1\//, "");
  if (below === "instance/service-accounts/default/token") {
    const token = { access_token: METADATA_TOKEN, expires_in: 3_599, token_type: "Bearer" };
    return { ...json(200, token), headers: flavour };
  }
  const texts: Record<string, string> = {
    instance: "id",
    "project/project-id": "attestd-test",
    "universe/universe-domain": "googleapis.com",
    "instance/service-accounts/default/email": "attestd@attestd-test.iam.gserviceaccount.com",
  };
  const text = texts[below.replace(/\/$/, "")];
  if (text === undefined) return { status: 404, type: "text/html", body: "Not Found", headers: flavour };
  return { status: 200, type: "application/text", body: text, headers: flavour };
}

/** CRC-32C (RFC 3720, appendix B.4), bit by bit. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function error(code: number, status: string, message: string): Answer {
  return json(code, { error: { code, message, status } });
}
