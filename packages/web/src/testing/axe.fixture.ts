import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** The rules of axe that look at colours: of two themes, nothing else can differ. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** A theme, and what of the page is judged in it. */
interface Judged {
  readonly theme: "light" | "dark";
  /** Only how its colours stand out. */
  readonly isOnlyColours?: boolean;
  /** The part of the page; all of it when absent. */
  readonly part?: string;
  /** What of the part is left out: it is judged elsewhere. */
  readonly without?: string;
}

/**
 * What axe finds fault with (WCAG 2.2, A and AA), in the light theme and in the dark one; in a part of the page, or in all
 * of it.
 */
export async function faultsOf(page: Page, part = "html"): Promise<readonly string[]> {
  const light = await faultsIn(page, { theme: "light", part });
  return [...light, ...(await faultsIn(page, { theme: "dark", part, isOnlyColours: true }))];
}

/** What axe finds fault with in one theme. */
export async function faultsIn(page: Page, judged: Judged): Promise<readonly string[]> {
  const { theme, isOnlyColours = false, part = "html", without } = judged;
  await page.emulateMedia({ colorScheme: theme });
  const axe = new AxeBuilder({ page }).include(part).setLegacyMode();
  if (without !== undefined) axe.exclude(without);
  if (isOnlyColours) axe.withRules(OF_COLOURS);
  else axe.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
