import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/**
 * The yardstick of an attestation: nothing but signatures by the named algorithms, one after the other, again and again for a
 * while.
 */
const seed = randomBytes(32);
/** Each with something to sign: as long as a bundle without its signature, and as a transaction. */
const SIGNERS: Record<string, [key: KeyObject, message: Buffer]> = {
  "ml-dsa-65": [createPrivateKey({ key: seed, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" }), randomBytes(4000)],
  ed25519: [generateKeyPairSync("ed25519").privateKey, randomBytes(500)],
};
const signers = process.argv.slice(2).map((name) => SIGNERS[name] as [KeyObject, Buffer]);

process.on("message", ({ seconds }: { seconds: number }) => {
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  let done = 0;
  for (; performance.now() < end; done++) for (const [key, message] of signers) sign(null, message, key);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ done, cpu: user + system });
});
process.send?.({ ready: "" });
