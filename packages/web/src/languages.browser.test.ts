import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

/** The side from which an element's text runs on the screen. */
const runsFrom = (element: Locator) =>
  element.evaluate((shown) => {
    const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    let text = texts.nextNode() as Text;
    while (text.data.trim() === "") text = texts.nextNode() as Text;
    const rightOf = (at: number) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect().right;
    };
    return rightOf(0) > rightOf(text.data.trimEnd().length - 1) ? "right" : "left";
  });

const MIXED = `hello

\u0645\u0631\u062d\u0628\u0627 banyan \u0628\u0627\u0644\u0639\u0627\u0644\u0645

- \u0623\u0648\u0644\u0627
- \u05e9\u05dc\u05d5\u05dd

> \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd

\`\`\`js
let a = "\u0645\u0631\u062d\u0628\u0627";
\`\`\`
`;

describe.runIf(chromiumPath)(`languages of the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W60: right-to-left text runs from the right in messages, the message box, lists and titles; code never does", async () => {
    const conversation = await here.conversation("hello");
    await here.ask("conversation.rename", { conversation, title: "\u0634\u062c\u0631\u0629 banyan" });
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).last().waitFor();
    await composer(page).fill("\u0645\u0631\u062d\u0628\u0627 hello");
    expect(await composer(page).evaluate((box) => getComputedStyle(box).direction)).toBe("rtl");
    await composer(page).fill("hello \u0645\u0631\u062d\u0628\u0627");
    expect(await composer(page).evaluate((box) => getComputedStyle(box).direction)).toBe("ltr");
    await write(page, `\u05e9\u05dc\u05d5\u05dd`);
    await eventually(() => articles(page).count()).toBe(4);
    expect(await runsFrom(articles(page).nth(2).locator("p").first())).toBe("right");
    expect(await runsFrom(page.getByRole("heading", { level: 1 }))).toBe("right");
    expect(
      await runsFrom(page.getByRole("link", { name: "\u0634\u062c\u0631\u0629 banyan" }).locator("span").first()),
    ).toBe("right");
    await write(page, MIXED);
    const answer = articles(page).last();
    await answer.locator("pre").getByText("let").waitFor();
    expect(await runsFrom(answer.locator("p").first())).toBe("left");
    expect(await runsFrom(answer.locator("p").nth(1))).toBe("right");
    for (const item of await answer.locator("li").all()) expect(await runsFrom(item)).toBe("right");
    const rightOf = (element: Element) => element.getBoundingClientRect().right;
    // The list's signs are to the right, in their own space.
    const [list, first] = [answer.locator("ul"), answer.locator("li").first()];
    expect((await list.evaluate(rightOf)) - (await first.evaluate(rightOf))).toBeGreaterThan(10);
    expect(await runsFrom(answer.locator("blockquote p"))).toBe("right");
    expect(await answer.locator("pre").evaluate((code) => getComputedStyle(code).direction)).toBe("ltr");
  });

  it.each([
    {
      locale: "de-DE",
      change: /Ändert src\/sum\.ts, 1 Zeile hinzugefügt, 1 Zeile entfernt/,
      broken: "Die Antwort brach ab",
    },
    { locale: "zh-CN", change: /修改 src\/sum\.ts, 新增 1 行, 删除 1 行/, broken: "回答中断了" },
    { locale: "ar-EG", change: /يغيّر .?src\/sum\.ts.?, أُضيف سطر, حُذف سطر/, broken: "انقطعت الإجابة" },
  ])("W77: changes and failures of a turn are described in $locale", async ({ locale, change, broken }) => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`, { locale });
    await articles(page).last().waitFor();
    const say = async (text: string) => {
      await page.locator("#composer").fill(text);
      await page.locator("#composer").press("Enter");
    };
    await say("edit");
    const head = page.locator("fieldset section > div").first();
    await eventually(() => head.innerText()).toMatch(change);
    // Text of the page follows its language, also where the call's own text keeps its order.
    const words = head.locator("span").last();
    expect(await words.evaluate((shown) => getComputedStyle(shown).unicodeBidi)).toBe("isolate");
    expect(await runsFrom(words)).toBe(locale.startsWith("ar") ? "right" : "left");
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/change-${locale}.png` });
    await page.locator("fieldset").press("Alt+d");
    await head.waitFor({ state: "detached" });
    await say("break");
    await page.getByText(broken, { exact: true }).first().waitFor();
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/broken-${locale}.png` });
  });

  it("W77: the page speaks the browser's first known language, until the user chooses another for good", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}?panel=settings`, { locale: "de-AT" });
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByPlaceholder("Dem Agenten schreiben").waitFor();
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
      "de",
      "ltr",
    ]);
    // Only the file of the used language is loaded.
    expect(loaded.filter((path) => /\/(de|zh|ar)-[^/]+\.js$/.test(path)).map((path) => path.slice(8, 10))).toEqual([
      "de",
    ]);
    const box = page.locator("#composer");
    await box.fill("noch nicht gesagt");
    await page.getByLabel("Sprache").selectOption("中文");
    await page.getByPlaceholder("给智能体写消息").waitFor();
    expect(await box.inputValue()).toBe("noch nicht gesagt");
    await page.reload();
    await page.getByPlaceholder("给智能体写消息").waitFor();
    await page.getByLabel("语言").selectOption("");
    await page.getByPlaceholder("Dem Agenten schreiben").waitFor();
  });

  it("W77, W76: in Arabic the page is laid out from the right, code and files from the left, and axe finds nothing", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, { locale: "ar" });
    await articles(page).last().waitFor();
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
      "ar",
      "rtl",
    ]);
    const leftOf = (element: Element) => element.getBoundingClientRect().left;
    expect(await page.getByRole("navigation").first().evaluate(leftOf)).toBeGreaterThan(
      await page.getByRole("main").evaluate(leftOf),
    );
    await page.locator("#composer").fill("edit");
    await page.locator("#composer").press("Enter");
    const change = page.getByRole("log").getByRole("region", { name: "ما سيُشغَّل" });
    await change.getByText("return").first().waitFor();
    expect(await change.evaluate((lines) => getComputedStyle(lines).direction)).toBe("ltr");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: /السماح مرة واحدة/ }).click();
    await articles(page).last().getByText("That is done.").waitFor();
    // In a right-to-left language, the previous version is to the right.
    await articles(page).first().getByRole("button", { name: /تحرير/ }).click();
    await page.getByRole("button", { name: "إرسال كنسخة جديدة" }).click();
    await articles(page).first().getByText("2/2").waitFor();
    await articles(page).first().focus();
    await page.keyboard.press("ArrowRight");
    await articles(page).first().getByText("1/2").waitFor();
  });
});
