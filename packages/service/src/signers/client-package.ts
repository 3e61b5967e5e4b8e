import packageJson from "../../package.json" with { type: "json" };
import { configInvalid } from "../config/config.ts";

/** A provider's own client. The operator installs it: a deployment with its keys elsewhere does not need it. */
export type ClientPackage = keyof typeof packageJson.peerDependencies;

/**
 * Loads a provider's client.
 *
 * @param load imports it
 * @throws config_invalid with the command that installs it
 */
export async function loadClient<T>(name: ClientPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
    throw configInvalid(`The signer needs the package ${name}, which is not installed. ${installation(name)}`);
  }
}

function installation(name: ClientPackage): string {
  const command = `npm install --no-save --omit=dev ${name}@${packageJson.peerDependencies[name]}`;
  return `Install it in attestd's folder, after each "npm ci": ${command}`;
}
