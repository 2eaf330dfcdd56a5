import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((texts) => texts.join("\n"));
const card = (page: Page, tool: string) => page.getByRole("region", { name: `Call of ${tool}` });
const approval = (page: Page) => page.getByRole("log").getByRole("group", { name: "Run this command?" });

describe.runIf(chromiumPath)(`calls, questions and people in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W28: a call shows its status as sign and word, its time, and a line of its arguments", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "hold");
    await eventually(() => card(page, "hold").locator("summary").innerText()).toMatch(/◐\s*running\s*hold[\s\S]*\d s/);
    here.agent.release();
    await eventually(() => card(page, "hold").locator("summary").innerText()).toMatch(/✓\s*done/);
    await write(page, "read here missing");
    await eventually(() => card(page, "read").last().innerText()).toMatch(/✗\s*failed[\s\S]*missing/);
    await write(page, "shell");
    await eventually(() => card(page, "shell").innerText()).toMatch(/\?\s*waiting for you/);
    await approval(page).getByRole("button", { name: /Deny/ }).click();
    await eventually(() => card(page, "shell").locator("summary").innerText()).toMatch(/⊘\s*denied\s*shell\s*ls -la/);
  });

  it("W71: a plan unfolds in its call; who is asked to allow it chooses how it is carried out, or sends it back with words", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "plan");
    const asked = page.getByRole("log").getByRole("group", { name: "Approve this plan?" });
    await eventually(() => asked.innerText()).toContain("[ ] mend it");
    await asked.getByRole("textbox", { name: "What should change?" }).fill("in green");
    // The plan is edited as lines, and shown as the result.
    await asked.getByRole("button", { name: "Edit first" }).click();
    const steps = asked.getByLabel("steps", { exact: true });
    expect(await steps.inputValue()).toBe("[x] look\n[ ] mend it");
    await steps.fill(" \n");
    await asked.getByText("A plan needs a step at least").waitFor();
    await steps.fill("[x] look\nrest");
    await eventually(() => asked.innerText()).toContain("[ ] rest");
    await asked.getByRole("button", { name: "Undo my edit" }).click();
    await asked.getByRole("button", { name: /Keep planning/ }).click();
    await eventually(() => card(page, "update_plan").innerText()).toMatch(/denied[\s\S]*in green/);
    // A message during the run would steer it.
    await eventually(() => said(page)).toContain("That is done.");
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await write(page, "plan");
    await asked.getByRole("button", { name: "Approve, edit files freely" }).click();
    const plan = card(page, "update_plan").last();
    await eventually(() => plan.innerText()).toContain("Plan: 1 of 2 done");
    expect(await plan.getByRole("list", { name: "Plan" }).innerText()).toBe("[x] look\n[ ] mend it");
  });

  it("C6: what goes on in the background is listed, also after a reload, and can be stopped", async () => {
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

  it("the copy button of a block of code gives the code as it is", async () => {
    const code = "if a < b:\n\tprint('<b>&amp;</b>  ')\n\n    # ```";
    const { page } = await here.open(`/c/${await here.conversation(`Run this:\n\n\`\`\`\`py\n${code}\n\`\`\`\``)}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the code" }).first().click();
    await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  });

  it("W29: a result is cut at 20 lines, shown whole on demand, and copied whole", async () => {
    const { page } = await here.open(`/c/${await here.conversation("read long")}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await card(page, "read").locator("summary").click();
    await eventually(() => card(page, "read").innerText()).toContain("long line 20\n");
    expect(await card(page, "read").innerText()).not.toContain("long line 21");
    await card(page, "read").getByRole("button", { name: "Copy" }).click();
    await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toContain("long line 60");
    // A page from another machine has no clipboard API.
    await page.evaluate(() => Reflect.deleteProperty(Navigator.prototype, "clipboard"));
    await articles(page).first().hover();
    await articles(page).first().getByRole("button", { name: "Copy the text" }).click();
    await composer(page).press("ControlOrMeta+v");
    await eventually(() => composer(page).inputValue()).toBe("read long");
    await card(page, "read").getByRole("button", { name: "Show all (60 lines)" }).click();
    // W92: the whole text is in the page, to read, find and select.
    await eventually(() => card(page, "read").innerText()).toMatch(/long line 21\n[\s\S]*long line 60\n/);
  });

  it("W30: neighbours that only look are folded; a failure is never folded away", async () => {
    const { page } = await here.open(`/c/${await here.conversation("read a b c missing d")}`);
    await page.getByText("Read 3 files").waitFor();
    const folds = page.locator("details").filter({ hasText: "Read 3 files" });
    expect(await folds.first().evaluate((fold) => (fold as HTMLDetailsElement).open)).toBe(false);
    expect(await folds.first().textContent()).not.toContain("missing");
    expect(await card(page, "read").filter({ hasText: "failed" }).isVisible()).toBe(true);
  });

  it("W30: neighbouring messages that only look are one line, which opens and closes", async () => {
    const { page } = await here.open(`/c/${await here.conversation("look a b c missing d")}`);
    const line = page.getByRole("button", { name: /Read 3 files\s*3 steps/ });
    await line.waitFor();
    const shown = await articles(page).count();
    expect(await said(page)).toContain("missing");
    expect(await card(page, "read").count()).toBe(2);
    await line.click();
    await eventually(() => articles(page).count()).toBe(shown + 3);
    await eventually(() => card(page, "read").count()).toBe(5);
    // Arrow keys skip hidden messages.
    await line.click();
    await eventually(() => articles(page).count()).toBe(shown);
    await articles(page).first().focus();
    await page.keyboard.press("ArrowDown");
    await eventually(() => page.locator("article:focus").innerText()).toContain("missing");
    // A starred message is not folded.
    await line.click();
    const second = articles(page).nth(2);
    await second.hover();
    await second.getByRole("button", { name: "Star this message" }).click();
    await line.waitFor({ state: "detached" });
    expect(await articles(page).count()).toBe(shown + 3);
  });

  it("C12: what is asked at once is a form with labels, filled in with the keyboard; the answer takes it away everywhere", async () => {
    const address = `/c/${await here.conversation("hello")}`;
    const { page } = await here.open(address);
    const { page: elsewhere } = await here.open(address);
    await articles(page).last().waitFor();
    await write(page, "wonder");
    const form = page.getByRole("log").getByRole("form", { name: "How shall the oak look?" });
    await form.waitFor();
    await eventually(() => card(page, "ask_client").innerText()).toMatch(/^\?\s*waiting for you/);
    const there = elsewhere.getByRole("form", { name: "How shall the oak look?" });
    await there.getByRole("radio", { name: "red" }).check();
    expect(await faultsOf(page, "form[aria-labelledby]")).toEqual([]);
    const answer = form.getByRole("button", { name: "Answer", exact: true });
    expect(await answer.isDisabled()).toBe(true);
    const leaves = form.getByRole("group", { name: "Leaves" });
    await leaves.getByRole("radio", { name: "green as in spring" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    expect(await leaves.getByRole("radio", { name: "red" }).isChecked()).toBe(true);
    await leaves.getByLabel("In your own words").fill("but not all");
    const birds = form.getByRole("group", { name: "Birds" });
    expect(await birds.innerText()).toContain("crow\\u{202e}");
    await birds.getByRole("checkbox", { name: "jay" }).focus();
    await page.keyboard.press("Space");
    await birds.getByRole("checkbox", { name: "owl" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await form.waitFor({ state: "detached" });
    await there.waitFor({ state: "detached" });
    await card(page, "ask_client").locator("summary").first().click();
    await eventually(() => card(page, "ask_client").innerText()).toMatch(
      /Leaves: red\. In their own words: but not all\s+Birds: owl, jay/,
    );
  });

  it("W32: an approval says what, where and how; it takes no focus, and its keys act on the card alone", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    await approval(page).waitFor();
    expect(await composer(page).evaluate((box) => box === document.activeElement)).toBe(true);
    await eventually(() => approval(page).innerText()).toContain("in /a/worktree\n");
    await eventually(() => approval(page).innerText()).toContain("ls -la");
    expect(await approval(page).getByLabel("Rule to allow").inputValue()).toBe("shell(ls*)");
    await composer(page).pressSequentially("asd");
    await approval(page).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    expect(await approval(page).isVisible()).toBe(true);
    // W53: a single key types, and answers nothing.
    await page.keyboard.press("a");
    await page.locator("#composer:focus").waitFor();
    expect(await approval(page).isVisible()).toBe(true);
    await approval(page).focus();
    await page.keyboard.press("Alt+a");
    await eventually(() => said(page)).toContain("That is done.");
    expect(await composer(page).inputValue()).toBe("asda");
    await page.locator("article:focus").filter({ hasText: "I look." }).waitFor();
  });

  it("W32, W56: an approval shows what an edit would change, also with other arguments, before the tool has begun", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "edit");
    const change = page.getByRole("log").getByRole("region", { name: "What will run" });
    await eventually(() => change.innerText()).toMatch(/Changes src\/sum\.ts, 1 line added, 1 line removed/);
    await eventually(() => change.innerText()).toMatch(/- return a;\s*(?:2\s*)?\+ return a \+ b;/);
    await page.getByRole("log").getByRole("button", { name: "Edit first" }).click();
    // The focus is in the field, the original stays visible until it is changed, and Escape goes back.
    await page.locator("textarea[aria-label=new_text]:focus").waitFor();
    expect(await change.innerText()).toMatch(/- return a;/);
    await page.keyboard.press("Escape");
    await page.getByRole("log").getByLabel("new_text").waitFor({ state: "detached" });
    await page.locator("fieldset:focus").waitFor();
    await page.getByRole("log").getByRole("button", { name: "Edit first" }).click();
    await page.getByRole("log").getByLabel("new_text").fill("return b;\nreturn c;");
    await eventually(() => change.innerText()).toContain("its changes to the file are not shown");
    await eventually(() => change.innerText()).toMatch(
      /- return a;[\s\S]*new_text, 2 lines:\s*\+ return b;\s*\+ return c;/,
    );
    await page.getByRole("button", { name: /Deny/ }).click();
  });

  it("W32, W91: Enter where one writes why not denies, and the reason goes along; a key with Alt writes", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    const why = approval(page).getByLabel("Reason (optional)");
    await why.press("Enter");
    expect(await approval(page).isVisible()).toBe(true);
    await why.fill("look with git");
    await why.press("Alt+d");
    expect(await approval(page).isVisible()).toBe(true);
    await why.press("Enter");
    await eventually(() => card(page, "shell").innerText()).toContain("look with git");
  });

  it("W33: what is to run can be changed before, the thing itself or all arguments, and both are shown", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    await approval(page).getByRole("button", { name: "Edit first" }).click();
    await approval(page).getByLabel("command", { exact: true }).fill("ls /tmp");
    await approval(page).getByRole("button", { name: "All arguments" }).click();
    expect(await page.locator("textarea[aria-label=Arguments]:focus").inputValue()).toBe(
      '{\n  "command": "ls /tmp"\n}',
    );
    await approval(page).getByLabel("Arguments").fill('{"command": "ls /tmp"');
    await approval(page).getByText("The arguments are not JSON").waitFor();
    await approval(page).getByLabel("Arguments").fill('{"command": "ls /tmp"}');
    await approval(page)
      .getByRole("button", { name: /Allow once/ })
      .click();
    await eventually(() => card(page, "shell").innerText()).toMatch(
      /Proposed[\s\S]*ls -la[\s\S]*Executed[\s\S]*ls \/tmp/,
    );
    await eventually(() => card(page, "shell").innerText()).toContain('ran {"command":"ls /tmp"}');
  });

  it("B73: arguments with which the call cannot run are refused with a sentence; what was written stays, and the question", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    const allow = approval(page).getByRole("button", { name: /Allow once/ });
    await approval(page).getByRole("button", { name: "Edit first" }).click();
    await approval(page).getByRole("button", { name: "All arguments" }).click();
    await approval(page).getByLabel("Arguments").fill('{"command": 7}');
    await allow.click();
    await approval(page)
      .getByText(/command.*string/)
      .waitFor();
    expect(await approval(page).getByLabel("Arguments").inputValue()).toBe('{"command": 7}');
    expect(await said(page)).not.toContain("ran {");
    await approval(page).getByLabel("Arguments").fill('{"command": "ls /tmp"}');
    await allow.click();
    await eventually(() => card(page, "shell").innerText()).toContain('ran {"command":"ls /tmp"}');
  });

  it("W34: what waits is counted in the title of the tab, listed in one place, and answered there, sub-agents' too", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "agent shell");
    await page.getByRole("button", { name: "1 waiting for you" }).click();
    await eventually(() => page.title()).toMatch(/^\(1\) /);
    const list = page.getByRole("list", { name: "Waiting for you" });
    await list.getByText("In a sub-agent").waitFor();
    await list.getByRole("button", { name: /Allow once/ }).click();
    await list.waitFor({ state: "detached" });
    await eventually(() => page.title()).not.toMatch(/^\(/);
    // Questions of other conversations are in the same list.
    const other = await here.conversation("something else");
    await here.ask("turn.say", { conversation: other, parts: [{ type: "text", text: "shell" }] });
    await page.getByRole("button", { name: "1 waiting for you" }).click();
    await list.getByText("something else").waitFor();
    await list.getByRole("button", { name: /Deny/ }).click();
    await list.waitFor({ state: "detached" });
    await here.idle(other);
    expect(await here.exported(other)).toContain('"call.denied"');
  });

  it("S36: the line above a question shows the whole command, and a call that could not run is not one that failed", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    const command = `echo ${"a ".repeat(400)}&& rm notes.txt`;
    await write(page, `calls ${JSON.stringify([{ command }])}`);
    const summary = card(page, "shell").locator("summary");
    await eventually(() => summary.innerText()).toContain("&& rm notes.txt");
    // Text that the browser cuts off with an ellipsis is not visible, although it is in the page.
    const line = summary.locator("span.font-mono");
    expect(await line.evaluate((shown) => shown.scrollWidth <= shown.clientWidth)).toBe(true);
    await approval(page).getByRole("button", { name: /Deny/ }).click();
    await eventually(() => said(page)).toContain("That is done.");
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await write(page, 'calls [{"command":7}]');
    await eventually(() => card(page, "shell").last().locator("summary").innerText()).toMatch(/⊘\s*not run/);
  });

  it("S31: a question names the folder of its call, where it stands and in the list of what waits, and not that of the conversation", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    await eventually(() => approval(page).innerText()).toContain("in /a/worktree\n");
    await approval(page).getByRole("button", { name: /Deny/ }).click();
    await eventually(() => said(page)).toContain("That is done.");
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await write(page, "agent shell");
    await page.getByRole("button", { name: "1 waiting for you" }).click();
    const list = page.getByRole("list", { name: "Waiting for you" });
    await eventually(() => list.innerText()).toContain("in /a/worktree/of/a/sub-agent\n");
    await list.getByRole("button", { name: /Deny/ }).click();
    await list.waitFor({ state: "detached" });
  });

  it("B64, W34: a turn at a limit is listed, and goes on with as much again when a person says so", async () => {
    const other = await here.conversation("something else");
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await here.ask("turn.say", { conversation: other, parts: [{ type: "text", text: "look a b c d e f g h" }] });
    await page.getByRole("button", { name: "1 waiting for you" }).click();
    const listed = page.getByRole("list", { name: "Waiting for you" });
    await listed.getByText("Continue this turn, with the same limits again?").waitFor();
    await listed.getByRole("link", { name: "Show in conversation" }).click();
    const shown = page
      .getByRole("region", { name: "Your message" })
      .getByRole("group", { name: "Continue past the limit?" });
    await shown.waitFor();
    await page.getByRole("button", { name: "1 waiting for you" }).click();
    await listed.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByText("Read 8 files").waitFor();
    await here.idle(other);
    await shown.waitFor({ state: "detached" });
  });

  it("S44: a question about a tool of a server names the server and the tool, and claims no change of the file", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "offered");
    const question = page.getByRole("log").getByRole("group", { name: "Use mcp__g__read.only?" });
    await question.getByRole("button", { name: /Deny/ }).click();
    await eventually(() => card(page, "mcp__g__read.only").innerText()).toContain("denied");
  });

  it("S15: a command of several lines has one prompt sign, and each line in its place", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, `calls ${JSON.stringify([{ command: "cat <<E\nrm x\nE" }])}`);
    const lines = approval(page)
      .getByRole("region", { name: "What will run" })
      .locator("div")
      .filter({ hasNotText: "command" });
    await eventually(() => lines.allInnerTexts()).toEqual(["cat <<E", "rm x", "E"]);
    const signs = await lines.evaluateAll((all) => all.map((line) => getComputedStyle(line, "::before").visibility));
    expect(signs).toEqual(["visible", "hidden", "hidden"]);
    await approval(page).getByRole("button", { name: /Deny/ }).click();
  });

  it("W35: what is allowed for the conversation asks no more, is listed, and can be revoked", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    await approval(page).focus();
    await page.keyboard.press("Alt+s");
    await eventually(() => said(page)).toContain("That is done.");
    await page.getByRole("button", { name: "1 allowed for this conversation" }).click();
    await page.getByRole("button", { name: "Revoke shell(ls*)" }).click();
    await page.getByRole("button", { name: "1 allowed for this conversation" }).waitFor({ state: "detached" });
  });

  it("W35, S33: a rule of the conversation that allows less than it did is told when the page opens it, until it is revoked", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, "shell");
    await approval(page).getByRole("textbox", { name: "Rule to allow" }).fill("shell(sh)");
    await approval(page)
      .getByRole("button", { name: /Allow for this conversation/ })
      .click();
    await eventually(() => said(page)).toContain("That is done.");
    await page.reload();
    const told = page.getByRole("region", { name: "This rule now allows less than when you added it" });
    await eventually(() => told.innerText()).toContain("The rule 'shell(sh)' no longer allows standard input");
    await told.getByRole("button", { name: "Revoke shell(sh)" }).click();
    await told.waitFor({ state: "detached" });
  });

  it("W35, S24: a rule for the harmless uses of a command says what that means, where it is chosen and where it is listed", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    await write(page, 'calls [{"command": "git log --oneline"}]');
    const told = page.getByText("[harmless]: any option that changes nothing");
    await approval(page).locator(told).waitFor();
    await approval(page).focus();
    await page.keyboard.press("Alt+s");
    await page.getByRole("button", { name: "1 allowed for this conversation" }).click();
    await page.locator("header").locator(told).waitFor();
  });

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

  it("W37: what waits can be changed, moved, turned into the other kind and taken back", async () => {
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
    await page.getByText("No review in this conversation yet").waitFor();
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
});
