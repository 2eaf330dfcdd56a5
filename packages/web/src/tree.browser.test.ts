import { createId, Session } from "@banyan/core";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site } from "./testing/site.fixture.ts";

const rows = (page: Page) => page.getByRole("treeitem");
const row = (page: Page, text: string) => rows(page).filter({ hasText: text }).first();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");
const map = (page: Page) => page.getByRole("img", { name: /Map of the branches/ });
const leafIn = (page: Page) => new URL(page.url()).searchParams.get("leaf");

describe.runIf(chromiumPath)(`the tree in the page${whyNot}`, PATIENT, () => {
  const here = site();

  /** `begin` and its answer, below it three branches, of which the last one forks: `alpha`, `beta`, `gamma` and `delta`. */
  async function branched(): Promise<string> {
    const conversation = await here.conversation("begin");
    const { events } = JSON.parse(await here.exported(conversation)) as { events: { type: string; message: string }[] };
    const at = events.findLast(({ type }) => type === "message.completed")?.message ?? "";
    await here.say(conversation, "alpha", { at });
    await here.say(conversation, "beta", { at });
    const gamma = await here.say(conversation, "gamma", { at });
    await here.ask("turn.retry", { conversation, at: gamma });
    await here.idle(conversation);
    return conversation;
  }

  it("W80: a conversation and a message of any id are found, linked and gone on with like others", async () => {
    const conversation = `É ^;|<b>/"50%'~41 [x]`;
    await here.ask("conversation.create", { conversation });
    const first = await here.ask("message.add", {
      conversation,
      parts: [{ type: "text", text: "begin with a quince" }],
    });
    const at = first.message;
    const id = `#m-(1) "^'%20~`;
    await here.ask("message.add", { id, conversation, at, parts: [{ type: "text", text: "odd medlar" }] });
    await here.ask("message.add", { conversation, at, parts: [{ type: "text", text: "another branch" }] });
    const { page, complaints } = await here.open("/");
    await page.getByLabel("Search all conversations").fill("medlar");
    await page.getByRole("link", { name: /medlar/ }).click();
    await articles(page).filter({ hasText: "odd medlar" }).waitFor();
    await eventually(() => focused(page)).toContain("odd medlar");
    await eventually(() => page.title()).toContain("begin with a quince");
    expect(leafIn(page)).toBe(id);
    await page.reload();
    await articles(page).filter({ hasText: "odd medlar" }).waitFor();
    await composer(page).fill("go on");
    await composer(page).press("Enter");
    await articles(page).filter({ hasText: "You said: go on" }).first().waitFor();
    await here.idle(conversation);
    await eventually(() => leafIn(page)).not.toBe(id);
    expect(await articles(page).filter({ hasText: "odd medlar" }).count()).toBe(1);
    expect(new URL(page.url()).pathname).toMatch(/^\/c\/[\w.~-]+$/);
    expect(complaints).toEqual([]);
  });

  it("W18: the outline is a tree that is walked with the keyboard", async () => {
    const { page, complaints } = await here.open(`/c/${await branched()}?panel=branches`);
    await row(page, "gamma").waitFor();
    const places = await rows(page).evaluateAll((all) =>
      all.map((item) =>
        ["aria-level", "aria-posinset", "aria-setsize"].map((name) => item.getAttribute(name)).join(" "),
      ),
    );
    expect(places).toEqual(["1 1 1", "2 1 3", "2 2 3", "2 3 3", "3 1 2", "3 2 2"]);
    await row(page, "begin").focus();
    const press = async (key: string) => {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      return focused(page);
    };
    expect(await press("ArrowDown")).toContain("alpha");
    expect(await press("g")).toContain("gamma");
    expect(await press("ArrowLeft")).toContain("gamma");
    expect(await row(page, "gamma").getAttribute("aria-expanded")).toBe("false");
    expect(await rows(page).count()).toBe(4);
    await press("ArrowRight");
    expect(await rows(page).count()).toBe(6);
    expect(await press("ArrowRight")).toContain("You said: gamma");
    expect(await press("ArrowLeft")).toContain("gamma");
    expect(await press("Home")).toContain("begin");
    await press("End");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-level"))).toBe("3");
    expect(await press("b")).toContain("begin");
    expect(await press("b")).toContain("beta");
    await press("ArrowUp");
    await press("Enter");
    await articles(page).filter({ hasText: "You said: alpha" }).waitFor();
    expect(await row(page, "alpha").getAttribute("aria-selected")).toBe("true");
    expect(await row(page, "beta").getAttribute("aria-selected")).toBe("false");
    expect(complaints).toEqual([]);
  });

  it("W13, W18: a branch that grows keeps the focus, and the name that is being written for it", async () => {
    const conversation = await here.conversation("begin");
    const { page } = await here.open(`/c/${conversation}?panel=branches`);
    await row(page, "begin").focus();
    await here.say(conversation, "more");
    await row(page, "begin").getByRole("img", { name: "4 messages" }).waitFor();
    expect(await focused(page)).toContain("begin");
    await page.getByRole("region", { name: "Selected branch" }).getByRole("button", { name: "Name" }).click();
    await page.getByLabel("Name of the branch").fill("half a na");
    await here.say(conversation, "still more");
    await row(page, "begin").getByRole("img", { name: "6 messages" }).waitFor();
    expect(await page.getByLabel("Name of the branch").inputValue()).toBe("half a na");
  });

  it("W13: a branch is named and starred; starred ones come first, and the others can be hidden", async () => {
    const { page } = await here.open(`/c/${await branched()}?panel=branches`);
    await row(page, "beta").click();
    const chosen = page.getByRole("region", { name: "Selected branch" });
    await chosen.getByRole("button", { name: "Name" }).click();
    await page.getByLabel("Name of the branch").fill("the best one");
    await page.keyboard.press("Enter");
    await row(page, "the best one").waitFor();
    await chosen.getByRole("button", { name: "Star" }).click();
    await row(page, "the best one").getByLabel("starred").waitFor();
    expect(await rows(page).nth(1).innerText()).toContain("the best one");
    await page.getByLabel("Starred only").check();
    await row(page, "alpha").waitFor({ state: "detached" });
    await row(page, "the best one").waitFor();
    await page.reload();
    await row(page, "the best one").getByLabel("starred").waitFor();
  });

  it("W19: a search covers all branches, marks its hits, and Enter jumps to one on its own branch", async () => {
    const { page } = await here.open(`/c/${await branched()}?panel=branches`);
    await row(page, "alpha").waitFor();
    const search = page.getByRole("searchbox", { name: "Search this conversation" });
    await search.fill("alpha");
    await row(page, "alpha").getByText("2 hits").waitFor();
    expect(await rows(page).getByText(/hit/).count()).toBe(1);
    await search.press("Enter");
    await articles(page).filter({ hasText: "You said: alpha" }).waitFor();
    await page.getByRole("button", { name: "Map", exact: true }).click();
    await map(page).getByText("2 hits").waitFor();
    await page.getByLabel("This branch only").check();
    await search.fill("beta");
    await page.getByText("0 messages found").waitFor();
    await page.getByLabel("This branch only").uncheck();
    await page.getByText("2 messages found").waitFor();
  });

  it("W20: a part of the tree stands alone, with a way back", async () => {
    const { page } = await here.open(`/c/${await branched()}?panel=branches`);
    await row(page, "gamma").focus();
    await page.getByRole("button", { name: "Show only this" }).click();
    await row(page, "begin").waitFor({ state: "detached" });
    expect(await rows(page).count()).toBe(3);
    expect(await rows(page).first().getAttribute("aria-level")).toBe("1");
    await page.getByRole("button", { name: "Back to the full tree" }).click();
    await row(page, "begin").waitFor();
    expect(await rows(page).count()).toBe(6);
  });

  it("W17: the map shows the branch in view, leads to others, and follows what another client does", async () => {
    const conversation = await branched();
    const { page, complaints } = await here.open(`/c/${conversation}?panel=map`);
    const shown = () => map(page).locator("[data-in-view=true]").allTextContents();
    await map(page).getByText("alpha").click();
    await articles(page).filter({ hasText: "You said: alpha" }).waitFor();
    await eventually(shown).toEqual([expect.stringContaining("begin"), expect.stringContaining("alpha")]);
    await here.say(conversation, "omega", { at: leafIn(page) ?? "" });
    await map(page).getByText("4 messages").waitFor();
    await map(page).getByText("4 messages").click();
    await map(page).getByText("collapse", { exact: true }).click();
    await map(page).getByText("4 messages").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W16: ten thousand messages are a map of which only what is in sight is in the page, moved by buttons too", async () => {
    let conversation = "";
    {
      await using session = await Session.open(here.served.store);
      conversation = session.id;
      const ids: string[] = [];
      for (let at = 0; at < 10_000; at++) ids.push(createId());
      for (let at = 0; at < 10_000; at += 1_000) {
        await session.commit(
          ids.slice(at, at + 1_000).map((message, index) => ({
            type: "message.added" as const,
            message,
            // Every third message begins a branch halfway up.
            parentId: ids[(at + index) % 3 === 0 ? Math.floor((at + index - 1) / 2) : at + index - 1] ?? null,
            role: "user" as const,
            author: "user" as const,
            parts: [{ type: "text" as const, text: `message ${at + index}` }],
          })),
        );
      }
    }
    const { page } = await here.open(`/c/${conversation}?panel=map`, { viewport: { width: 1280, height: 800 } });
    await composer(page).waitFor();
    await map(page).locator("[data-in-view=true]").first().waitFor();
    expect(await map(page).locator("*").count()).toBeLessThan(1_500);
    const transform = () => map(page).locator("> g").getAttribute("transform");
    for (const name of ["Move left", "Move up", "Zoom in", "Zoom out", "Move down", "Move right"]) {
      const before = await transform();
      await page.getByRole("button", { name, exact: true }).click();
      await eventually(transform).not.toBe(before);
    }
    for (let time = 0; time < 8; time++) await page.getByRole("button", { name: "Zoom out", exact: true }).click();
    expect(await map(page).locator("*").count()).toBeLessThan(5_000);
  });

  it("W11: a branch that runs is marked while another one is read", async () => {
    const conversation = await branched();
    const { page } = await here.open(`/c/${conversation}?panel=branches`);
    await row(page, "alpha").click();
    await articles(page).filter({ hasText: "You said: alpha" }).waitFor();
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "hold" }], at: leafIn(page) ?? "" });
    await row(page, "beta").click();
    await articles(page).filter({ hasText: "You said: beta" }).waitFor();
    await row(page, "alpha").getByText("running").waitFor();
    expect(await row(page, "beta").getByText("running").count()).toBe(0);
    here.agent.release();
    await row(page, "alpha").getByText("running").waitFor({ state: "detached" });
  });

  it("W69: a label in the outline has twelve letters at least, and what a search finds comes into sight, there and on the map", async () => {
    const conversation = await here.conversation();
    const add = async (text: string, at?: string) => {
      const where = at === undefined ? {} : { at };
      const parts = [{ type: "text", text }] as const;
      return (await here.ask("message.add", { conversation, parts, ...where })).message;
    };
    const first = await add("the very first quince of all");
    for (let many = 0; many < 20; many++) await add(`branch ${many}`, first);
    const { page } = await here.open(`/c/${conversation}?panel=map`, { viewport: { width: 900, height: 700 } });
    const nodes = page.locator("[data-node]");
    // The whole tree at first, although its full size does not fit.
    await eventually(() => nodes.count()).toBe(21);
    for (let many = 20; many < 80; many++) await add(many === 60 ? "a hidden medlar" : `branch ${many}`, first);
    await map(page)
      .and(page.getByRole("img", { name: /81 nodes/ }))
      .waitFor();
    const inSight = nodes.filter({ hasText: "a hidden medlar" });
    expect(await inSight.count()).toBe(0);
    await page.getByRole("searchbox", { name: "Search this conversation" }).fill("medlar");
    await inSight.waitFor();
    const before = await nodes.count();
    await page.getByRole("button", { name: "Zoom to fit" }).click();
    await eventually(() => nodes.count()).toBeGreaterThan(before);
    let at = first;
    for (let level = 0; level < 14; level++) {
      await add(`side of level ${level}`, at);
      at = await add(`quince of level ${level}, and of many words`, at);
    }
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByRole("button", { name: "Branches" }).click();
    await page.getByRole("searchbox", { name: "Search this conversation" }).fill("medlar");
    await row(page, "a hidden medlar").waitFor();
    expect(await row(page, "a hidden medlar").evaluate((shown) => shown.getBoundingClientRect().bottom)).toBeLessThan(
      700,
    );
    await page.getByRole("searchbox", { name: "Search this conversation" }).fill("quince");
    await row(page, "the very first quince").focus();
    await page.keyboard.press("End");
    await row(page, "quince of level 13").waitFor();
    const narrowest = await rows(page).evaluateAll((all) =>
      Math.min(
        // An element that left the list meanwhile has no width.
        ...all
          .filter(({ isConnected }) => isConnected)
          .map((shown) => {
            const words = shown.querySelector("[dir=auto]") as HTMLElement;
            return words.getBoundingClientRect().width / (Number.parseFloat(getComputedStyle(words).fontSize) * 0.5);
          }),
      ),
    );
    expect(narrowest).toBeGreaterThan(12);
  });
});
