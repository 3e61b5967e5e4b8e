import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseBundle, signedPart } from "@attestd/proof";
import { signingBytes } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";

/** The yardstick of /verify: nothing but the verification of the signature, by one key object, for a while. */
const bundle = signedPart(parseBundle(JSON.parse(readFileSync(process.argv[2] as string, "utf8"))));
const key = Buffer.from(fromBase64(bundle.attestor.pqPublicKey));
const publicKey = createPublicKey({ key, format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
const message = signingBytes(bundle);
const signature = fromBase64(bundle.signature.sigBase64);

process.on("message", ({ seconds }: { seconds: number }) => {
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  let done = 0;
  for (; performance.now() < end; done++) {
    const fits = verify(null, message, publicKey, signature);
    if (!fits) throw new Error("the signature does not fit");
  }
  const { user, system } = process.cpuUsage(before);
  process.send?.({ done, cpu: user + system });
});
process.send?.({ ready: "" });
