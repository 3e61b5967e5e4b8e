import { accountOf, type SandboxAccount } from "../src/algorand/account.ts";
import { makeSecretKey } from "../src/secret-key.ts";

/** Makes an account with random keys. */
export function makeAccount(): SandboxAccount {
  return accountOf(makeSecretKey());
}
