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
    await asked.getByText("A plan needs at least one step.").waitFor();
    await steps.fill("[x] look\nrest");
    await eventually(() => asked.innerText()).toContain("[ ] rest");
    await asked.getByRole("button", { name: "Undo my edit" }).click();
    await asked.getByRole("button", { name: /Keep planning/ }).click();
    await eventually(() => card(page, "update_plan").innerText()).toMatch(/denied[\s\S]*in green/);
    // A message during the run would steer it.
    await eventually(() => said(page)).toContain("That is done.");
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await write(page, "plan");
    await asked.getByRole("button", { name: "Approve, and edit files freely" }).click();
    const plan = card(page, "update_plan").last();
    await eventually(() => plan.innerText()).toContain("Plan: 1 of 2 done");
    expect(await plan.getByRole("list", { name: "Plan" }).innerText()).toBe("[x] look\n[ ] mend it");
  });

  it("the copy button of a code block copies the code unchanged", async () => {
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
    // A click shows the calls of the line.
    await folds.first().locator("summary").first().click();
    await card(page, "read").filter({ hasText: "b" }).first().waitFor();
    expect(await faultsOf(page, "[role=log]")).toEqual([]);
    expect(await card(page, "read").filter({ hasText: "failed" }).isVisible()).toBe(true);
  });

  it("W30: adjacent messages with only reading calls are one line, which opens and closes", async () => {
    const { page } = await here.open(`/c/${await here.conversation("look a b c missing d")}`);
    const line = page.getByRole("button", { name: /Read 3 files \(180 lines\)\s*3 steps/ });
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

  it("C12: questions are a form with labels, filled in with the keyboard; an answer closes the form everywhere", async () => {
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

  it("W33: a user can change a call's command or all arguments before it runs, and the page shows both versions", async () => {
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

  it("W34: the tab's title counts waiting questions, and one list shows and answers them, also of sub-agents", async () => {
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

  it("S31: a question names the folder of its call, not of the conversation, in the transcript and in the list of questions", async () => {
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
    await listed.getByText("Continue this turn until it reaches the same limits again?").waitFor();
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

  it("W35: calls that the conversation allows ask no more, are listed, and can be revoked", async () => {
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

  it("W35, S33: the page reports a rule of the conversation that now allows less, until the rule is revoked", async () => {
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

  it("W35, S24: a rule for the harmless uses of a command explains them as a choice and in the list", async () => {
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
});
