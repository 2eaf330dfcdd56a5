import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

/** A table that is wider than a narrow page. */
const TABLE = [
  "Here it is:\n",
  "| station | what happens in the morning | metres |",
  "|---|---|---:|",
  "| Rotterdam | the water rises and rises and rises | 2.5 |",
  `| Vlissingen | ${"w".repeat(60)} | 4.25 |`,
].join("\n");

const box = async (element: Locator) => {
  const found = await element.boundingBox();
  if (!found) throw new Error("It is not to be seen.");
  return found;
};

/** Returns true if an element shows all of its content. */
const isWhole = (element: Locator) =>
  element.evaluate((it) => it.scrollHeight <= it.clientHeight && it.scrollWidth <= it.clientWidth);

describe.runIf(chromiumPath)(`the page where there is little room${whyNot}`, PATIENT, () => {
  const here = site();
  const narrow = { viewport: { width: 320, height: 700 } };

  it("W45: a wide table scrolls by itself: its words are not broken, and numbers stand where they are said to", async () => {
    const { page } = await here.open(`/c/${await here.conversation(TABLE)}`, narrow);
    const cell = (text: string) => page.getByRole("cell", { name: text, exact: true });
    await cell("Vlissingen").waitFor();
    expect((await box(cell("Rotterdam"))).height).toBeLessThan(2 * 24);
    const table = page.getByRole("region", { name: "Table" });
    expect(await table.evaluate((it) => it.scrollWidth > it.clientWidth)).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect(await cell("2.5").evaluate((it) => getComputedStyle(it).textAlign)).toBe("right");
  });

  it("W45: the buttons of a message cover none of its text", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`, narrow);
    const answer = articles(page).last();
    await answer.hover();
    await answer.getByRole("button", { name: "Show tokens and cost" }).click();
    const spent = await box(answer.getByText(/scripted\/model/));
    const copy = await box(answer.getByRole("button", { name: "Copy the text" }));
    expect(copy.y).toBeGreaterThanOrEqual(spent.y + spent.height);
  });

  it("W32: a command that waits to be allowed is seen whole", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`, narrow);
    await write(page, "shell");
    await page.getByRole("log").getByRole("button", { name: "Edit first" }).click();
    const command = page.getByRole("textbox", { name: "command" });
    await command.fill("one word after the other ".repeat(10));
    await eventually(() => isWhole(command)).toBe(true);
    await page.getByRole("button", { name: /Deny/ }).click();
  });

  it("W43: the message box shows up to ten lines whole, and whole names of commands", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`, narrow);
    await composer(page).fill("one word after the other ".repeat(8));
    await eventually(() => isWhole(composer(page))).toBe(true);
    await composer(page).fill("one word after the other ".repeat(80));
    await eventually(async () => (await box(composer(page))).height).toBe(250);
    await composer(page).fill("/");
    expect(await isWhole(page.getByRole("option").getByText("/resume"))).toBe(true);
  });

  it("W31: the head of a changed file has the width of its panel", async () => {
    const { page } = await here.open(`/c/${await here.conversation("change src/sum.ts")}?panel=changes`, narrow);
    const panel = page.getByRole("complementary");
    const head = panel.getByRole("button", { name: /src\/sum\.ts/ });
    await head.waitFor();
    expect((await box(head)).width).toBe((await box(panel)).width);
  });

  it("W76: on a touch screen, a tap on a message shows its buttons; the last message always shows them", async () => {
    const conversation = await here.conversation("hello", "and again");
    const touched = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await here.open(`/c/${conversation}`, touched);
    const copies = articles(page).getByRole("button", { name: "Copy the text" });
    await articles(page).nth(3).waitFor();
    expect(await copies.count()).toBe(1);
    await articles(page).first().tap();
    await articles(page).first().getByRole("button", { name: "Edit message" }).tap();
    await page.getByRole("button", { name: "Send as a new version" }).waitFor();
  });
});
