import { type KeyHistory, nobleCrypto, parseBundle, signedPart, verify } from "@attestd/proof";
import { signingBytes } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";

/** What Chromium runs: the two sides of `browser.ts`, each for as many bundles as it is told. */
declare global {
  function verifyBundle(text: string, history: KeyHistory, times: number): number;
  function verifySignatureAlone(text: string, times: number): number;
}

globalThis.verifyBundle = (text, history, times) => {
  const bytes = new TextEncoder().encode(text);
  return timedLoop(times, () => verify(bytes, { trust: history }).verified);
};

globalThis.verifySignatureAlone = (text, times) => {
  const bundle = signedPart(parseBundle(JSON.parse(text)));
  const key = fromBase64(bundle.attestor.pqPublicKey);
  const message = signingBytes(bundle);
  const signature = fromBase64(bundle.signature.sigBase64);
  return timedLoop(times, () => nobleCrypto.mldsa65.verify(key, message, signature));
};

/** @returns ms */
function timedLoop(times: number, holds: () => boolean): number {
  const start = performance.now();
  for (let i = 0; i < times; i++) if (!holds()) throw new Error("not verified");
  return performance.now() - start;
}
