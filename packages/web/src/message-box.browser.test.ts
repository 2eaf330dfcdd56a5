import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((texts) => texts.join("\n"));
const card = (page: Page, tool: string) => page.getByRole("region", { name: `Call of ${tool}` });
const approval = (page: Page) => page.getByRole("log").getByRole("group", { name: "Run this command?" });

describe.runIf(chromiumPath)(`messages, sub-agents and processes in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W36: one can always write; while the agent works it is Send now or Queue, and Enter does what was chosen", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "hold");
    await page.getByRole("button", { name: "Send now" }).waitFor();
    const enter = page.getByLabel("While the agent works, Enter sends");
    await articles(page).first().focus();
    await page.keyboard.press("Alt+e");
    await enter.selectOption("queue");
    await write(page, "afterwards");
    const waiting = page.getByRole("list", { name: "Not delivered yet" }).getByRole("listitem");
    await eventually(() => waiting.innerText()).toMatch(/^queued\s*afterwards/);
    await page.reload();
    await eventually(() => enter.inputValue()).toBe("queue");
    await composer(page).fill("now");
    await composer(page).press("Alt+Enter");
    await eventually(() => waiting.last().innerText()).toMatch(/^next\s*now/);
    here.agent.release();
    await eventually(() => said(page)).toContain("You said: afterwards");
    await eventually(() => said(page)).toMatch(/now\s*Delivered at /);
  });

  it("W37: waiting messages can be edited, moved, switched to the other kind and taken back", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "hold");
    await page.getByRole("button", { name: "Queue" }).waitFor();
    for (const text of ["one", "two", "three"]) {
      await composer(page).fill(text);
      await page.getByRole("button", { name: "Queue" }).click();
    }
    const waiting = page.getByRole("list", { name: "Not delivered yet" }).getByRole("listitem");
    const texts = async () => (await waiting.allInnerTexts()).map((text) => text.split(/\s+/).slice(0, 2).join(" "));
    await eventually(texts).toEqual(["queued one", "queued two", "queued three"]);
    await waiting.nth(1).getByRole("button", { name: "Move up" }).click();
    await eventually(texts).toEqual(["queued two", "queued one", "queued three"]);
    await waiting.nth(0).getByRole("button", { name: "Send now" }).click();
    await waiting.nth(2).getByRole("button", { name: "Take back" }).click();
    await eventually(texts).toEqual(["next two", "queued one"]);
    await waiting.nth(1).getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Edited message").fill("changed");
    await page.keyboard.press("Enter");
    await eventually(texts).toEqual(["next two", "queued changed"]);
    here.agent.release();
    await eventually(() => said(page)).toContain("You said: changed");
  });

  it("W38: Stop keeps what was said, marks calls as cancelled, and gives queued text back", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "hold");
    await eventually(() => said(page)).toContain("running");
    await composer(page).fill("not yet");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.getByRole("list", { name: "Not delivered yet" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await eventually(() => said(page)).toMatch(/I wait\.[\s\S]*cancelled/);
    await eventually(() => composer(page).inputValue()).toBe("not yet");
    // A message to a run that is being stopped would wait for another run.
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await write(page, "stall");
    await eventually(() => said(page)).toContain("word4");
    await page.getByRole("button", { name: "Stop" }).click();
    await eventually(() => said(page)).toMatch(/word4[\s\S]*Interrupted/);
  });

  it("W40: a sub-agent is a card that opens its whole conversation, live, with the way back, also when it has ended", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "agent hold");
    const agent = page.getByRole("region", { name: "Sub-agent" });
    await eventually(() => agent.innerText()).toMatch(
      /banyan is working[\s\S]*scripted\/model[\s\S]*tokens · <\$0\.0001[\s\S]*hold: running/,
    );
    await agent.getByRole("link", { name: "Open" }).click();
    await eventually(() => card(page, "hold").innerText()).toContain("running");
    here.agent.release();
    await eventually(() => said(page)).toContain("It was let go.");
    await page.getByRole("navigation", { name: "Sub-agents" }).getByRole("link", { name: "Conversation" }).click();
    await eventually(() => agent.innerText()).toContain("Sub-agent: done");
    await agent.getByRole("link", { name: "Open" }).click();
    await eventually(() => said(page)).toContain("It was let go.");
  });

  it("W41: in its own view a sub-agent is answered, steered and stopped", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "agent shell");
    const agents = page.getByRole("region", { name: "Sub-agent" });
    // A link that moves between press and release is not clicked.
    await agents.getByText("1 waiting for you").waitFor();
    await agents.getByRole("link", { name: "Open" }).click();
    await approval(page)
      .getByRole("button", { name: /Allow once/ })
      .click();
    await eventually(() => card(page, "shell").innerText()).toContain("done");
    const crumbs = page.getByRole("navigation", { name: "Sub-agents" });
    await crumbs.getByRole("link", { name: "Conversation" }).click();
    await crumbs.waitFor({ state: "detached" });
    await write(page, "agent hold");
    await eventually(() => agents.count()).toBe(2);
    await agents.last().getByText("hold: running").waitFor();
    await agents.last().getByRole("link", { name: "Open" }).click();
    await eventually(() => card(page, "hold").innerText()).toContain("running");
    await write(page, "hold again");
    await page.getByRole("list", { name: "Not delivered yet" }).getByText("hold again").waitFor();
    here.agent.release();
    await eventually(() => said(page)).toMatch(/hold again\s*Delivered at/);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  });

  it("W42: tokens and cost stand at each answer; the header has branch, tree and context; an unknown cost is unknown", async () => {
    const conversation = await here.conversation("priced");
    const { page } = await here.open(`/c/${conversation}`);
    // Usage is hidden at first, and can be shown.
    expect(await said(page)).not.toContain("tokens in");
    await articles(page).last().hover();
    await articles(page).last().getByRole("button", { name: "Show tokens and cost" }).click();
    await eventually(() => said(page)).toMatch(/scripted\/model · 1 tokens in, 1 out · cost <\$0\.0001/);
    await page.getByRole("button", { name: "Tokens and cost", exact: true }).click();
    const header = page.locator("header");
    await eventually(() => header.innerText()).toMatch(
      /This branch\s*<\$0\.0001[\s\S]*All branches\s*<\$0\.0001[\s\S]*Context\s*2 \/ 1\.0k \(0 %\)/,
    );
    await here.ask("model.use", { model: "scripted/second", conversation });
    await here.say(conversation, "unpriced");
    await eventually(() => header.innerText()).toMatch(/This branch\s*unknown[\s\S]*Context\s*2 \/ —/);
  });

  it("W43: commands are completed, the last messages come back with ArrowUp, and drafts stay where they were written", async () => {
    const conversation = await here.conversation("first", "second");
    const { page } = await here.open(`/c/${conversation}`, {});
    await articles(page).last().waitFor();
    await composer(page).press("ArrowUp");
    expect(await composer(page).inputValue()).toBe("second");
    await composer(page).press("ArrowUp");
    expect(await composer(page).inputValue()).toBe("first");
    await composer(page).press("ArrowDown");
    await composer(page).press("ArrowDown");
    expect(await composer(page).inputValue()).toBe("");
    await composer(page).fill("a draft");
    await page.reload();
    await eventually(() => composer(page).inputValue()).toBe("a draft");
    // Without room in storage, the page still works.
    await page.evaluate(() => {
      for (let size = 2 ** 23; size > 8; size /= 2) {
        try {
          localStorage.setItem(`full ${size}`, "x".repeat(size));
        } catch {
          // Try half the size.
        }
      }
    });
    await composer(page).fill("a draft that is longer");
    await eventually(() => composer(page).inputValue()).toBe("a draft that is longer");
    await composer(page).fill("/re");
    await page.getByRole("option", { name: /\/retry/ }).waitFor();
    await composer(page).press("ArrowDown");
    await eventually(() =>
      page.getByRole("listbox", { name: "Commands" }).getByRole("option", { selected: true }).innerText(),
    ).toContain("/resume");
    await composer(page).press("ArrowUp");
    await composer(page).press("Tab");
    await eventually(() => composer(page).inputValue()).toBe("/retry");
    await composer(page).press("Enter");
    await eventually(() => said(page)).toContain("2/2");
    // W65: the terminal's commands and their aliases work; an unknown command stays in the message box.
    await write(page, "/diff");
    await page.getByText("No files changed.").waitFor();
    await write(page, "/findings");
    await page.getByText("There is no review yet.").waitFor();
    await write(page, "/mode task");
    await eventually(() => page.getByLabel("Mode", { exact: true }).inputValue()).toBe("task");
    await write(page, "/title Of oaks");
    await page.getByRole("heading", { name: "Of oaks" }).waitFor();
    await write(page, "/exit");
    await page.getByRole("status").filter({ hasText: "To leave, close the tab" }).waitFor();
    await write(page, "/retyr");
    await page.getByRole("alert").filter({ hasText: "Did you mean /retry?" }).waitFor();
    expect(await composer(page).inputValue()).toBe("/retyr");
    await write(page, "/review");
    await page.getByRole("alert").filter({ hasText: "There is nothing to review" }).waitFor();
    // After a review, a click sends a finding to the agent.
    await page.goto(`${new URL(page.url()).origin}/c/${await here.conversation("Review these changes: @diff")}`);
    await articles(page).last().waitFor();
    await write(page, "/findings");
    await page.getByRole("button", { name: "Fix finding 2" }).click();
    await articles(page).filter({ hasText: "fix it if it is: src/sum.ts:9: it is never called" }).waitFor();
  });

  it("W43: @ completes files of the workspace, also in the middle and with blanks; an address is offered as a page", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const files = page.getByRole("listbox", { name: "Files" });
    await composer(page).fill("look at  please");
    await composer(page).evaluate((box: HTMLTextAreaElement) => box.setSelectionRange(8, 8));
    await composer(page).pressSequentially("@sum");
    await eventually(() => files.getByRole("option").allInnerTexts()).toEqual(["src/sum.ts", "src/sum.test.ts"]);
    await composer(page).press("ArrowDown");
    await composer(page).press("Enter");
    await eventually(() => composer(page).inputValue()).toBe("look at @src/sum.test.ts  please");
    await composer(page).pressSequentially("and @read");
    await eventually(() => files.getByRole("option").allInnerTexts()).toEqual(["read me.md"]);
    await composer(page).press("Tab");
    await eventually(() => composer(page).inputValue()).toBe('look at @src/sum.test.ts and @"read me.md"  please');
    await composer(page).fill("https://example.com/page");
    await page.getByRole("option", { name: "@https://example.com/page" }).waitFor();
    await composer(page).press("Tab");
    await eventually(() => composer(page).inputValue()).toBe("@https://example.com/page ");
    // The completion is only offered: the text is sent as written.
    await composer(page).fill("https://example.com/");
    await page.getByRole("option", { name: "@https://example.com/" }).waitFor();
    await composer(page).press("Enter");
    await articles(page).filter({ hasText: "You said: https://example.com/" }).waitFor();
  });

  it("C6: background commands are listed, also after a reload, and can be stopped", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const list = page.getByRole("list", { name: "In the background" });
    expect(await list.count()).toBe(0);
    await write(page, "serve");
    await eventually(() => list.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/p1 is running\s+a server\s+Stop/),
    ]);
    await page.reload();
    await list.getByRole("button", { name: "Stop p1" }).click();
    await eventually(() => list.count()).toBe(0);
    await page.getByText("p1 has ended: a user stopped it.").first().waitFor();
  });
});
