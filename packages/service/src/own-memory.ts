/**
 * Bytes in memory of their own, for what is kept: a view of one of Node's pools (`Buffer.concat`, `Buffer.from`) keeps all of
 * that pool, 64 KiB, for a few hundred bytes.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) return new Uint8Array(buffer);
  const own = Buffer.allocUnsafeSlow(bytes.byteLength);
  own.set(bytes);
  return own;
}
