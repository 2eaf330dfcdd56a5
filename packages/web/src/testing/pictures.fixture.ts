// Takes the screenshots in docs/ with a real server, a real browser and a scripted model. Run with `npm run pictures -w
// @banyan/web` after changes of the page's look. With a folder, takes every state, or the named ones, in five sizes and both
// themes.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { builtPage } from "./built-page.fixture.ts";
import { STATES } from "./states.fixture.ts";
import { Walk } from "./walk.fixture.ts";

const [folder, ...chosen] = process.argv.slice(2);
const docs = fileURLToPath(new URL("../../../../docs/", import.meta.url));

/** A window of 1280 x 1024 at 400 %, a phone, a tablet, and screens. */
const SIZES = [
  [320, 256],
  [390, 844],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
] as const;

const THEMES = ["light", "dark"] as const;

/** States that failed. */
const failed: string[] = [];

async function shoot(page: Page, path: string): Promise<void> {
  // The machine's default font must not change the screenshot.
  await page.addStyleTag({
    content: 'body { font-family: "Inter", "Helvetica Neue", "Liberation Sans", Arial, sans-serif }',
  });
  // Wait until code is highlighted and the view is in place.
  await sleep(500);
  await page.screenshot({ path });
}

try {
  if (folder === undefined) {
    await using walk = await Walk.begin({
      viewport: { width: 1440, height: 930 },
      deviceScaleFactor: 1.25,
      bypassCSP: true,
    });
    for (const [name, file, colorScheme] of [
      ["panel-map", "page-tree.png", "light"],
      ["approval", "page-conversation.png", "dark"],
      ["panel-compare", "page-branches.png", "light"],
    ] as const) {
      await walk.to(name, async (page) => {
        await page.emulateMedia({ colorScheme });
        await shoot(page, join(docs, file));
      });
    }
  } else {
    mkdirSync(folder, { recursive: true });
    await using walk = await Walk.begin({ bypassCSP: true });
    for (const name of chosen.length > 0 ? chosen : Object.keys(STATES)) {
      for (const [width, height] of SIZES) {
        await (await walk.page(STATES[name]?.who ?? "owner")).setViewportSize({ width, height });
        await walk
          .to(name, async (page) => {
            for (const colorScheme of THEMES) {
              await page.emulateMedia({ colorScheme });
              await shoot(page, join(folder, `${name}-${width}-${colorScheme}.png`));
            }
          })
          .catch((error) => failed.push(`${name} at ${width}: ${error}`));
      }
    }
  }
  if (failed.length > 0) throw new Error(failed.join("\n"));
} finally {
  const page = await builtPage();
  rmSync(page, { recursive: true, force: true });
  rmSync(`${page}-claim`, { recursive: true, force: true });
}
