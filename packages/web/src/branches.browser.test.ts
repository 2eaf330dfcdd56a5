import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import {
  articles,
  composer,
  eventually,
  PATIENT,
  restingPlace,
  site,
  stopClock,
  wheelUp,
  write,
} from "./testing/site.fixture.ts";

/** The text of the branch in view. */
const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((texts) => texts.join("\n"));
const article = (page: Page, text: string) => articles(page).filter({ hasText: text });
const leafIn = (page: Page) => new URL(page.url()).searchParams.get("leaf");

/** Opens the actions of a message and clicks one. */
async function act(page: Page, text: string, name: string): Promise<void> {
  const message = article(page, text).first();
  await message.hover();
  await message.getByRole("button", { name }).click();
}

/** Edits a message, and waits for the answer. */
async function edit(page: Page, from: string, to: string): Promise<void> {
  await act(page, from, "Edit");
  await page.getByLabel("Edited message").fill(to);
  await page.getByRole("button", { name: "Send as a new version" }).click();
  await article(page, `You said: ${to}`).waitFor();
}

describe.runIf(chromiumPath)(`branches in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W1: editing a message makes a version beside it; the old one and all below stay byte for byte", async () => {
    const conversation = await here.conversation("first words", "more words");
    const before = JSON.parse(await here.exported(conversation)).events as unknown[];
    const { page } = await here.open(`/c/${conversation}`);
    await edit(page, "first words", "other words");
    await here.idle(conversation);
    const after = JSON.parse(await here.exported(conversation)).events as unknown[];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(await said(page)).not.toContain("more words");
  });

  it("W1, W43: an edited or recalled message is the typed text, without the attached files", async () => {
    const conversation = await here.conversation("look at @src/sum.ts");
    const { page } = await here.open(`/c/${conversation}`);
    await act(page, "look at", "Edit");
    expect(await page.getByLabel("Edited message").inputValue()).toBe("look at @src/sum.ts");
    await composer(page).press("ArrowUp");
    await eventually(() => composer(page).inputValue()).toBe("look at @src/sum.ts");
  });

  it("F99: a summary is one line, is unfolded and edited, and the model goes on from the edited one", async () => {
    const conversation = await here.conversation("one fig", "two figs");
    const { page } = await here.open(`/c/${conversation}`);
    await article(page, "You said: two figs").waitFor();
    await composer(page).fill("/compact");
    await composer(page).press("Enter");
    const line = article(page, "Compacted 4 messages: from about ");
    await line.waitFor();
    const words = line.locator("details > :not(summary)");
    expect(await words.isVisible()).toBe(false);
    await line.locator("summary").click();
    expect(await words.innerText()).toContain("You said: Sum up the conversation above.");
    const result = await page.getByRole("status").filter({ hasText: "All messages stay in the tree." }).innerText();
    expect(result).toMatch(/^Compacted 4 messages: .*\nAll messages stay in the tree\.$/);
    // The line about the running compaction is gone.
    await eventually(() => page.getByText("Compacting the conversation").count()).toBe(0);
    await act(page, "Compacted", "Edit this summary");
    await page.getByLabel("Edited summary").fill("The figs are ripe.");
    await page.getByRole("button", { name: "Send as a new version" }).click();
    await eventually(() => said(page)).toContain("2/2");
    await write(page, "three figs");
    await article(page, "You said: three figs").waitFor();
    expect(await here.exported(conversation)).toContain("The figs are ripe.");
    expect(await said(page)).not.toContain("You said: Sum up");
  });

  it("W2: versions are counted beside a message that has some, with names, big enough, and without a wrap-around", async () => {
    const conversation = await here.conversation("one");
    const { page } = await here.open(`/c/${conversation}`);
    await article(page, "You said: one").waitFor();
    expect(await page.getByRole("button", { name: /version of this message/ }).count()).toBe(0);
    await edit(page, "one", "two");
    await edit(page, "two", "three");
    const previous = page.getByRole("button", { name: "Previous version of this message, 3 of 3" });
    const next = page.getByRole("button", { name: "Next version of this message, 3 of 3" });
    expect(await article(page, "three").first().innerText()).toContain("3/3");
    expect(await next.isDisabled()).toBe(true);
    const size = await previous.boundingBox();
    expect(Math.min(size?.width ?? 0, size?.height ?? 0)).toBeGreaterThanOrEqual(24);
    await previous.click();
    await page.getByRole("button", { name: "Previous version of this message, 2 of 3" }).click();
    await article(page, "You said: one").waitFor();
    expect(await page.getByRole("button", { name: "Previous version of this message, 1 of 3" }).isDisabled()).toBe(
      true,
    );
  });

  it("W3: on a message, Left and Right change its version, Alt+Up and Alt+Down go to the nearest branch point", async () => {
    const conversation = await here.conversation("begin");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "left");
    await article(page, "You said: left").waitFor();
    await edit(page, "left", "right");
    // Keyboard users continue from the new message.
    await eventually(() => page.locator("article:focus").innerText()).toContain("right");
    await write(page, "further");
    await article(page, "You said: further").waitFor();
    await article(page, "You said: further").focus();
    await page.keyboard.press("Alt+ArrowUp");
    await eventually(() => page.locator("article:focus").innerText()).toContain("right");
    await page.keyboard.press("ArrowLeft");
    await eventually(() => page.locator("article:focus").innerText()).toContain("left");
    await page.keyboard.press("ArrowRight");
    await eventually(() => page.locator("article:focus").innerText()).toContain("right");
    await page.keyboard.press("Home");
    await eventually(() => page.locator("article:focus").innerText()).toContain("begin");
    await page.keyboard.press("Alt+ArrowDown");
    await eventually(() => page.locator("article:focus").innerText()).toContain("right");
  });

  it("W4: another version comes with the leaf that was last in view below it, not with its newest", async () => {
    const conversation = await here.conversation("a", "deep one");
    const { page } = await here.open(`/c/${conversation}`);
    await edit(page, "deep one", "deep two");
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await article(page, "You said: deep one").waitFor();
    await edit(page, "a", "b");
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await article(page, "You said: deep one").waitFor();
    expect(await said(page)).not.toContain("deep two");
  });

  it("W4: the number of remembered branches is bounded, and the oldest goes first", async () => {
    const { page } = await here.open(`/c/${await here.conversation("one")}`);
    await page.evaluate(() => {
      localStorage.setItem(
        "viewed",
        JSON.stringify(Array.from({ length: 1_000 }, (_, age) => [`old ${age}`, "a leaf"])),
      );
    });
    await edit(page, "one", "two");
    const viewed = () => page.evaluate(() => JSON.parse(localStorage.getItem("viewed") ?? "") as [string, string][]);
    await eventually(async () => (await viewed()).at(-1)?.[1] === leafIn(page)).toBe(true);
    expect(await viewed()).toHaveLength(1_000);
    expect((await viewed())[0]?.[0]).not.toBe("old 0");
  });

  it("W5: an address shows its branch in a browser that was never here, and its anchor focuses one message", async () => {
    const conversation = await here.conversation("a question", "on the first branch");
    const { page } = await here.open(`/c/${conversation}`);
    await edit(page, "on the first branch", "on the second branch");
    const second = page.url();
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await article(page, "You said: on the first").waitFor();
    const first = new URL(page.url());
    const fresh = await here.open(`${first.pathname}${first.search}`);
    await article(fresh.page, "You said: on the first").waitFor();
    expect(await said(fresh.page)).not.toContain("second");
    const id = (await article(page, "You said: a question").getAttribute("id")) ?? "";
    const other = await here.open(`${new URL(second).pathname}${new URL(second).search}#${id}`);
    await eventually(() => other.page.locator("article:focus").getAttribute("id")).toBe(id);
    await eventually(() => said(other.page)).toContain("on the second branch");
  });

  it("W6: switching is one entry of the history; Back returns to the branch and its place", async () => {
    const conversation = await here.conversation("count 400", "last");
    const { page } = await here.open(`/c/${conversation}`, { viewport: { width: 900, height: 500 } });
    await edit(page, "last", "very last");
    const log = page.getByRole("log");
    const top = () => log.evaluate((element) => element.scrollTop);
    const length = await page.evaluate(() => history.length);
    const place = await wheelUp(log, 700);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const version = article(page, "very last").getByRole("button", { name: /^Previous version/ });
    await version.evaluate((button: HTMLElement) => button.focus({ preventScroll: true }));
    await page.keyboard.press("Enter");
    await article(page, "You said: last").waitFor();
    await eventually(top).not.toBe(place);
    expect(await page.evaluate(() => history.length)).toBe(length + 1);
    const other = await restingPlace(log);
    await page.goBack();
    await article(page, "You said: very last").waitFor();
    await eventually(top).toBe(place);
    await page.goForward();
    await article(page, "You said: last").waitFor();
    await eventually(top).toBe(other);
  });

  it("W6: a switch in the moment in which the branch grows is not undone", async () => {
    const conversation = await here.conversation("one");
    const { page } = await here.open(`/c/${conversation}`);
    await edit(page, "one", "two");
    await here.idle(conversation);
    const at = (await article(page, "You said: two").getAttribute("id"))?.replace("m-", "") ?? "";
    await eventually(() => leafIn(page)).toBe(at);
    // A short timer updates the view: from now on only when the test says so; earlier timers run out.
    const timers = await page.evaluateHandle(async () => {
      const { setTimeout } = window;
      const waiting: (() => void)[] = [];
      window.setTimeout = ((timer: () => void, delay = 0) =>
        delay > 50 ? setTimeout(timer, delay) : waiting.push(timer)) as typeof window.setTimeout;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { waiting, setTimeout };
    });
    await here.say(conversation, "three", { at });
    await eventually(() => timers.evaluate(({ waiting }) => waiting.length)).toBeGreaterThan(0);
    await page
      .getByRole("button", { name: /^Previous version/ })
      .evaluate((button: HTMLElement, { waiting, setTimeout }) => {
        window.setTimeout = setTimeout;
        button.click();
        for (const timer of waiting) timer();
      }, timers);
    await article(page, "You said: one").waitFor();
    await page.goBack();
    await article(page, "You said: three").waitFor();
    await page.goForward();
    await article(page, "You said: one").waitFor();
  });

  it("W7: the branch in view is the same after a reload and after a restart of the server", async () => {
    const conversation = await here.conversation("x", "kept");
    const { page } = await here.open(`/c/${conversation}`);
    await edit(page, "kept", "changed");
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await article(page, "You said: kept").waitFor();
    await page.reload();
    await article(page, "You said: kept").waitFor();
    await here.restart();
    await page.reload();
    await article(page, "You said: kept").waitFor();
    expect(await said(page)).not.toContain("changed");
  });

  it("W8: a version that another client makes is counted, and moves nobody", async () => {
    const conversation = await here.conversation("mine");
    const { page } = await here.open(`/c/${conversation}`);
    await article(page, "You said: mine").waitFor();
    // The address follows the view.
    await eventually(() => leafIn(page)).not.toBeNull();
    const leaf = leafIn(page);
    await here.ask("turn.retry", { conversation, parts: [{ type: "text", text: "theirs" }] });
    await eventually(() => said(page)).toContain("1/2");
    await here.idle(conversation);
    await here.ask("turn.retry", { conversation, parts: [{ type: "text", text: "theirs too" }] });
    await eventually(() => said(page)).toContain("1/3");
    expect(leafIn(page)).toBe(leaf);
    expect(await said(page)).toContain("You said: mine");
  });

  it("W9: from every message one can go on, answers with calls included, and nothing is sent again", async () => {
    const conversation = await here.conversation("read a", "later");
    const asked = (await here.exported(conversation)).length;
    const { page } = await here.open(`/c/${conversation}`);
    await article(page, "later").first().waitFor();
    const all = await articles(page).count();
    for (let index = 0; index < all; index++) {
      const goOn = articles(page).nth(index).getByRole("button", { name: "Continue from here" });
      await eventually(() => goOn.count()).toBe(1);
    }
    await act(page, "I read.", "Continue from here");
    await eventually(() => said(page)).not.toContain("later");
    expect((await here.exported(conversation)).length).toBe(asked);
    await page.locator("#composer:focus").waitFor();
    await write(page, "another way");
    await article(page, "You said: another way").waitFor();
    await eventually(() => said(page)).toContain("2/2");
  });

  it("W10: an answer can be had again, from another model, and both show model, tokens and cost", async () => {
    const conversation = await here.conversation("again please");
    const { page } = await here.open(`/c/${conversation}`);
    await act(page, "You said: again", "Answer again");
    const models = page.getByRole("log").getByLabel("Model");
    await eventually(() => models.locator("option").allInnerTexts()).toContain("scripted/second");
    await models.selectOption("scripted/second");
    await page.getByRole("button", { name: "Answer again" }).last().click();
    const answer = articles(page).last();
    await eventually(() => answer.innerText()).toContain("2/2");
    await answer.hover();
    await answer.getByRole("button", { name: "Show tokens and cost" }).click();
    await eventually(() => answer.innerText()).toMatch(/scripted\/second · .* tokens in, .* out · cost unknown/);
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await eventually(() => articles(page).last().innerText()).toMatch(/scripted\/model · .* · cost <\$0\.0001/);
  });

  it("W11: while a branch runs, other branches can be read and begun, and it carries a sign", async () => {
    const conversation = await here.conversation("base");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "quick");
    await article(page, "You said: quick").waitFor();
    await act(page, "quick", "Edit");
    await page.getByLabel("Edited message").fill("hold on");
    await page.getByRole("button", { name: "Send as a new version" }).click();
    await article(page, "I wait.").waitFor();
    await page.getByRole("button", { name: /^Previous version/ }).click();
    await article(page, "You said: quick").waitFor();
    await page.getByRole("img", { name: "Another version is running" }).waitFor();
    await write(page, "meanwhile");
    await article(page, "You said: meanwhile").waitFor();
    here.agent.release();
    await page.getByRole("img", { name: "Another version is running" }).waitFor({ state: "detached" });
  });

  it("W12, W55: a removal says what goes, hidden messages included, and can be undone", async () => {
    const conversation = await here.conversation("keep", "branch one");
    const { page } = await here.open(`/c/${conversation}`, {});
    await edit(page, "branch one", "branch two");
    await act(page, "You said: keep", "Remove this message");
    await page.getByText("Remove this message and 4 below it?").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await act(page, "branch two", "Remove this message");
    await stopClock(page);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("2 messages were removed.").waitFor();
    await eventually(async () => {
      await page.clock.runFor(100);
      return said(page);
    }).not.toContain("branch two");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.clock.resume();
    await article(page, "You said: branch two").waitFor();
  });

  it("W13: a message can be named and starred", async () => {
    const conversation = await here.conversation("remarkable");
    const { page } = await here.open(`/c/${conversation}`);
    await act(page, "You said: remarkable", "Star this message");
    await act(page, "You said: remarkable", "Name this message");
    await page.getByLabel("Name of the message").fill("the good one");
    await page.getByRole("button", { name: "Save" }).click();
    await eventually(() => articles(page).last().innerText()).toMatch(/the good one\s*★ starred/);
    await page.reload();
    await eventually(() => articles(page).last().innerText()).toMatch(/the good one\s*★ starred/);
    expect(await composer(page).isEnabled()).toBe(true);
  });
});
