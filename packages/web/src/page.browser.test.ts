import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { builtPage } from "./testing/built-page.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { escapist, outside } from "./testing/outside.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((texts) => texts.join("\n"));

/** An image of one pixel. */
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Two diagrams: one tries to run code, and one is invalid. */
const DIAGRAMS = `draw

\`\`\`mermaid
%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "} body { display: none } {"}}%%
graph TD
  A["Acorn <img src=x onerror='window.harmed = true'>"] --> B[Oak]
  click B href "javascript:window.harmed = true"
\`\`\`

\`\`\`mermaid
graph nowhere -->
\`\`\`
`;

/** Maximum compressed size of the JavaScript that the page needs before it is usable, in bytes. */
const LARGEST_START = 65_000;

describe("the built page", () => {
  it(
    "W78: is at most 5 MB in all",
    async () => {
      const page = await builtPage();
      const files = readdirSync(page, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const all = files.reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
      expect(all).toBeLessThan(5 * 1024 * 1024);
    },
    PATIENT.timeout,
  );

  it(
    "W78: needs at most 65 kB of JavaScript before it can be used, in Brotli",
    async () => {
      const page = await builtPage();
      // The list includes imported scripts: no script waits for another one to be parsed.
      const scripts = readFileSync(join(page, "index.html"), "utf8").matchAll(/<script[^>]* src="([^"]+)"/g);
      const sizes = [...scripts].map(([, path = ""]) => brotliCompressSync(readFileSync(join(page, path))).length);
      const sum = sizes.reduce((all, size) => all + size, 0);
      expect(sum).toBeGreaterThan(30_000);
      expect(sum).toBeLessThan(LARGEST_START);
    },
    PATIENT.timeout,
  );
});

describe.runIf(chromiumPath)(`the page as a whole${whyNot}`, PATIENT, () => {
  const here = site();

  async function begin(page: Page, text: string): Promise<void> {
    await page.locator("#composer:focus").waitFor();
    await write(page, text);
    await page.waitForURL(/\/c\//);
  }

  it("W59, W63, W64, W66: on the first page one writes, with files and a model of one's choice; examples send nothing", async () => {
    const { page, complaints } = await here.open("/", { viewport: { width: 390, height: 844 } });
    await page.locator("#composer:focus").waitFor();
    await page.getByRole("list", { name: "Examples" }).getByRole("button").nth(1).click();
    expect(await composer(page).inputValue()).toContain("src/sum");
    expect(new URL(page.url()).pathname).toBe("/");
    await page.getByRole("button", { name: "Model: scripted/model" }).click();
    await page.getByRole("searchbox", { name: "Search, or type a model name" }).fill("second");
    await page.getByRole("list", { name: "Available models" }).getByText("scripted/second").click();
    const picture = Buffer.from(PICTURE, "base64");
    await page.getByLabel("Files to attach").setInputFiles([
      { name: "dot.png", mimeType: "image/png", buffer: picture },
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("a line of the notes") },
      { name: "odd.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 255, 0]) },
    ]);
    const files = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
    await eventually(() => files.allInnerTexts()).toEqual([
      expect.stringContaining("dot.png"),
      expect.stringContaining("notes.txt"),
    ]);
    await page.getByRole("alert").getByText("Can't attach odd.bin").waitFor();
    await page.getByText("scripted/second may not read images.").waitFor();
    await page.getByRole("button", { name: "Remove notes.txt" }).click();
    await page
      .getByLabel("Files to attach")
      .setInputFiles({ name: "list.md", mimeType: "", buffer: Buffer.from("# A list") });
    await eventually(() => files.count()).toBe(2);
    // Existing files that the message names are attached, when their name is complete.
    await composer(page).fill("what is @src/sum.ts, @src/ and @nobody, asks me@a.example?");
    await eventually(() => files.allInnerTexts()).toEqual([
      expect.stringContaining("dot.png"),
      expect.stringContaining("list.md"),
      "src/sum.ts",
      "src/",
    ]);
    await page.getByRole("button", { name: "Remove src/sum.ts" }).click();
    await eventually(() => composer(page).inputValue()).toBe("what is , @src/ and @nobody, asks me@a.example?");
    await write(page, "what is this?");
    await page.waitForURL(/\/c\//);
    await eventually(() => said(page)).toContain("You said: what is this?");
    const asked = articles(page).first();
    expect(
      await asked.getByRole("img", { name: "dot.png" }).evaluate((it) => (it as HTMLImageElement).naturalWidth),
    ).toBe(1);
    // An attached text is folded, and not part of the message's text.
    expect(await asked.getByText("# A list").isVisible()).toBe(false);
    await asked.getByText("list.md", { exact: true }).click();
    await asked.getByText("# A list").waitFor();
    await page.getByRole("button", { name: "Model: scripted/second" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("S12: a model's answer stays text: no script, no foreign picture, no violation of the policy", async () => {
    const conversation = await here.conversation("hello");
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(`http://${here.link.host}/`)) foreign.push(request.url());
    });
    await articles(page).last().waitFor();
    await write(page, "hostile");
    await eventually(() => said(page)).toContain("window.harmed = true");
    await page.getByRole("button", { name: "Show image from 127.0.0.1:9" }).waitFor();
    expect(await said(page)).toContain("http://127.0.0.1:9/markdown.png");
    expect(await said(page)).toContain("[31mred");
    expect(await page.locator("article script, article iframe, article img").count()).toBe(0);
    // Tags for the look of text work (W57), and have no attributes.
    expect(await page.locator("article b").evaluateAll((all) => all.map((it) => it.getAttributeNames()))).toEqual([[]]);
    expect(await page.getByRole("link", { name: "a link" }).count()).toBe(0);
    expect(await page.evaluate(() => "harmed" in window)).toBe(false);
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("W58: a diagram is drawn when it is whole, as a picture, with what draws it loaded only then; a wrong one stays code", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("hello")}`);
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await articles(page).last().waitFor();
    await page.waitForLoadState("networkidle");
    expect(loaded.filter((path) => /mermaid/.test(path))).toEqual([]);
    await write(page, DIAGRAMS);
    const picture = articles(page)
      .last()
      .getByRole("img", { name: /Diagram of:/ });
    await picture.waitFor();
    expect(
      await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBeGreaterThan(50);
    await articles(page).last().getByText("Could not draw the diagram").waitFor();
    expect(await articles(page).last().locator("pre").innerText()).toContain("graph nowhere -->");
    // The text is inside the image and has no effect: the page has neither its scripts nor its styles.
    const svg = decodeURIComponent(String(await picture.getAttribute("src")));
    expect(svg).toContain("Acorn");
    expect(await page.evaluate(() => "harmed" in window)).toBe(false);
    expect(loaded.filter((path) => /mermaid/.test(path)).length).toBe(1);
    await page.getByRole("button", { name: "Show the source" }).click();
    await articles(page).last().locator("pre").first().getByText("Acorn").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W57: the label of a footnote leads to the note, and the note back to where it is referred to", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("An oak[^1].\n\n[^1]: An old one.")}`);
    const answer = articles(page).last();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await answer.locator("[role=doc-noteref]").click();
    await eventually(focused).toBe("1: back to the text");
    const address = page.url();
    await page.keyboard.press("Enter");
    await eventually(focused).toBe("1: to the footnote");
    expect(page.url()).toBe(address);
    expect(complaints).toEqual([]);
  });

  it("W61, S12: a web page of an answer runs next to the conversation, and none of thirty attacks leaves its frame", async () => {
    await using far = await outside();
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, `first\n\n\`\`\`html\n<title>Escapist</title><p>An older one.\n\`\`\``);
    await eventually(() => said(page)).toContain("An older one.");
    await write(page, `then\n\n\`\`\`html\n${escapist(far.port)}\n\`\`\``);
    const openers = articles(page).getByRole("button", { name: "Open beside the conversation" });
    await eventually(() => openers.count()).toBe(2);
    await openers.last().click();
    const panel = page.getByRole("complementary", { name: "Artifacts" });
    const frame = () => page.frames().find((each) => each.url().endsWith("/frame.html"));
    await eventually(() => frame()?.evaluate(() => "isTried" in window)).toBe(true);
    expect(await frame()?.evaluate(() => ({ gotOut: Reflect.get(window, "gotOut"), origin }))).toEqual({
      gotOut: [],
      origin: "null",
    });
    await frame()?.evaluate(() => Reflect.get(window, "leave")());
    await eventually(() => page.frames().some((each) => each.url().startsWith("chrome-error:"))).toBe(true);
    await panel.getByText("2/2").waitFor();
    await panel.getByRole("button", { name: "Previous version" }).click();
    await eventually(() => panel.frameLocator("iframe").getByText("An older one.").count()).toBe(1);
    await panel.getByRole("button", { name: "Source" }).click();
    await panel.locator("pre").getByText("An older one.").waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      panel.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("escapist.html");
    expect(page.url()).toContain(here.link.host);
    expect(far.visits).toEqual([]);
    // After a reload, no artifact runs by itself.
    await page.reload();
    await panel.getByRole("list", { name: "Artifacts to open" }).getByRole("button").nth(1).waitFor();
    expect(page.frames().length).toBe(1);
  });

  it("4.1.3: a screen reader is told what happens, in words and not word by word", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const told = () => page.locator("#told-politely p").allInnerTexts();
    await write(page, "hold");
    await eventually(() => said(page)).toContain("running");
    await eventually(told).toEqual(["Responding"]);
    await eventually(() => page.getByRole("log").getAttribute("aria-busy")).toBe("true");
    expect(await page.getByRole("log").getAttribute("aria-live")).toBe("off");
    here.agent.release();
    await eventually(told).toEqual(["Responding", "Responding", "Response complete, 4 words"]);
    await write(page, "read missing");
    await eventually(told).toEqual([
      "Response complete, 4 words",
      "Responding",
      "Tool read failed",
      "Responding",
      "Response complete, 3 words",
    ]);
    await write(page, "shell");
    await eventually(() => page.locator("#told-at-once").innerText()).toBe("Tool shell is waiting for your approval");
  });

  it("W45: at 320 pixels nothing is wider than the page, and all of it can be used", async () => {
    const { page } = await here.open("/", { viewport: { width: 320, height: 640 } });
    await begin(page, "edit");
    const change = page.getByRole("log").getByRole("region", { name: "What will run" });
    // Wait for the whole change: later lines would move the buttons.
    await change.getByText("+ return a + b;").waitFor();
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(await tooWide()).toBe(0);
    const right = (element: Element) => element.getBoundingClientRect().right;
    for (const part of [change, page.getByRole("group", { name: "Change src/sum.ts?" })]) {
      expect(await part.evaluate(right)).toBeLessThan(320);
    }
    await page.getByRole("button", { name: /Allow once/ }).click();
    await eventually(() => said(page)).toContain("That is done.");
    expect(await page.getByRole("log").evaluate((log) => log.scrollWidth - log.clientWidth)).toBe(0);
    await page.getByRole("button", { name: "Conversations" }).click();
    await page.getByRole("button", { name: "New conversation" }).waitFor();
    expect(await tooWide()).toBe(0);
    // A choice closes the list, also if the chosen conversation is already in view.
    await page.getByRole("searchbox").fill("edit");
    await page.getByRole("list", { name: "Results for edit" }).getByRole("link").first().click();
    await page.getByRole("log").waitFor();
  });

  it("W45: light and dark can be chosen, and stay; motion that is not wanted stands still", async () => {
    const { page } = await here.open("/", { colorScheme: "light", reducedMotion: "reduce" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByLabel("Theme").selectOption("dark");
    await eventually(ground).not.toBe(light);
    await page.reload();
    await page.getByLabel("Theme").waitFor();
    await eventually(ground).not.toBe(light);
    await begin(page, "hold");
    await eventually(() => said(page)).toContain("running");
    const moving = await page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === "running").length,
    );
    expect(moving).toBe(0);
    await page.emulateMedia({ forcedColors: "active" });
    await page.getByRole("button", { name: "Stop" }).click();
    await eventually(() => said(page)).toContain("cancelled");
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    // Code also has only the system's colours.
    await write(page, "code");
    const pieces = page.locator("figure code").first().locator("span");
    await pieces.first().waitFor();
    const colours = (spans: Element[]) => [...new Set(spans.map((span) => getComputedStyle(span).color))];
    expect(await pieces.evaluateAll(colours)).toEqual([
      await page.evaluate(() => getComputedStyle(document.body).color),
    ]);
  });

  it("all messages of a branch can be had at once, and are printed as a whole", async () => {
    const texts = Array.from({ length: 9 }, (_, index) => `saying ${index}`);
    const conversation = await here.conversation(...texts);
    const { page } = await here.open(`/c/${conversation}`, { viewport: { width: 900, height: 300 } });
    await articles(page).last().waitFor();
    expect(await articles(page).count()).toBeLessThan(2 * texts.length);
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByRole("link", { name: "Show all messages" }).click();
    await page.getByText("All 18 messages of this branch are shown.").waitFor();
    for (const text of texts)
      await page
        .getByRole("article")
        .filter({ hasText: `You said: ${text}` })
        .waitFor();
    // Many small sheets: nothing is cut off by a frame.
    const paper = await page.pdf({ width: "400px", height: "200px" });
    expect(paper.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(3);
    await page.getByRole("link", { name: "Back to the conversation" }).click();
    await composer(page).waitFor();
  });

  it("W46, W73: a conversation is exported as JSON, Markdown and HTML, and the JSON comes back unchanged but for a mark", async () => {
    const conversation = await here.conversation("to be kept");
    const { page } = await here.open(`/c/${conversation}`);
    await page.getByRole("button", { name: "More about this conversation" }).click();
    const file = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: `Export as ${name}` }).click(),
      ]);
      return { path: await download.path(), name: download.suggestedFilename() };
    };
    expect(readFileSync((await file("Markdown")).path, "utf8")).toContain("You said: to be kept");
    expect(readFileSync((await file("HTML")).path, "utf8")).toMatch(/^<!doctype html>/i);
    const json = await file("JSON");
    const exported = readFileSync(json.path, "utf8");
    expect(exported).toBe(await here.exported(conversation));
    await here.ask("conversation.remove", { conversation });
    await page.goto(`http://${here.link.host}/`);
    await page.getByLabel("File to import").setInputFiles(json.path);
    await eventually(() => said(page)).toContain("You said: to be kept");
    // The import adds only its mark (S17).
    const [before, after] = [JSON.parse(exported), JSON.parse(await here.exported(conversation))];
    const [mark, ...more] = after.events.splice(before.events.length);
    expect([after, mark, more]).toMatchObject([before, { type: "conversation.brought-in", how: "import" }, []]);
    expect(after).toEqual(before);
  });
});
