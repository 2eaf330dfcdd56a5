import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** The rules of axe that look at colours: of two themes, nothing else can differ. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/**
 * What axe finds fault with (WCAG 2.2, A and AA), in the light theme and in the dark one; in a part of the page, or in all
 * of it.
 */
export async function faultsOf(page: Page, part = "html"): Promise<readonly string[]> {
  const axe = () => new AxeBuilder({ page }).include(part).setLegacyMode();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await axe().withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]).analyze();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axe().withRules(OF_COLOURS).analyze();
  return Object.entries({ light, dark }).flatMap(([theme, { violations }]) =>
    violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`),
  );
}
