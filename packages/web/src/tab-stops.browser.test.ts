import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

/** Maximum number of stops of Tab between the header and the message box. */
const MOST = 25;

const LINKS = Array.from({ length: 40 }, (_, place) => `[link ${place}](https://example.com/${place})`).join(" ");
const CODE = "Run this:\n\n```sh\nls\n```\n\n| a |\n|---|\n| b |";

/** The focused element, in a word or two. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: at } = document;
    return `${at?.tagName.toLowerCase()} ${at?.getAttribute("aria-label") || at?.id || at?.textContent?.slice(0, 30)}`;
  });

/** Presses a key until the focus reaches the wanted element. Returns the stops on the way. */
async function wayTo(page: Page, key: "Tab" | "Shift+Tab", end: (at: string) => boolean): Promise<readonly string[]> {
  const stops: string[] = [];
  for (;;) {
    await page.keyboard.press(key);
    const at = await focused(page);
    if (end(at)) return stops;
    stops.push(at);
    if (stops.length > 100) throw new Error(`It does not come to an end: ${stops.join(", ")}`);
  }
}

const isBox = (at: string) => at === "textarea Message";
const isHeader = (at: string) => at === "button Panels";

describe.runIf(chromiumPath)(`the way with the Tab key${whyNot}`, PATIENT, () => {
  const here = site();

  it("W92: at most 25 stops lie between the header and the message box, both ways, whatever the messages hold", async () => {
    const all = [
      "hello",
      LINKS,
      CODE,
      "read a b missing c",
      "look a b c",
      "one",
      "two",
      "three",
      CODE,
      "read a b c",
      LINKS,
    ];
    const { page, complaints } = await here.open(`/c/${await here.conversation(...all)}`);
    await articles(page).last().waitFor();
    const there = async () => {
      await page.getByRole("button", { name: "Panels" }).focus();
      return wayTo(page, "Tab", isBox);
    };
    const stops = await there();
    expect(stops.length, stops.join("\n")).toBeLessThanOrEqual(MOST);
    expect(stops[0]).toBe("a Skip the messages");
    for (const reached of ["article The agent", "button Copy the text", "button Answer again"])
      expect(stops).toContain(reached);
    const back = await wayTo(page, "Shift+Tab", isHeader);
    expect(back.length, back.join("\n")).toBeLessThanOrEqual(MOST);
    expect(back).toContain("article The agent");
    // The arrows move between messages: Tab reaches the content of each.
    for (const [words, reached] of [
      ["You said: Run this", "Copy the code"],
      ["You said: three", "Copy the text"],
    ] as const) {
      await articles(page).filter({ hasText: words }).last().focus();
      const way = await wayTo(page, "Tab", isBox);
      expect(way.length, way.join("\n")).toBeLessThanOrEqual(MOST);
      expect(way.join()).toContain(reached);
      const before = await there();
      expect(before.length, before.join("\n")).toBeLessThanOrEqual(MOST);
    }
    // Enter moves into a message with too much content.
    await articles(page).last().focus();
    await page.keyboard.press("Enter");
    expect(await focused(page)).toBe("a link 0");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("a link 1");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await focused(page)).toBe("article The agent");
    expect(complaints).toEqual([]);
  });

  it("W92: with the first of several waiting cards, and after its answer the next card", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello", LINKS)}`);
    await articles(page).last().waitFor();
    await write(page, `calls ${JSON.stringify(["ls", "pwd", "date"].map((command) => ({ command })))}`);
    const cards = page.getByRole("log").getByRole("group", { name: "Run this command?" });
    await eventually(() => cards.count()).toBe(3);
    for (let left = 3; left > 0; left--) {
      await page.getByRole("button", { name: "Panels" }).focus();
      const stops = await wayTo(page, "Tab", isBox);
      expect(stops.length, stops.join("\n")).toBeLessThanOrEqual(MOST);
      expect(stops.join()).toMatch(/Run this command\?.*Allow once.*Deny/);
      await cards.first().focus();
      await page.keyboard.press("Alt+d");
      await eventually(() => cards.count()).toBe(left - 1);
    }
  });

  it("W92: links lead past the list and past the messages", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const skip = async (name: string) => {
      const link = page.getByRole("link", { name });
      await link.focus();
      expect((await link.boundingBox())?.height).toBeGreaterThan(10);
      await page.keyboard.press("Enter");
      return focused(page);
    };
    expect(await skip("Skip to the messages")).toBe("article The agent");
    expect(await skip("Skip the messages")).toBe("textarea Message");
    expect(await skip("Skip to the message box")).toBe("textarea Message");
    expect(new URL(page.url()).hash).toBe("");
    await composer(page).press("Enter");
  });
});
