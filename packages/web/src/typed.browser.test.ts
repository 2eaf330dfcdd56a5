import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

/** The delay of each message between page and server, in milliseconds. */
const SLOW = 150;

/** Slows the network down, from the next load of the page. */
async function slowDown(page: Page): Promise<void> {
  await page.routeWebSocket(/\/socket/, (near) => {
    const far = near.connectToServer();
    near.onMessage((message) => setTimeout(() => far.send(message), SLOW));
    far.onMessage((message) => setTimeout(() => near.send(message), SLOW));
  });
  await page.reload();
  await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
}

/** Puts a text on the clipboard and pastes it. */
async function paste(page: Page, text: string): Promise<void> {
  await composer(page).evaluate((box, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

const LONG = Array.from({ length: 100 }, (_, line) => `line ${line} of the log`).join("\n");

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((all) => all.join("\n"));

describe.runIf(chromiumPath)(`nothing that is typed is lost${whyNot}`, PATIENT, () => {
  const here = site();

  it("W83: text typed on the first page survives a reload, a visit to another conversation, and 'New conversation'", async () => {
    const conversation = await here.conversation("hello");
    const { page, complaints } = await here.open("/");
    await composer(page).fill("a thought in two parts");
    await page.getByLabel("Files to attach").setInputFiles({
      name: "notes.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("what the notes say"),
    });
    const files = page.getByRole("list", { name: "Attached files" });
    await files.getByText("notes.txt").waitFor();
    await page.reload();
    await eventually(() => composer(page).inputValue()).toBe("a thought in two parts");
    await files.getByText("notes.txt").waitFor();
    await page.locator(`a[href^="/c/${conversation}"]`).first().click();
    await articles(page).last().waitFor();
    expect(await composer(page).inputValue()).toBe("");
    await composer(page).fill("for the other one");
    await page.getByRole("link", { name: "Banyan" }).click();
    await page.getByRole("list", { name: "Examples" }).waitFor();
    expect(await composer(page).inputValue()).toBe("a thought in two parts");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.waitForURL("**/c/**");
    expect(await composer(page).inputValue()).toBe("a thought in two parts");
    await files.getByText("notes.txt").waitFor();
    await page.keyboard.type(", and the rest");
    await page.keyboard.press("Enter");
    await eventually(() => said(page)).toContain("a thought in two parts, and the rest");
    await eventually(() => said(page)).toContain("what the notes say");
    expect(await composer(page).inputValue()).toBe("");
    // The text appears nowhere else.
    await page.getByRole("link", { name: "Banyan" }).click();
    await page.getByRole("list", { name: "Examples" }).waitFor();
    expect(await composer(page).inputValue()).toBe("");
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await eventually(() => composer(page).inputValue()).toBe("for the other one");
    expect(complaints).toEqual([]);
  });

  it("W83: keys that are typed during the first send, on a slow network, arrive in order", async () => {
    const { page, complaints } = await here.open("/", {});
    await slowDown(page);
    await composer(page).click();
    await page.keyboard.type("hello there");
    await page.keyboard.press("Enter");
    const next = "and this is what comes next, letter by letter, while the first message goes out";
    await page.keyboard.type(next, { delay: 15 });
    await page.waitForURL("**/c/**");
    await page.keyboard.type("!");
    expect(await composer(page).inputValue()).toBe(`${next}!`);
    await eventually(() => said(page)).toContain("You said: hello there");
    expect(complaints).toEqual([]);
  });

  it("W83: a word that an input method composes during the first send is not cut", async () => {
    const { page } = await here.open("/", {});
    await slowDown(page);
    await composer(page).fill("hello there");
    await page.keyboard.press("Enter");
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
    // The conversation exists, and waits for the composed word.
    await eventually(async () =>
      (await here.ask("conversation.list", {})).conversations.map(({ title }) => title),
    ).toContain("hello there");
    await page.waitForTimeout(4 * SLOW);
    expect(new URL(page.url()).pathname).toBe("/");
    await devtools.send("Input.insertText", { text: "日本" });
    await page.waitForURL("**/c/**");
    await page.keyboard.type("語");
    expect(await composer(page).inputValue()).toBe("日本語");
  });

  it("W83: a reload during the first send sends the message once, or keeps it in the message box", async () => {
    const { page } = await here.open("/", {});
    await slowDown(page);
    await composer(page).fill("a message of the first page");
    await page.keyboard.press("Enter");
    await page.getByRole("status").filter({ hasText: "a message of the first page" }).waitFor();
    await page.keyboard.type("more");
    await page.reload();
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
    expect(await composer(page).inputValue()).toBe("a message of the first page\n\nmore");
  });

  it("W83: a refused first message returns to the message box with its files", async () => {
    const { page } = await here.open("/", {});
    await page.routeWebSocket(/\/socket/, (near) => {
      const far = near.connectToServer();
      near.onMessage((message) => {
        const { type, id } = JSON.parse(String(message)) as { type: string; id: string };
        if (type !== "conversation.create") return far.send(message);
        near.send(JSON.stringify({ type: "failed", id, error: { code: "failed", message: "The disk is full." } }));
      });
    });
    await page.reload();
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
    await paste(page, LONG);
    await composer(page).fill("what went wrong?");
    await page.keyboard.press("Enter");
    await page.getByText("The disk is full.").waitFor();
    expect(await composer(page).inputValue()).toBe("what went wrong?");
    expect(await page.getByRole("list", { name: "Attached files" }).innerText()).toContain("Pasted text");
  });

  it("W83: two tabs on the first page keep what was typed in each", async () => {
    const { page: one } = await here.open("/", {});
    await composer(one).fill("in the first tab");
    const two = await one.context().newPage();
    await two.goto(one.url());
    await two.getByRole("list", { name: "Examples" }).waitFor();
    expect(await composer(two).inputValue()).toBe("in the first tab");
    await composer(two).fill("in the second tab");
    for (const tab of [one, two]) await tab.reload();
    await eventually(() => composer(one).inputValue()).toBe("in the first tab");
    await eventually(() => composer(two).inputValue()).toBe("in the second tab");
    await write(one, "sent from the first tab");
    await eventually(() => said(one)).toContain("You said: sent from the first tab");
    await two.reload();
    await eventually(() => composer(two).inputValue()).toBe("in the second tab");
  });

  it("W83: files that are too large to keep are named before a reload loses them, and smaller ones are kept", async () => {
    const { page } = await here.open("/", {});
    const asked: string[] = [];
    page.on("dialog", async (dialog) => {
      asked.push(dialog.type());
      await dialog.accept();
    });
    const notice = page.getByText("The browser cannot keep files of this size.");
    const files = page.getByRole("list", { name: "Attached files" });
    const attach = (name: string, size: number) =>
      page
        .getByLabel("Files to attach")
        .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.alloc(size, "a line of a log\n") });
    // Browsers ask before closing only if the user has interacted with the page.
    await composer(page).click();
    await page.keyboard.type("read the log");
    await attach("small.log", 1_000_000);
    await files.getByText("small.log").waitFor();
    expect(await notice.count()).toBe(0);
    await page.reload();
    await files.getByText("small.log").waitFor();
    expect(asked).toEqual([]);
    await attach("large.log", 2_500_000);
    await notice.waitFor();
    await composer(page).click();
    await page.reload();
    expect(asked).toEqual(["beforeunload"]);
    await eventually(() => composer(page).inputValue()).toBe("read the log");
    expect(await files.count()).toBe(0);
    await attach("large.log", 2_500_000);
    await notice.waitFor();
    await files.getByRole("button", { name: "Remove large.log" }).click();
    await notice.waitFor({ state: "detached" });
    await page.reload();
    expect(asked).toEqual(["beforeunload"]);
  });

  it("W83: two tabs that send from one place on a slow network each show their own message", async () => {
    const { page: one } = await here.open(`/c/${await here.conversation("hello")}`, {});
    await articles(one).last().waitFor();
    const two = await one.context().newPage();
    await two.goto(one.url());
    await articles(two).last().waitFor();
    await one.routeWebSocket(/\/socket/, (near) => {
      const far = near.connectToServer();
      near.onMessage((message) => setTimeout(() => far.send(message), 10 * SLOW));
    });
    await one.reload();
    await articles(one).last().waitFor();
    await composer(one).fill("from the slow tab");
    await one.keyboard.press("Enter");
    await write(two, "from the quick tab");
    await eventually(() => said(two)).toContain("You said: from the quick tab");
    await eventually(() => said(one)).toContain("You said: from the slow tab");
    expect(await said(one)).not.toContain("from the quick tab");
    expect(await said(two)).not.toContain("from the slow tab");
  });

  it("F82: a file in UTF-16 that is attached is shown as text, also after a reload", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const bytes = Buffer.from("\ufeffgrün und 日本\n", "utf16le");
    for (const [name, buffer] of [
      ["little.txt", bytes],
      ["big.txt", Buffer.from(bytes).swap16()],
    ] as const) {
      await page.getByLabel("Files to attach").setInputFiles({ name, mimeType: "text/plain", buffer });
      await page.getByRole("list", { name: "Attached files" }).getByText(name).waitFor();
    }
    await write(page, "two wide files");
    const shown = /You said: .*two wide files.*little\.txt.*grün und 日本.*big\.txt.*grün und 日本/s;
    await eventually(() => said(page)).toMatch(shown);
    await page.reload();
    await eventually(() => said(page)).toMatch(shown);
    expect(await said(page)).not.toContain("\0");
    expect(complaints).toEqual([]);
  });

  it("W84: an edited message keeps its files, text files too; the model receives what the page shows", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const attach = (name: string, mimeType: string, text: string) =>
      page.getByLabel("Files to attach").setInputFiles({ name, mimeType, buffer: Buffer.from(text) });
    const files = page.getByRole("list", { name: "Attached files" });
    await attach("notes.txt", "text/plain", "what the notes say");
    await files.getByText("notes.txt").waitFor();
    await attach("other.md", "text/plain", "what the other file says");
    await files.getByText("other.md").waitFor();
    await attach("paper.pdf", "application/pdf", "%PDF-1.4 a paper");
    await files.getByText("paper.pdf").waitFor();
    await write(page, "here are files");
    await eventually(() => said(page)).toMatch(
      /You said: .*here are files.*what the notes say.*what the other file says/s,
    );
    const message = articles(page).filter({ hasText: "here are files" }).first();
    await message.hover();
    await message.getByRole("button", { name: "Edit" }).click();
    const form = message.locator("form");
    await form.getByText("notes.txt").waitFor();
    await form.getByText("paper.pdf").waitFor();
    await form.getByRole("button", { name: "Remove other.md" }).click();
    await form.getByRole("textbox").fill("here are fewer");
    await form.getByRole("button", { name: "Send as a new version" }).click();
    await eventually(() => said(page)).toMatch(/You said: .*here are fewer.*what the notes say/s);
    const shown = articles(page).filter({ hasText: "here are fewer" }).first();
    expect(await shown.innerText()).toMatch(/notes\.txt[\s\S]*paper\.pdf/);
    expect(await shown.innerText()).not.toContain("other.md");
    const answer = await articles(page).last().innerText();
    expect(answer).not.toContain("the other file");
    expect(await here.exported(new URL(page.url()).pathname.split("/")[2] ?? "")).toMatch(
      /here are fewer[\s\S]*paper\.pdf/,
    );
  });

  it("W84: a message that waits keeps its files when it is edited, and gives them back when the agent is stopped", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "hold");
    await page.getByRole("button", { name: "Queue" }).waitFor();
    await paste(page, LONG);
    await composer(page).fill("read the log");
    await page.getByRole("button", { name: "Queue" }).click();
    const waiting = page.getByRole("list", { name: "Not delivered yet" });
    await eventually(() => waiting.innerText()).toMatch(/read the log · Pasted text/);
    await waiting.getByRole("button", { name: "Edit" }).click();
    expect(await waiting.getByRole("textbox").inputValue()).toBe("read the log");
    await waiting.getByRole("textbox").fill("read this log");
    await waiting.getByRole("textbox").press("Enter");
    await eventually(() => waiting.innerText()).toMatch(/read this log · Pasted text/);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await eventually(() => composer(page).inputValue()).toBe("read this log");
    await page.getByRole("list", { name: "Attached files" }).getByText("Pasted text").waitFor();
  });

  it("W92: a long paste becomes an attachment that can be seen, changed and left out, and the model receives it", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const files = page.getByRole("list", { name: "Attached files" });
    await paste(page, LONG);
    await eventually(() => files.innerText()).toMatch(/Pasted text\s+1\.9 kB · line 0 of the log/);
    await paste(page, `${LONG}\nof another one`);
    await eventually(() => files.getByRole("listitem").count()).toBe(2);
    await files.getByRole("button", { name: "Remove Pasted text" }).last().click();
    await files.getByRole("button", { name: "View or edit Pasted text" }).click();
    const text = page.getByRole("textbox", { name: "Pasted text" });
    expect(await text.inputValue()).toBe(LONG);
    expect(await text.evaluate((box) => box.scrollTop)).toBe(0);
    await text.fill(LONG.replace("line 7 ", "the seventh line "));
    await page.keyboard.press("Escape");
    await text.waitFor({ state: "detached" });
    await page.reload();
    await files.getByText("Pasted text").waitFor();
    await composer(page).fill("what is this log?");
    await page.keyboard.press("Enter");
    await eventually(() => said(page)).toMatch(/You said: .*what is this log\?.*the seventh line of the log.*line 99/s);
    expect(await said(page)).not.toContain("of another one");
    expect(await files.count()).toBe(0);
    // The browser handles a short paste.
    const isTaken = await composer(page).evaluate((box) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "a few words");
      return !box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
    expect(isTaken).toBe(false);
  });

  it("W92: many waiting messages take a few rows, and the message box stays visible", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await page.setViewportSize({ width: 390, height: 600 });
    await articles(page).last().waitFor();
    await write(page, "hold");
    await page.getByRole("button", { name: "Queue" }).waitFor();
    for (let nth = 1; nth <= 15; nth += 1) {
      await composer(page).fill(`message ${nth} of many`);
      await page.getByRole("button", { name: "Queue" }).click();
    }
    const waiting = page.getByRole("list", { name: "Not delivered yet" });
    await eventually(() => waiting.getByRole("listitem").count()).toBe(15);
    expect((await waiting.boundingBox())?.height).toBeLessThanOrEqual(160);
    expect(await composer(page).evaluate((box) => box.getBoundingClientRect().bottom)).toBeLessThanOrEqual(600);
    await waiting.getByText("message 15 of many").scrollIntoViewIfNeeded();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await eventually(() => composer(page).inputValue()).toContain("message 15 of many");
  });
});
