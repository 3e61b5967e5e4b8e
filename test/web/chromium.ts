import type { Browser, LaunchOptions } from "playwright-core";

/**
 * Starts Chromium, which npm brings.
 * @throws Error where it cannot run
 */
export async function launchChromium(options: Pick<LaunchOptions, "env"> = {}): Promise<Browser> {
  // By this its package brings the libraries that a bare machine lacks; it reads this when it is loaded.
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs22.x";
  const [{ default: packaged }, { chromium }] = await Promise.all([
    import("@sparticuz/chromium"),
    import("playwright-core"),
  ]);
  // Its own arguments switch web security off.
  const args = ["--headless=shell", "--no-sandbox", "--no-zygote"];
  return chromium.launch({ executablePath: await packaged.executablePath(), args, ...options });
}
