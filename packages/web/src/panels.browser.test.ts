import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lateServer } from "@banyan/server/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PANELS } from "./parts/page/panel-names.ts";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const panel = (page: Page, name: string) => page.getByRole("complementary", { name });

async function open(page: Page, name: string): Promise<void> {
  const tabs = page.getByRole("navigation", { name: "Panels" });
  if ((await page.getByRole("complementary").count()) === 0) await page.getByRole("button", { name: "Panels" }).click();
  await tabs.getByRole("button", { name, exact: true }).click();
}

describe.runIf(chromiumPath)(`the panels of the page${whyNot}`, PATIENT, () => {
  const here = site();

  /** A conversation with two branches that fork after the first answer. */
  async function twoBranches(): Promise<string> {
    const conversation = await here.conversation("begin");
    const { events } = JSON.parse(await here.exported(conversation)) as { events: { type: string; message: string }[] };
    const at = events.findLast(({ type }) => type === "message.completed")?.message ?? "";
    await here.say(conversation, "roots of a tree", { at });
    await here.say(conversation, "leaves of a tree", { at });
    return conversation;
  }

  it("W14, W70: two branches stand side by side from where they part, with what differs between their answers", async () => {
    const { page, complaints } = await here.open(`/c/${await twoBranches()}?panel=compare`);
    const [mine, other] = [
      page.getByRole("region", { name: "This branch" }),
      page.getByRole("region", { name: "The other branch" }),
    ];
    await other.getByText("You said: roots of a tree").waitFor();
    await mine.getByText("You said: leaves of a tree").waitFor();
    expect(await other.getByText("begin").count()).toBe(0);
    await page.getByText("Both continue from: You said: begin").waitFor();
    const others = page.getByLabel("Compare with").getByRole("option");
    expect(await others.allInnerTexts()).toEqual(["1 · roots of a tree"]);
    const differences = page.getByRole("region", { name: "Differences" });
    await eventually(() => differences.locator("del").allInnerTexts()).toEqual(["roots"]);
    await eventually(() => differences.locator("ins").allInnerTexts()).toEqual(["leaves"]);
    // In one evaluation, because both elements may move.
    const tops = () => mine.or(other).evaluateAll((both) => both.map((each) => each.getBoundingClientRect().y));
    await eventually(async () => new Set(await tops()).size).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("W42: the page shows usage and cost of each answer, of the branch and of all branches", async () => {
    const conversation = await twoBranches();
    const { page } = await here.open(`/c/${conversation}?panel=usage`);
    const cost = page.getByRole("row", { name: /^Cost/ });
    await cost.waitFor();
    const dollars = expect.stringMatching(/^<?\$0\.\d+$/);
    await eventually(() => cost.getByRole("cell").allInnerTexts()).toEqual([dollars, dollars]);
    const output = page.getByRole("row", { name: /^Output/ }).getByRole("cell");
    await eventually(() => output.allInnerTexts()).toEqual(["2", "3"]);
    const answers = page.getByRole("region", { name: "Each answer" }).getByRole("listitem");
    await eventually(() => answers.count()).toBe(2);
    await eventually(() => answers.last().innerText()).toMatch(/leaves[\s\S]*\$[\s\S]*[\d,]+ tokens in, [\d,]+ out$/);
    await answers.first().getByRole("button").click();
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toContain("You said: begin");
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "free" }], model: "scripted/second" });
    await here.idle(conversation);
    await eventually(() => cost.getByRole("cell").allInnerTexts()).toEqual(["unknown", "unknown"]);
  });

  it("V5: the page shows the cause of a cache miss at its answer, and sums for all branches", async () => {
    const conversation = await here.conversation("spend 9000 8500");
    await here.say(conversation, "spend 9500");
    const { page } = await here.open(`/c/${conversation}?panel=usage`);
    const misses = page.getByRole("table", { name: "Cache misses, all branches" });
    await eventually(() => misses.getByRole("row").allInnerTexts()).toEqual([
      expect.stringMatching(/^the provider kept no cache\s+1 answer\s+9.0k tokens$/),
    ]);
    const answers = page.getByRole("region", { name: "Each answer" }).getByRole("listitem");
    await eventually(() => answers.last().innerText()).toMatch(
      /cache miss: the provider kept no cache, 9,000 tokens again$/,
    );
  });

  it("W71: plan, background, sub-agents, memory, hooks and MCP servers each have a panel, with a sentence where there is nothing", async () => {
    const conversation = await here.conversation("begin");
    const { page, complaints } = await here.open(`/c/${conversation}?panel=plan`);
    await panel(page, "Plan").getByText("No plan yet").waitFor();
    for (const [name, sentence] of [
      ["Background", "Nothing is running in the background."],
      ["Sub-agents", "No sub-agents yet."],
      ["Memory", "No memories were recalled on this branch yet."],
      ["Hooks", "No hooks."],
      ["MCP servers", "No MCP servers."],
    ] as const) {
      await open(page, name);
      await panel(page, name).getByText(sentence).waitFor();
    }
    const late = await lateServer(here.served.host);
    mkdirSync(join(here.workspace, ".banyan"), { recursive: true });
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "say done sk-secret123" }] }] };
    writeFileSync(join(here.workspace, ".banyan", "settings.json"), JSON.stringify({ hooks }));
    here.agent.recalled.push({ text: "Oaks are old.", source: "an older conversation" });
    await open(page, "Plan");
    await open(page, "MCP servers");
    await panel(page, "MCP servers").getByText("late").waitFor();
    await panel(page, "MCP servers").getByText("starting").waitFor();
    await open(page, "Hooks");
    await panel(page, "Hooks").getByText("say done [redacted:key]").waitFor();
    await panel(page, "Hooks").getByText("These hooks do not run, because this project is not trusted.").waitFor();
    rmSync(join(here.workspace, ".banyan"), { recursive: true });
    await late[Symbol.asyncDispose]();
    await write(page, "remember");
    await open(page, "Memory");
    await panel(page, "Memory").getByText("Memory added 1 entry").waitFor();
    await here.idle(conversation);
    // A recalled entry is part of the message, whose first word controls the test agent.
    here.agent.recalled.length = 0;
    await write(page, "serve");
    await open(page, "Background");
    await panel(page, "Background").getByText("a server").waitFor();
    await panel(page, "Background").getByRole("button", { name: /^Stop/ }).click();
    await panel(page, "Background").getByRole("button", { name: /^Stop/ }).waitFor({ state: "detached" });
    await here.idle(conversation);
    await write(page, "agent hold");
    await open(page, "Sub-agents");
    await panel(page, "Sub-agents").getByText("running").waitFor();
    expect(await panel(page, "Sub-agents").innerText()).not.toContain("The result must contain");
    expect(await faultsOf(page)).toEqual([]);
    here.agent.release();
    await panel(page, "Sub-agents").getByText("done").waitFor();
    await here.idle(conversation);
    await write(page, "plan");
    // The question shows the plan's steps once.
    await page.getByRole("group", { name: "Approve this plan?" }).waitFor();
    expect(await page.getByRole("log").getByRole("list", { name: "Plan", exact: true }).count()).toBe(0);
    await page
      .getByRole("log")
      .getByRole("button", { name: /Approve, and ask/ })
      .click();
    await composer(page).fill("/plan");
    await composer(page).press("Enter");
    await panel(page, "Plan").getByText("mend it").waitFor();
    await open(page, "Usage");
    await panel(page, "Usage").getByText("By model and day, all branches").click();
    await panel(page, "Usage")
      .getByRole("table", { name: "By model" })
      .getByRole("rowheader", { name: "scripted/model" })
      .waitFor();
    expect(await panel(page, "Usage").getByRole("table", { name: "By day" }).getByRole("row").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("W42: the context is told part by part", async () => {
    const { page } = await here.open(`/c/${await here.conversation("begin")}?panel=context`);
    const parts = page.getByRole("region", { name: "Parts of the context" });
    await parts.getByText("About 2 tokens are in the context.").waitFor();
    await write(page, "more");
    await parts.getByText("About 4 tokens are in the context.").waitFor();
    // The provider's count, beside our own (F99).
    await write(page, "spend 190");
    await parts.getByText(/^200 tokens/).waitFor();
  });

  it("W10: a model is chosen for the conversation, and how freely agents work for all", async () => {
    const conversation = await here.conversation("begin");
    const { page } = await here.open(`/c/${conversation}?panel=settings`);
    const settings = panel(page, "Settings");
    await settings.getByRole("list", { name: "Models of scripted" }).getByText("scripted/model").waitFor();
    expect(await settings.getByText("Price: —").count()).toBeGreaterThan(0);
    const second = await here.open(`/c/${conversation}?panel=settings`);
    await settings.getByLabel("Edit files freely").click();
    await eventually(() => panel(second.page, "Settings").getByLabel("Edit files freely").isChecked()).toBe(true);
    await settings.getByLabel("Ask before changes").click();
    await settings.getByLabel("Filter models").fill("second");
    await settings.getByText("scripted/model").nth(1).waitFor({ state: "detached" });
    await settings.getByRole("button", { name: "Use here" }).click();
    await settings.getByRole("button", { name: "In use" }).waitFor();
    await write(page, "more");
    const more = articles(page).filter({ hasText: "You said: more" });
    await more.hover();
    await more.getByRole("button", { name: "Show tokens and cost" }).click();
    await more.getByText(/scripted\/second/).waitFor();
  });

  it("S37: commands run in the sandbox without a question while the server offers this, and the end shows its reason", async () => {
    const { host, modes } = here.served;
    const conversation = await here.conversation("begin");
    const { page, complaints } = await here.open(`/c/${conversation}?panel=settings`);
    const mode = panel(page, "Settings").getByLabel("Edit files, and run commands in the sandbox");
    const card = page.getByRole("log").getByRole("group", { name: "Run this command?" });
    const choice = card.getByRole("button", { name: "Allow, and run commands in the sandbox without asking" });
    await write(page, 'calls [{"command":"npm test"}]');
    await card.waitFor();
    expect([await mode.count(), await choice.count()]).toEqual([0, 0]);
    modes.refuse(undefined);
    await mode.waitFor();
    await card.getByText("Caches such as node_modules are rebuilt, not undone.").waitFor();
    modes.refusal = "The trial failed.";
    await choice.click();
    await card.getByText("The trial failed.").waitFor();
    modes.refuse(undefined);
    await choice.click();
    await card.waitFor({ state: "detached" });
    await eventually(() => mode.isChecked()).toBe(true);
    expect(host.approval).toBe("sandbox");
    modes.lost("The sandbox has ended.");
    await page.getByText("The sandbox has ended. Banyan asks before changes and commands again.").waitFor();
    await eventually(() => panel(page, "Settings").getByLabel("Ask before changes").isChecked()).toBe(true);
    // An ordinary command is not offered the mode.
    await write(page, "shell");
    await card.waitFor();
    expect(await choice.count()).toBe(0);
    await mode.click();
    await eventually(() => host.approval).toBe("sandbox");
    await panel(page, "Settings").getByLabel("Ask before changes").click();
    await eventually(() => host.approval).toBe("ask");
    modes.refuse("A test has no sandbox.");
    await mode.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("S27: nothing is asked in one conversation alone, and only once a person has typed yes there", async () => {
    const [conversation, other] = [await here.conversation("begin"), await here.conversation("begin")];
    const { page, complaints } = await here.open(`/c/${conversation}?panel=settings`);
    const unasked = () => [...here.served.host.unasked];
    const form = page.getByRole("form", { name: "Run everything without asking?" });
    const word = form.getByLabel("Type yes to run everything without asking");
    const everything = panel(page, "Settings").getByLabel("Run everything without asking (only this conversation)");
    await everything.click();
    await form
      .getByText("The agent will run all commands and change files in this conversation without asking you")
      .waitFor();
    expect(await form.getByRole("button", { name: "Run everything here" }).isDisabled()).toBe(true);
    await word.press("Enter");
    await word.fill("y");
    await word.press("Enter");
    await form.getByRole("button", { name: "Keep asking" }).click();
    await form.waitFor({ state: "detached" });
    expect(await everything.isChecked()).toBe(false);
    expect(unasked()).toEqual([]);
    await everything.click();
    await word.fill("Yes");
    expect(await faultsOf(page, "fieldset")).toEqual([]);
    await form.getByRole("button", { name: "Run everything here" }).click();
    await form.waitFor({ state: "detached" });
    await eventually(() => everything.isChecked()).toBe(true);
    expect(unasked()).toEqual([conversation]);
    // The mode is shown in its conversation, and applies to no other.
    await page.goto(`http://${here.link.host}/c/${other}?panel=settings`);
    await everything.waitFor();
    expect(await everything.isChecked()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("W50, S26: recalled memory appears at its message, with a link to its source", async () => {
    const source = await here.conversation("oaks");
    const { events } = JSON.parse(await here.exported(source)) as { events: { type: string; message: string }[] };
    const message = events.find(({ type }) => type === "message.added")?.message ?? "";
    here.agent.recalled.push(
      { text: "Oaks live for a thousand years.", source: "said on 3 May", conversation: source, message },
      { text: "<b>bold</b> \u202egnp.exe", source: "a note" },
    );
    const conversation = await here.conversation("begin");
    here.agent.recalled.length = 0;
    const { page, complaints } = await here.open(`/c/${conversation}`);
    await page.getByText("Memory added 2 entries to the prompt.").click();
    const items = page.getByRole("list", { name: "Added from memory" }).getByRole("listitem");
    await eventually(() => items.allInnerTexts()).toEqual([
      expect.stringMatching(/Oaks live for a thousand years\.\s+said on 3 May\s+Do not use this/),
      expect.stringMatching(/<b>bold<\/b> \\u\{202e\}gnp\.exe\s+a note\s+Do not use this/),
    ]);
    // An unwanted entry is marked, and the model no longer gets it; the user can restore it.
    await items.nth(1).getByRole("button", { name: "Do not use this" }).click();
    await eventually(() => items.nth(1).innerText()).toContain("The model no longer gets this entry. Use again");
    await page.getByText("Memory added 1 entry to the prompt.").waitFor();
    await page.reload();
    await page.getByText("Memory added 1 entry to the prompt.").click();
    await items.nth(1).getByRole("button", { name: "Use again" }).click();
    await page.getByText("Memory added 2 entries to the prompt.").waitFor();
    await page.getByRole("link", { name: "said on 3 May" }).click();
    await eventually(() => page.url()).toContain(`/c/${source}`);
    await articles(page).filter({ hasText: "oaks" }).first().waitFor();
    expect(complaints).toEqual([]);
  });

  it("W5, W72: none is open at first; the address carries the panel, and it stays while branches change", async () => {
    const { page } = await here.open(`/c/${await twoBranches()}`);
    await articles(page).last().waitFor();
    expect(await page.getByRole("complementary").count()).toBe(0);
    await open(page, "Usage");
    await page.getByRole("button", { name: "Previous version of this message, 2 of 2" }).click();
    await articles(page).filter({ hasText: "You said: roots" }).waitFor();
    await panel(page, "Usage").waitFor();
    await page.reload();
    await panel(page, "Usage").waitFor();
    await page.getByRole("button", { name: "Close the panel" }).click();
    await panel(page, "Usage").waitFor({ state: "detached" });
    await page.reload();
    await composer(page).waitFor();
    expect(await page.getByRole("complementary").count()).toBe(0);
  });

  it("W5: a panel has its space before it loads, so nothing moves when the panel appears", async () => {
    const conversation = await twoBranches();
    const { page } = await here.open();
    const comes = Promise.withResolvers<void>();
    await page.route(/\/assets\/panels-.*js$/, async (route) => {
      await comes.promise;
      await route.fallback();
    });
    await page.goto(new URL(`/c/${conversation}?panel=branches`, page.url()).href);
    await articles(page).last().waitFor();
    const room = () => page.getByRole("log").evaluate((log) => log.clientWidth);
    const before = await room();
    expect(await panel(page, "Branches").getByRole("tree").count()).toBe(0);
    comes.resolve();
    await panel(page, "Branches").getByRole("tree").waitFor();
    expect(await room()).toBe(before);
  });

  it("W45: at 320 px a panel takes the whole width, nothing scrolls sideways, and the conversation comes back", async () => {
    const { page } = await here.open(`/c/${await twoBranches()}`, { viewport: { width: 320, height: 640 } });
    await composer(page).waitFor();
    // The last element that makes the header grow.
    await page.getByRole("button", { name: "Tokens and cost", exact: true }).waitFor();
    await page.getByRole("button", { name: "Panels" }).click();
    for (const [key, name] of Object.entries(PANELS)) {
      await open(page, name);
      await panel(page, name).waitFor();
      expect((await panel(page, name).boundingBox())?.width, key).toBe(320);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), key).toBeLessThanOrEqual(320);
    }
    await page.getByRole("button", { name: "Close the panel" }).click();
    await composer(page).waitFor();
  });

  it("W76: at 320x256, as a page is that is enlarged to 400 %, panels scroll: branches can be seen and gone to", async () => {
    const conversation = await twoBranches();
    const { page } = await here.open(`/c/${conversation}?panel=map`, { viewport: { width: 320, height: 256 } });
    const map = page.getByRole("img", { name: /^Map/ });
    await map.scrollIntoViewIfNeeded();
    expect((await map.boundingBox())?.height).toBeGreaterThan(100);
    await open(page, "Branches");
    const last = panel(page, "Branches").getByRole("treeitem").last();
    await last.click();
    await eventually(() => last.getAttribute("aria-selected")).toBe("true");
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(256);
  });
});
