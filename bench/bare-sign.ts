import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** The yardstick of an attestation: nothing but one ML-DSA-65 and one ed25519 signature, again and again for a while. */
const pq = createPrivateKey({ key: randomBytes(32), format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
const { privateKey: ed25519 } = generateKeyPairSync("ed25519");
/** As long as what is signed: a bundle without its signature, and a transaction. */
const bundle = randomBytes(4000);
const transaction = randomBytes(500);

process.on("message", ({ seconds }: { seconds: number }) => {
  const end = performance.now() + seconds * 1000;
  let done = 0;
  for (; performance.now() < end; done++) {
    sign(null, bundle, pq);
    sign(null, transaction, ed25519);
  }
  process.send?.({ done });
});
process.send?.({ ready: "" });
