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
});
