import { type Answer, type FakeRequest, json, type Reading } from "./exchange.ts";
import { type FakeKey, type Fault, signatureOf, spkiOf } from "./keys.ts";

/** The account, the region and the credentials of the fake AWS. */
export const AWS = {
  region: "eu-central-1",
  account: "111122223333",
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
} as const;

export function arnOf(id: string): string {
  return `arn:aws:kms:${AWS.region}:${AWS.account}:key/${id}`;
}

const SPECS = {
  "ml-dsa-65": { KeySpec: "ML_DSA_65", SigningAlgorithms: ["ML_DSA_SHAKE_256"] },
  "ml-dsa-65-whole-messages": { KeySpec: "ML_DSA_65", SigningAlgorithms: ["ML_DSA_SHAKE_256"] },
  ed25519: { KeySpec: "ECC_NIST_EDWARDS25519", SigningAlgorithms: ["ED25519_SHA_512", "ED25519_PH_SHA_512"] },
  "p-256": { KeySpec: "ECC_NIST_P256", SigningAlgorithms: ["ECDSA_SHA_256"] },
} as const;

const STATES = { enabled: "Enabled", disabled: "Disabled", "pending-deletion": "PendingDeletion" } as const;

/** AWS JSON 1.1 of AWS KMS: TrentService.DescribeKey, GetPublicKey and Sign. */
export function answerAws(
  { headers, body }: FakeRequest,
  keys: ReadonlyMap<string, FakeKey>,
  faultOf: (key: FakeKey) => Fault | undefined,
): Reading {
  const operation = String(headers["x-amz-target"]).replace("TrentService.", "");
  const input = JSON.parse(body.toString()) as Record<string, string | undefined>;
  const id = (input.KeyId ?? "").replace(/^arn:aws:kms:[^:]+:\d+:key\//, "");
  const key = keys.get(id) ?? [...keys.values()].find(({ alias }) => alias === id);
  return { operation, key: key?.id ?? id, answer };

  function answer(): Answer {
    const refusal = refusalOf(headers);
    if (refusal) return refusal;
    if (!key) return error(400, "NotFoundException", `Key '${arnOf(id)}' does not exist`);
    if (operation === "DescribeKey") return described(key);
    const unusable = unusableOf(key);
    if (unusable) return unusable;
    const { KeySpec, SigningAlgorithms } = SPECS[key.kind];
    const common = { KeyId: arnOf(id), KeyUsage: "SIGN_VERIFY" };
    if (operation === "GetPublicKey")
      return json(200, { ...common, KeySpec, SigningAlgorithms, PublicKey: spkiOf(key).toString("base64") });
    if (operation === "Sign") return signed(key, input, faultOf(key));
    return error(400, "UnknownOperationException", "");
  }
}

/** The shape of an AWS Signature Version 4, and who it is of; not its value. */
function refusalOf(headers: FakeRequest["headers"]): Answer | undefined {
  const authorization = headers.authorization ?? "";
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$/.exec(
      authorization,
    );
  if (!authorization)
    return error(400, "MissingAuthenticationTokenException", "Request is missing Authentication Token");
  if (!parts) return error(400, "IncompleteSignatureException", "Authorization header has a wrong form");
  const [, accessKeyId, day, region, signedHeaders = ""] = parts;
  if (accessKeyId !== AWS.accessKeyId)
    return error(400, "UnrecognizedClientException", "The security token included in the request is invalid.");
  const time = String(headers["x-amz-date"]);
  const covers = ["host", "x-amz-date", "x-amz-target"].every((name) => signedHeaders.split(";").includes(name));
  if (region !== AWS.region || !time.startsWith(`${day}T`) || !covers)
    return error(400, "InvalidSignatureException", "Credential should be scoped to a valid region.");
  return undefined;
}

function described({ id, kind, state }: FakeKey): Answer {
  const { KeySpec, SigningAlgorithms } = SPECS[kind];
  return json(200, {
    KeyMetadata: {
      AWSAccountId: AWS.account,
      KeyId: id,
      Arn: arnOf(id),
      CreationDate: 1_764_000_000.5,
      Enabled: state === "enabled",
      Description: "",
      KeyUsage: "SIGN_VERIFY",
      KeyState: STATES[state],
      Origin: "AWS_KMS",
      KeyManager: "CUSTOMER",
      KeySpec,
      CustomerMasterKeySpec: KeySpec,
      SigningAlgorithms,
      MultiRegion: false,
      ...(state === "pending-deletion" && { DeletionDate: 1_800_000_000 }),
    },
  });
}

function unusableOf({ id, state }: FakeKey): Answer | undefined {
  if (state === "disabled") return error(409, "DisabledException", `${arnOf(id)} is disabled.`);
  if (state === "pending-deletion") return error(409, "KMSInvalidStateException", `${arnOf(id)} is pending deletion.`);
  return undefined;
}

function signed(key: FakeKey, input: Record<string, string | undefined>, fault: Fault | undefined): Answer {
  switch (fault) {
    case "throttled":
      return error(
        400,
        "ThrottlingException",
        "You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.",
      );
    case "internal":
      return error(500, "KMSInternalException", "");
    case "unavailable":
      return error(503, "ServiceUnavailableException", "");
    case "denied":
      return error(
        400,
        "AccessDeniedException",
        `User: arn:aws:iam::${AWS.account}:user/attestd is not authorized to perform: kms:Sign on resource: ${arnOf(key.id)}`,
      );
    default:
  }
  const { SigningAlgorithm = "", MessageType = "RAW", Message = "" } = input;
  const message = Buffer.from(Message, "base64");
  if (!SPECS[key.kind].SigningAlgorithms.some((one) => one === SigningAlgorithm))
    return error(400, "InvalidKeyUsageException", `${arnOf(key.id)} key usage is not valid for ${SigningAlgorithm}.`);
  const isMu = key.kind === "ml-dsa-65" && MessageType === "EXTERNAL_MU";
  const isWhole = key.kind === "ed25519" && MessageType === "RAW" && SigningAlgorithm === "ED25519_SHA_512";
  if (!isMu && !isWhole)
    return error(400, "ValidationException", `the fake does not sign ${MessageType} with ${SigningAlgorithm}`);
  if (isMu && message.length !== 64)
    return error(400, "ValidationException", "Digest is invalid length for algorithm ML_DSA_SHAKE_256.");
  if (message.length < 1 || message.length > 4096)
    return error(
      400,
      "ValidationException",
      "1 validation error detected: Value at 'message' failed to satisfy constraint: Member must have length less than or equal to 4096",
    );
  const KeyId = fault === "renamed" ? arnOf("00000000-0000-0000-0000-000000000000") : arnOf(key.id);
  return json(200, { KeyId, Signature: signatureOf(key, message, fault).toString("base64"), SigningAlgorithm });
}

function error(status: number, type: string, message: string): Answer {
  const isTitled = type === "AccessDeniedException";
  return {
    ...json(status, { __type: type, ...(message && { [isTitled ? "Message" : "message"]: message }) }),
    type: "application/x-amz-json-1.1",
  };
}
