import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`branches side by side on the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W70: the same is asked on several branches by /fan; they stand side by side, and one is brought over", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("begin")}`);
    await write(page, "/fan 2 roots of a tree");
    const list = page.getByRole("list", { name: "Side by side" });
    await eventually(() => list.getByRole("listitem").count()).toBe(2);
    await eventually(() => list.innerText()).toMatch(/answered · .*no files[\s\S]*You said: roots of a tree/);
    await list.getByRole("button", { name: /^Show/ }).first().click();
    await list
      .getByRole("button", { name: /^Bring changes over/ })
      .first()
      .click();
    await articles(page).getByText("Brought over from the branch").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W70: the panel asks one model several times, or each chosen model once", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("begin")}?panel=compare`);
    const asked = page.getByRole("textbox", { name: "Message to each model" });
    const list = page.getByRole("list", { name: "Side by side" });
    await asked.fill("leaves of a tree");
    await page.getByRole("combobox", { name: "How many times" }).selectOption("2");
    await page.getByRole("button", { name: "Start 2 branches" }).click();
    await eventually(() => list.getByRole("listitem").count()).toBe(2);
    await eventually(() => list.innerText()).toMatch(
      /answered[\s\S]*leaves of a tree[\s\S]*answered[\s\S]*leaves of a tree/,
    );
    // The form stays open for errors, and is empty.
    await eventually(() => asked.inputValue()).toBe("");
    await asked.fill("bark of a tree");
    for (const model of ["scripted/second", "nowhere/such"]) {
      await page.getByRole("button", { name: "Choose models" }).click();
      await page.getByRole("searchbox", { name: "Search, or type a model name" }).fill(model);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: `Remove ${model}` }).waitFor();
    }
    await page.getByRole("button", { name: "Start 2 branches" }).click();
    await page.getByRole("alert").filter({ hasText: "nowhere" }).waitFor();
    // An unknown model does not lose the text.
    expect(await asked.inputValue()).toBe("bark of a tree");
    expect(complaints).toEqual([]);
  });

  it("W90: in the outline, branches that were asked the same are named by their models and numbers", async () => {
    const conversation = await here.conversation("begin");
    const { page, complaints } = await here.open(`/c/${conversation}?panel=branches`);
    const rows = page.getByRole("tree").getByRole("treeitem");
    const names = () => rows.allInnerTexts().then((all) => all.join("\n"));
    const leaf = (
      await here.ask("branch.fan", { conversation, parts: [{ type: "text", text: "roots of a tree" }], times: 2 })
    ).branches[0]?.message;
    await eventually(names).toMatch(
      /scripted\/model \(1\) · roots of a tree[\s\S]*scripted\/model \(2\) · roots of a tree/,
    );
    await here.idle(conversation);
    const parts = [{ type: "text", text: "twigs of a tree" }] as const;
    await here.ask("branch.fan", {
      conversation,
      parts,
      models: ["scripted/model", "scripted/second"],
      at: leaf ?? "",
    });
    await eventually(names).toMatch(/scripted\/model · twigs of a tree[\s\S]*scripted\/second · twigs of a tree/);
    expect(complaints).toEqual([]);
  });

  it("W65: in a repository, a conversation can begin in its own git worktree", async () => {
    const files = (page: Page) => page.getByRole("combobox", { name: "Files" });
    const { page } = await here.open("/");
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
    expect(await files(page).count()).toBe(0);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@localhost", ...args], { cwd: here.workspace });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const folder = join(here.workspace, "..", "worktrees");
    await page.reload();
    await files(page).selectOption("In a copy");
    await composer(page).fill("with files of its own");
    await composer(page).press("Enter");
    await articles(page).getByText("You said: with files of its own").waitFor();
    const conversation = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const { worktrees } = await here.ask("worktree.list", { conversation });
    expect(worktrees).toMatchObject([{ files: [], commits: 0, isGone: false }]);
    // After a failed worktree, the text stays and no conversation exists.
    await page.goto(new URL("/", page.url()).href);
    await files(page).selectOption("In a copy");
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    await composer(page).fill("kept here");
    await composer(page).press("Enter");
    await page.getByRole("alert").first().waitFor();
    expect(await composer(page).inputValue()).toBe("kept here");
    expect((await here.ask("conversation.list", {})).conversations.map(({ title }) => title)).not.toContain(
      "kept here",
    );
  });
});
