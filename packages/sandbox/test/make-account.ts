import { accountOf, makeSecretKey, type SandboxAccount } from "../src/algorand/account.ts";

/** Makes an account with random keys. */
export function makeAccount(): SandboxAccount {
  return accountOf(makeSecretKey());
}
