/**
 * Copies bytes that will be kept. A view into one of Node's pools (`Buffer.concat`, `Buffer.from`) would keep the whole
 * pool, 64 KiB, for a few hundred bytes.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) return new Uint8Array(buffer);
  const own = Buffer.allocUnsafeSlow(bytes.byteLength);
  own.set(bytes);
  return own;
}
