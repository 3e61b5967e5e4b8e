import type { Browser, LaunchOptions } from "playwright-core";

/**
 * Starts Chromium from its npm package.
 * @throws Error when it cannot run
 */
export async function launchChromium(options: Pick<LaunchOptions, "env"> = {}): Promise<Browser> {
  // The package reads this when it is loaded, and then brings libraries that a bare machine lacks.
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs22.x";
  const [{ default: packaged }, { chromium }] = await Promise.all([
    import("@sparticuz/chromium"),
    import("playwright-core"),
  ]);
  // The package's own arguments would switch web security off.
  const args = ["--headless=shell", "--no-sandbox", "--disable-gpu"];
  return chromium.launch({ executablePath: await packaged.executablePath(), args, ...options });
}
