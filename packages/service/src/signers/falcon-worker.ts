import { createHash } from "node:crypto";
import { utf8 } from "@attestd/proof/encoding";
import { makeFalconKey, signFalcon } from "@attestd/proof/falcon";
import { answerJobs } from "../lib/workers/worker.ts";

/** Prefix of a mnemonic's 32 bytes: no other program derives the same key from them, so none can sign with it. */
const DERIVATION = utf8("attestd/falcon-1024/v1");
const SEED_BYTES = 48;

let key: ReturnType<typeof makeFalconKey> | undefined;

answerJobs(
  (name, [message]) => {
    if (!key) throw new Error("no key was shared");
    return name === "publicKey" ? key.publicKey : signFalcon(key.secretKey, message as Uint8Array);
  },
  (entropy) => {
    const seed = createHash("shake256", { outputLength: SEED_BYTES })
      .update(DERIVATION)
      .update(entropy as Uint8Array);
    key = makeFalconKey(new Uint8Array(seed.digest()));
    (entropy as Uint8Array).fill(0);
  },
);
