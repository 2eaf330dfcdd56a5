import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`branches side by side on the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W70: the same is asked on several branches by /fan; they stand side by side, and one is brought over", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("begin")}`);
    await write(page, "/fan 2 roots of a tree");
    const list = page.getByRole("list", { name: "Side by side" });
    await eventually(() => list.getByRole("listitem").count()).toBe(2);
    await eventually(() => list.innerText()).toMatch(/answered · .*no file[\s\S]*You said: roots of a tree/);
    await list.getByRole("button", { name: /^Show/ }).first().click();
    await list
      .getByRole("button", { name: /^Bring .* over$/ })
      .first()
      .click();
    await articles(page).getByText("Brought over from the branch").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W70: the panel asks one model as often as is wanted, or each of those that are chosen", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("begin")}?panel=compare`);
    const asked = page.getByRole("textbox", { name: "What is asked of each" });
    const list = page.getByRole("list", { name: "Side by side" });
    await asked.fill("leaves of a tree");
    await page.getByRole("combobox", { name: "How often" }).selectOption("2");
    await page.getByRole("button", { name: "Ask on 2 branches" }).click();
    await eventually(() => list.getByRole("listitem").count()).toBe(2);
    await eventually(() => list.innerText()).toMatch(
      /answered[\s\S]*leaves of a tree[\s\S]*answered[\s\S]*leaves of a tree/,
    );
    // It stays open, for what it may have to say, and is empty.
    await eventually(() => asked.inputValue()).toBe("");
    await asked.fill("bark of a tree");
    for (const model of ["scripted/second", "nowhere/such"]) {
      await page.getByRole("button", { name: "Choose models" }).click();
      await page.getByRole("searchbox", { name: "Find a model, or name one" }).fill(model);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: `Do not ask ${model}` }).waitFor();
    }
    await page.getByRole("button", { name: "Ask on 2 branches" }).click();
    await page.getByRole("alert").filter({ hasText: "nowhere" }).waitFor();
    // What was written is not lost by a model that there is not.
    expect(await asked.inputValue()).toBe("bark of a tree");
    expect(complaints).toEqual([]);
  });
});
