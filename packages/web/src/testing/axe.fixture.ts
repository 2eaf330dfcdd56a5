import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** The colour rules of axe: only these can differ between themes. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** A theme, and the part of the page to check. */
interface Judged {
  readonly theme: "light" | "dark";
  /** True if only contrast is checked. */
  readonly isOnlyColours?: boolean;
  /** The part of the page; default: all of it. */
  readonly part?: string;
  /** A part to skip, which is checked elsewhere. */
  readonly without?: string;
}

/** The violations that axe finds (WCAG 2.2, A and AA) in both themes, in a part of the page or in all of it. */
export async function faultsOf(page: Page, part = "html"): Promise<readonly string[]> {
  const light = await faultsIn(page, { theme: "light", part });
  return [...light, ...(await faultsIn(page, { theme: "dark", part, isOnlyColours: true }))];
}

/** The violations in one theme. */
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
