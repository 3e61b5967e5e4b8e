import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  type Address,
  createWalletClient,
  type Hex,
  hashTypedData,
  hexToSignature,
  http,
  keccak256,
  parseAbi,
  publicActions,
  recoverTypedDataAddress,
  toHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORIZATION_TYPES } from "../../../../test/helpers/eip3009.ts";
import { CONTRACTS, compile, serialize } from "../../token/compile.ts";
import { baseChain } from "./chain.ts";
import { type BaseNetwork, startBase } from "./network.ts";
import { USDC_DOMAIN } from "./token.ts";

const ABI = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function balanceOf(address) view returns (uint256)",
  "function mint(address to, uint256 value)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function paused() view returns (bool)",
  "function isBlacklisted(address account) view returns (bool)",
  "function pauser() view returns (address)",
  "function blacklister() view returns (address)",
  "function pause()",
  "function unpause()",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

let base: BaseNetwork;

beforeAll(async () => {
  base = await startBase({ blockMs: 100 });
});
afterAll(() => base.close());

const domain = () => ({ ...USDC_DOMAIN, chainId: 8453, verifyingContract: base.usdc.address });
const relay = () =>
  createWalletClient({
    account: privateKeyToAccount(base.facilitator.privateKey),
    chain: baseChain(base.rpcUrl),
    transport: http(),
    pollingInterval: 20,
  }).extend(publicActions);
const token = () => ({ address: base.usdc.address, abi: ABI }) as const;

interface Authorization {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

function authorization(change: Partial<Authorization> = {}): Authorization {
  const nonce = toHex(randomBytes(32));
  return {
    from: base.payer.address,
    to: base.payTo.address,
    value: 1000n,
    validAfter: 0n,
    validBefore: 2n ** 40n,
    nonce,
    ...change,
  };
}

const sign = (message: Authorization) =>
  privateKeyToAccount(base.payer.privateKey).signTypedData({
    domain: domain(),
    types: AUTHORIZATION_TYPES,
    primaryType: "TransferWithAuthorization",
    message,
  });

const fields = ({ from, to, value, validAfter, validBefore, nonce }: Authorization) =>
  [from, to, value, validAfter, validBefore, nonce] as const;

async function transfer(message: Authorization, signature: Hex) {
  const args = [...fields(message), signature] as const;
  const hash = await relay().writeContract({ ...token(), functionName: "transferWithAuthorization", args });
  return relay().waitForTransactionReceipt({ hash });
}

test("has the name, version and EIP-712 domain of an offer", async () => {
  const read = (functionName: "name" | "version" | "symbol" | "decimals" | "DOMAIN_SEPARATOR") =>
    relay().readContract({ ...token(), functionName });
  expect(await read("name")).toBe("USD Coin (attestd sandbox)");
  expect(await read("version")).toBe("2");
  expect(await read("symbol")).toBe("USDC");
  expect(await read("decimals")).toBe(6);
  expect(await read("DOMAIN_SEPARATOR")).toBe(separator(domain()));
});

/** EIP-712's domain separator: the hash of the domain as a struct. */
function separator(domain: { name: string; version: string; chainId: number; verifyingContract: Address }): Hex {
  const type = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
  const word = (value: Hex) => value.slice(2).padStart(64, "0");
  const parts = [
    keccak256(toHex(type)),
    keccak256(toHex(domain.name)),
    keccak256(toHex(domain.version)),
    toHex(domain.chainId),
    domain.verifyingContract.toLowerCase() as Hex,
  ];
  return keccak256(`0x${parts.map(word).join("")}`);
}

test("transfers once by an authorization, with either form of signature, and emits two events", async () => {
  const message = authorization();
  const used = () =>
    relay().readContract({ ...token(), functionName: "authorizationState", args: [message.from, message.nonce] });
  expect(await used()).toBe(false);
  const receipt = await transfer(message, await sign(message));
  expect(await used()).toBe(true);
  const logs = await relay().getContractEvents({ ...token(), blockHash: receipt.blockHash });
  expect(logs.map(({ eventName, args }) => ({ eventName, args }))).toEqual([
    { eventName: "AuthorizationUsed", args: { authorizer: message.from, nonce: message.nonce } },
    { eventName: "Transfer", args: { from: message.from, to: message.to, value: 1000n } },
  ]);

  const other = authorization();
  const { r, s, v } = hexToSignature(await sign(other));
  const args = [...fields(other), Number(v), r, s] as const;
  await relay().simulateContract({ ...token(), functionName: "transferWithAuthorization", args });
});

describe("reverts with Circle's messages for", () => {
  const refusal = async (message: Authorization, signature: Hex) => {
    const args = [...fields(message), signature] as const;
    const simulation = relay().simulateContract({ ...token(), functionName: "transferWithAuthorization", args });
    return simulation.then(
      () => "accepted",
      (error) => error.walk((cause: unknown) => (cause as { reason?: string }).reason !== undefined)?.reason,
    );
  };
  const refused = async (change: Partial<Authorization>) => {
    const message = authorization(change);
    return refusal(message, await sign(message));
  };

  test("an authorization that is expired, not yet valid, used, canceled or too large", async () => {
    expect(await refused({ validBefore: 1n })).toBe("FiatTokenV2: authorization is expired");
    expect(await refused({ validAfter: 2n ** 39n })).toBe("FiatTokenV2: authorization is not yet valid");
    expect(await refused({ value: 10n ** 12n })).toBe("ERC20: transfer amount exceeds balance");

    const used = authorization();
    await transfer(used, await sign(used));
    expect(await refusal(used, await sign(used))).toBe("FiatTokenV2: authorization is used or canceled");

    const canceled = authorization();
    const receipt = await cancel(canceled);
    const [log] = await relay().getContractEvents({ ...token(), blockHash: receipt.blockHash });
    expect(log).toMatchObject({ eventName: "AuthorizationCanceled", args: { nonce: canceled.nonce } });
    expect(await refusal(canceled, await sign(canceled))).toBe("FiatTokenV2: authorization is used or canceled");
  });

  test("another account's signature, and one over other fields", async () => {
    const message = authorization();
    const stranger = privateKeyToAccount(generatePrivateKey());
    const typed = {
      domain: domain(),
      types: AUTHORIZATION_TYPES,
      primaryType: "TransferWithAuthorization",
      message,
    } as const;
    expect(await refusal(message, await stranger.signTypedData(typed))).toBe("FiatTokenV2: invalid signature");
    const signature = await sign(message);
    expect(await refusal({ ...message, value: 1001n }, signature)).toBe("FiatTokenV2: invalid signature");
    expect(await refusal(message, signature)).toBe("accepted");
  });

  test("a caller that is not the payee, and one that is not the minter", async () => {
    const message = authorization();
    const args = [...fields(message), await sign(message)] as const;
    await expect(
      relay().simulateContract({ ...token(), functionName: "receiveWithAuthorization", args }),
    ).rejects.toThrow("FiatTokenV2: caller must be the payee");
    await expect(
      relay().simulateContract({ ...token(), functionName: "mint", args: [base.payer.address, 1n] }),
    ).rejects.toThrow("FiatToken: caller is not a minter");
  });
});

/** Sends what only the token's keeper may send. */
async function asKeeper(
  call: { functionName: "pause" | "unpause" } | { functionName: "blacklist" | "unBlacklist"; args: [Address] },
) {
  const keeper = await relay().readContract({ ...token(), functionName: "pauser" });
  const rpc = createWalletClient({ account: keeper, chain: baseChain(base.rpcUrl), transport: http() });
  await rpc.request({ method: "anvil_impersonateAccount", params: [keeper] } as never);
  const hash = await rpc.writeContract({ ...token(), ...call } as never);
  expect((await relay().waitForTransactionReceipt({ hash })).status).toBe("success");
}

describe("as FiatToken does", () => {
  const refusalOf = (simulation: Promise<unknown>) =>
    simulation.then(
      () => "accepted",
      (error) => error.walk((cause: unknown) => (cause as { reason?: string }).reason !== undefined)?.reason,
    );
  /** Tries each way to move the payer's money, and to cancel an authorization. */
  async function refusals() {
    const message = authorization();
    const signature = await sign(message);
    const { r, s, v } = hexToSignature(signature);
    const account = base.payer.address;
    return {
      bytes: await refusalOf(
        relay().simulateContract({
          ...token(),
          functionName: "transferWithAuthorization",
          args: [...fields(message), signature],
        }),
      ),
      parts: await refusalOf(
        relay().simulateContract({
          ...token(),
          functionName: "transferWithAuthorization",
          args: [...fields(message), Number(v), r, s],
        }),
      ),
      transfer: await refusalOf(
        relay().simulateContract({ ...token(), account, functionName: "transfer", args: [base.payTo.address, 1n] }),
      ),
      cancel: await refusalOf(
        cancellation(message).then((args) =>
          relay().simulateContract({ ...token(), functionName: "cancelAuthorization", args }),
        ),
      ),
    };
  }
  const accepted = { bytes: "accepted", parts: "accepted", transfer: "accepted", cancel: "accepted" };
  const isBlacklisted = (account: Address) =>
    relay().readContract({ ...token(), functionName: "isBlacklisted", args: [account] });

  test("a paused token moves nothing and cancels nothing, until it is unpaused", async () => {
    const paused = () => relay().readContract({ ...token(), functionName: "paused" });
    expect([await paused(), await refusals()]).toEqual([false, accepted]);
    await asKeeper({ functionName: "pause" });
    const why = "Pausable: paused";
    expect([await paused(), await refusals()]).toEqual([true, { bytes: why, parts: why, transfer: why, cancel: why }]);
    await asKeeper({ functionName: "unpause" });
    expect([await paused(), await refusals()]).toEqual([false, accepted]);
  });

  test.each(["payee", "payer"] as const)(
    "nothing moves to or from an account on the blacklist: the %s",
    async (who) => {
      const account = who === "payee" ? base.payTo.address : base.payer.address;
      await asKeeper({ functionName: "blacklist", args: [account] });
      const why = "Blacklistable: account is blacklisted";
      expect([await isBlacklisted(account), await refusals()]).toEqual([
        true,
        { ...accepted, bytes: why, parts: why, transfer: why },
      ]);
      await asKeeper({ functionName: "unBlacklist", args: [account] });
      expect([await isBlacklisted(account), await refusals()]).toEqual([false, accepted]);
    },
  );

  test("nobody else pauses it or keeps its blacklist", async () => {
    const call = { ...token(), args: [] } as const;
    expect(await refusalOf(relay().simulateContract({ ...call, functionName: "pause" }))).toBe(
      "Pausable: caller is not the pauser",
    );
    expect(
      await refusalOf(relay().simulateContract({ ...token(), functionName: "blacklist", args: [base.payTo.address] })),
    ).toBe("Blacklistable: caller is not the blacklister");
  });
});

async function cancel(message: Authorization) {
  const args = await cancellation(message);
  const hash = await relay().writeContract({ ...token(), functionName: "cancelAuthorization", args });
  return relay().waitForTransactionReceipt({ hash });
}

async function cancellation({ from, nonce }: Authorization) {
  const message = { authorizer: from, nonce };
  const account = privateKeyToAccount(base.payer.privateKey);
  const typed = { domain: domain(), types: AUTHORIZATION_TYPES, primaryType: "CancelAuthorization", message } as const;
  const { r, s, v } = hexToSignature(await account.signTypedData(typed));
  return [from, nonce, Number(v), r, s] as const;
}

test("an authorization for this token is not valid under the domain of USDC on Base", async () => {
  const message = authorization();
  const signature = await sign(message);
  const under = (name: string) => ({
    domain: { ...domain(), name },
    types: AUTHORIZATION_TYPES,
    primaryType: "TransferWithAuthorization" as const,
    message,
  });
  expect(await recoverTypedDataAddress({ ...under(USDC_DOMAIN.name), signature })).toBe(base.payer.address);
  expect(await recoverTypedDataAddress({ ...under("USD Coin"), signature })).not.toBe(base.payer.address);
  expect(hashTypedData(under("USD Coin"))).not.toBe(hashTypedData(under(USDC_DOMAIN.name)));
});

const solc = installed("solc") && installed("@openzeppelin/contracts/package.json");
if (!solc) console.log("token.test.ts: solc is not installed, the contracts are not compiled again");
test.skipIf(!solc)("the committed code is compiled from the committed source", () => {
  for (const name of CONTRACTS) {
    const committed = readFileSync(new URL(`../../token/${name}.compiled.json`, import.meta.url), "utf8");
    expect(committed, name).toBe(serialize(compile(name)));
  }
});

function installed(module: string): boolean {
  try {
    createRequire(import.meta.url).resolve(module);
    return true;
  } catch {
    return false;
  }
}
