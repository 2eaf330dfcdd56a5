import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { PATIENT } from "./testing/site.fixture.ts";
import { STATES } from "./testing/states.fixture.ts";
import { Walk } from "./testing/walk.fixture.ts";

/** The main states of the page, in the order of the visit. */
const MAIN = ["empty", "failed", "approval", "panel-branches", "search"];

describe.runIf(chromiumPath)(`the page for a screen reader${whyNot}`, PATIENT, () => {
  it("W76: roles, names and their order equal the recorded files, in the five main states", async () => {
    await using walk = await Walk.begin({ viewport: { width: 1280, height: 900 } });
    for (const name of MAIN)
      await expect
        .soft(await walk.to(name, (page) => treeOf(page, STATES[name]?.part)))
        .toMatchFileSnapshot(`testing/accessible/${name}.yaml`);
  });
});

/** The tree of roles and names in the changing part of a state, without values that differ between runs. */
async function treeOf(page: Page, part = "main"): Promise<string> {
  const tree = await page.locator(part).ariaSnapshot();
  const masked = tree
    .replace(/\/c\/\w+/g, "/c/CONVERSATION")
    .replace(/\bleaf=\w+/g, "leaf=MESSAGE")
    .replace(/#m-\w+/g, "#m-MESSAGE")
    .replace(/\b\d+ \w{3} \d{4}, \d\d:\d\d\b/g, "THEN")
    .replace(/\b\d+(\.\d+)? (ms|s|min)\b/g, "SO LONG");
  return `${masked}\n`;
}
