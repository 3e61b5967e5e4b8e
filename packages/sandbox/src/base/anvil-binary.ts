import { createRequire } from "node:module";

/**
 * Returns the path of the binary in its platform package. It avoids the package's wrapper script, which would be
 * another process.
 */
export function anvilBinary(): string {
  const wrapper = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    return createRequire(wrapper).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
  } catch (cause) {
    throw new Error(`@foundry-rs/anvil has no binary for ${process.platform} on ${process.arch}`, { cause });
  }
}
