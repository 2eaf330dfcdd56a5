import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((all) => all.join("\n"));

const caretOf = (box: Locator) => box.evaluate((element) => (element as HTMLTextAreaElement).selectionStart);

/** Presses a key as an input method does: with key code 229. */
async function pressForInputMethod(page: Page, key: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, code: key, windowsVirtualKeyCode: 229 });
  await devtools.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode: 229 });
  await devtools.detach();
}

/** The letters, digits and signs with Alt or AltGr that a listener of the page takes from an element. */
function takenFrom(element: Locator): Promise<readonly string[]> {
  return element.evaluate((box) => {
    (box as HTMLElement).focus();
    const codes = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((letter) => `Key${letter}`);
    codes.push(...[..."0123456789"].map((digit) => `Digit${digit}`), "Minus", "Slash", "Period", "BracketLeft");
    const ways = [
      { altKey: true },
      { altKey: true, shiftKey: true },
      { ctrlKey: true, altKey: true, modifierAltGraph: true },
      { modifierAltGraph: true },
    ];
    const taken: string[] = [];
    for (const code of codes)
      for (const way of ways)
        for (const key of ["@", "€", "ł", "∂", "Dead", code.slice(-1).toLowerCase()]) {
          const event = new KeyboardEvent("keydown", { key, code, ...way, bubbles: true, cancelable: true });
          box.dispatchEvent(event);
          if (event.defaultPrevented) taken.push(`${JSON.stringify(way)} ${code} ${key}`);
        }
    return taken;
  });
}

describe.runIf(chromiumPath)(`the keys of the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("F82: files with odd names are completed, and go along", async () => {
    const names = [
      `it's.txt`,
      'say "hi".txt',
      "line\nbreak.txt",
      "שלום\u00a0world.txt",
      "-dash.txt",
      "a\u202etxt.exe",
      "odd/[id]/(g)/page.tsx",
    ];
    for (const name of names) {
      mkdirSync(dirname(join(here.workspace, name)), { recursive: true });
      writeFileSync(join(here.workspace, name), `words of number ${names.indexOf(name)}`);
    }
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const files = page.getByRole("listbox", { name: "Files" });
    for (const [number, part] of ["it's", "say", "break", "world", "dash", "exe", "page"].entries()) {
      await composer(page).fill("");
      await composer(page).pressSequentially(`see @${part}`);
      await eventually(() => files.getByRole("option").count()).toBe(1);
      // No character in a file name changes the direction of the text around it.
      if (part === "exe") expect(await files.getByRole("option").innerText()).toBe("a\\u{202e}txt.exe");
      await page.keyboard.press("Tab");
      await page.getByRole("list", { name: "Attached files" }).getByRole("listitem").waitFor();
      await page.keyboard.press("Enter");
      await eventually(() => said(page)).toMatch(new RegExp(`You said: see .*words of number ${number}`, "s"));
    }
  });

  it("W85: a completion that is taken with Enter or Tab puts the caret behind it, and the next Enter sends", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const files = page.getByRole("listbox", { name: "Files" });
    for (const key of ["Enter", "Tab"]) {
      await composer(page).fill(`with ${key} @sum.ts`);
      await files.waitFor();
      await page.keyboard.press(key);
      await eventually(() => composer(page).inputValue()).toBe(`with ${key} @src/sum.ts `);
      expect(await caretOf(composer(page))).toBe(`with ${key} @src/sum.ts `.length);
      await page.keyboard.press("Enter");
      expect(await composer(page).inputValue()).toBe("");
      await eventually(() => said(page)).toContain(`You said: with ${key} @src/sum.ts`);
    }
    // In the middle of a text, after the arrows moved the caret.
    await composer(page).fill("see @sum.ts and tell me");
    await page.keyboard.press("Home");
    for (const _letter of "see @sum.ts") await page.keyboard.press("ArrowRight");
    await eventually(() => files.getByRole("option").allInnerTexts()).toEqual(["src/sum.ts", "src/sum.test.ts"]);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    await page.keyboard.press("Tab");
    await page.keyboard.type("(this)");
    expect(await composer(page).inputValue()).toBe("see @src/sum.ts (this) and tell me");
    await page.keyboard.press("Enter");
    await eventually(() => said(page)).toContain("You said: see @src/sum.ts (this) and tell me");
    // A folder is also sent as written.
    await composer(page).fill("list @sr");
    await files.getByRole("option", { name: "src/", exact: true }).waitFor();
    await page.keyboard.press("Tab");
    await eventually(() => composer(page).inputValue()).toBe("list @src/");
    await page.keyboard.press("Enter");
    await eventually(() => said(page)).toContain("You said: list @src/");
    await composer(page).fill("/mod");
    await page.getByRole("listbox", { name: "Commands" }).waitFor();
    await page.keyboard.press("Enter");
    await eventually(() => composer(page).inputValue()).toBe("/mode");
    await page.keyboard.press("Enter");
    await page.getByText("Chat mode: the agent answers, then waits for you.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W94: a key that belongs to an input method sends, takes, answers, closes and opens nothing", async () => {
    const { page } = await here.open("/");
    // The first page.
    await composer(page).fill("a first message");
    await pressForInputMethod(page, "Enter");
    expect(await composer(page).inputValue()).toBe("a first message");
    expect(new URL(page.url()).pathname).toBe("/");
    await page.goto(`${page.url()}c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    // A message that an input method composes.
    const devtools = await page.context().newCDPSession(page);
    await composer(page).click();
    await devtools.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
    await pressForInputMethod(page, "Enter");
    await devtools.send("Input.insertText", { text: "日本" });
    await pressForInputMethod(page, "Enter");
    expect(await composer(page).inputValue()).toBe("日本");
    // A completion.
    await composer(page).fill("see @sum");
    const files = page.getByRole("listbox", { name: "Files" });
    await files.waitFor();
    for (const key of ["Enter", "Tab", "Escape", "ArrowDown"]) await pressForInputMethod(page, key);
    expect(await composer(page).inputValue()).toBe("see @sum");
    expect(await files.isVisible()).toBe(true);
    // An action of the palette, which a library renders.
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Find an action" });
    await palette.locator("input:focus").fill("settings");
    await eventually(() => palette.getByRole("option").count()).toBe(1);
    for (const key of ["Enter", "Escape"]) await pressForInputMethod(page, key);
    expect(await palette.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    // An approval.
    await write(page, "shell");
    const approval = page.getByRole("log").getByRole("group", { name: "Run this command?" });
    await approval.getByLabel("Reason (optional)").fill("理由");
    await pressForInputMethod(page, "Enter");
    expect(await approval.isVisible()).toBe(true);
    await approval.getByRole("button", { name: "Edit first" }).click();
    await page.locator("textarea[aria-label=command]:focus").waitFor();
    await pressForInputMethod(page, "Escape");
    expect(await approval.getByLabel("command", { exact: true }).isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    // A label that is being edited.
    await articles(page).first().hover();
    await articles(page).first().getByRole("button", { name: "Name this message" }).click();
    await page.getByRole("textbox", { name: "Name of the message" }).fill("名");
    await pressForInputMethod(page, "Escape");
    expect(await page.getByRole("textbox", { name: "Name of the message" }).isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await approval.getByRole("button", { name: /Deny/ }).click();
  });

  it("W91, W94: the search field takes characters of AltGr, of dead keys and of an input method", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("hello")}?panel=branches`);
    await articles(page).last().waitFor();
    const devtools = await page.context().newCDPSession(page);
    const altGr = async (text: string, code: string, keyCode: number) => {
      const event = { key: text, code, windowsVirtualKeyCode: keyCode };
      await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "AltGraph", code: "AltRight" });
      await devtools.send("Input.dispatchKeyEvent", { type: "keyDown", ...event, text, unmodifiedText: text });
      await devtools.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
      await devtools.send("Input.dispatchKeyEvent", { type: "keyUp", key: "AltGraph", code: "AltRight" });
    };
    for (const name of ["Search this conversation", "Search all conversations"]) {
      const field = page.getByRole("searchbox", { name });
      await field.click();
      for (const [text, code, keyCode] of [
        ["@", "KeyQ", 81],
        ["€", "KeyE", 69],
        ["{", "Digit7", 55],
      ] as const)
        await altGr(text, code, keyCode);
      // A dead key shows its accent until the letter comes.
      await devtools.send("Input.imeSetComposition", { text: "´", selectionStart: 1, selectionEnd: 1 });
      await devtools.send("Input.insertText", { text: "é" });
      await devtools.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
      await pressForInputMethod(page, "Enter");
      await devtools.send("Input.insertText", { text: "日本" });
      expect(await field.inputValue(), name).toBe("@€{é日本");
      expect(await field.evaluate((element) => element === document.activeElement), name).toBe(true);
    }
    expect(new URL(page.url()).searchParams.get("panel")).toBe("branches");
    expect(complaints).toEqual([]);
  });

  it("W91: in a text box no key with Alt, Option or AltGr is a shortcut; outside and in the palette the actions work", async () => {
    for (const platform of ["Linux x86_64", "MacIntel"]) {
      const { page } = await here.open(`/c/${await here.conversation("hello")}`, {});
      await page.addInitScript((name) => Object.defineProperty(navigator, "platform", { get: () => name }), platform);
      await page.reload();
      await articles(page).last().waitFor();
      expect(await takenFrom(composer(page))).toEqual([]);
      expect(await takenFrom(page.getByRole("searchbox", { name: "Search all conversations" }))).toEqual([]);
      await write(page, "shell");
      const approval = page.getByRole("log").getByRole("group", { name: "Run this command?" });
      expect(await takenFrom(approval.getByLabel("Reason (optional)"))).toEqual([]);
      expect(await takenFrom(approval.getByLabel("Rule to allow"))).toEqual([]);
      await approval.getByRole("button", { name: "Edit first" }).click();
      expect(await takenFrom(approval.getByLabel("command", { exact: true }))).toEqual([]);
      expect(new URL(page.url()).search).not.toContain("panel");
      expect(await approval.isVisible()).toBe(true);
      await articles(page).first().focus();
      await page.keyboard.press("Alt+c");
      await page.getByRole("complementary", { name: "Changes" }).waitFor();
      await composer(page).focus();
      await page.keyboard.press(platform === "MacIntel" ? "Meta+k" : "Control+k");
      const palette = page.getByRole("dialog", { name: "Find an action" });
      await palette.locator("input:focus").fill("go to the question that needs");
      await eventually(() => palette.getByRole("option").count()).toBe(1);
      await page.keyboard.press("Enter");
      await page.locator("fieldset:focus").waitFor();
      await page.keyboard.press("Alt+d");
      await approval.waitFor({ state: "detached" });
    }
  });

  it("W91: AltGr and the first half of an accent write, also where nothing has the focus yet", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    for (const event of [
      { key: "@", code: "KeyQ", ctrlKey: true, altKey: true, modifierAltGraph: true },
      { key: "Dead", code: "BracketLeft" },
    ]) {
      await articles(page).first().focus();
      await articles(page)
        .first()
        .evaluate(
          (article, key) => article.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true })),
          event,
        );
      await page.locator("#composer:focus").waitFor();
    }
  });

  it("W91: on a touch screen Enter is a new line and the button sends, on both pages", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await here.open("/", phone);
    for (const text of ["a first message", "a second one"]) {
      await composer(page).fill(text);
      await composer(page).press("Enter");
      await page.keyboard.type("on two lines");
      expect(await composer(page).inputValue()).toBe(`${text}\non two lines`);
      expect(await composer(page).getAttribute("enterkeyhint")).toBe("enter");
      await page.getByRole("button", { name: "Send", exact: true }).tap();
      await eventually(() => said(page)).toMatch(new RegExp(`You said: ${text}\\s+on two lines`));
    }
  });
});
