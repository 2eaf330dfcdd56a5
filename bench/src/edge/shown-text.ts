import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Fix } from "./attempts.ts";

const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The program of Chromium; undefined if there is none. */
export const chromiumPath = [process.env.CHROMIUM ?? "", ...BROWSERS].find((path) => existsSync(path));

/** Returns the text of the dependency that a browser outside of the sandbox shows. */
export async function textInChromium(address: string): Promise<string> {
  const browser = await chromium.launch({ ...(chromiumPath !== undefined && { executablePath: chromiumPath }) });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction("document.querySelector('#leaf')?.textContent !== 'none'");
    return (await page.textContent("#leaf")) ?? "";
  } finally {
    await browser.close();
  }
}

/** Returns what of a fix did not work, as a sentence; undefined if all of it worked. */
export function faultOf({ before, after, fetched, shown }: Fix): string | undefined {
  if (!before.includes("ERR_MODULE_NOT_FOUND")) return `The test did not fail before the fix:\n${before}`;
  if (!/\bpass 1$/m.test(after)) return `The test did not pass after the fix:\n${after}`;
  if (!fetched.includes("leaf-names")) return `The tool fetch did not show the server's text:\n${fetched}`;
  return shown === "oak" ? undefined : `Chromium showed: ${shown}`;
}
