import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const changes = (page: Page) => page.getByRole("region", { name: "Files changed by change" });

describe.runIf(chromiumPath)(`changed files in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W31: a call shows the files it changed, with counts and signs, unified or split, and each can be closed", async () => {
    const conversation = await here.conversation("change src/a.ts");
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const files = changes(page);
    await files.waitFor();
    const head = files.getByRole("button", { name: /src\/a\.ts changed \+2 −1/ });
    expect(await head.getAttribute("aria-expanded")).toBe("true");
    await eventually(() => files.innerText()).toMatch(/- the old line[\s\S]*\+ the new line[\s\S]*\+ one more line/);
    await page.getByRole("button", { name: "Split" }).click();
    // In one evaluation, because both elements may move.
    const between = () =>
      files.getByText(/^[-+] the (old|new) line/).evaluateAll((lines) => {
        const [old, now] = lines.map((line) => line.getBoundingClientRect());
        return old && now && { right: now.x - old.x, down: now.y - old.y };
      });
    await eventually(between).toEqual({ right: expect.toSatisfy((pixels: number) => pixels > 0), down: 0 });
    await head.click();
    await eventually(() => head.getAttribute("aria-expanded")).toBe("false");
    await eventually(() => files.getByText("the old line").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("B30: the page shows a call's file while the model writes it, and then the change", async () => {
    const conversation = await here.conversation();
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "change src/b.ts slowly");
    await changes(page)
      .getByRole("button", { name: /src\/b\.ts being written/ })
      .waitFor();
    await changes(page).getByText("+ Another line.", { exact: true }).waitFor();
    here.agent.release();
    await changes(page)
      .getByRole("button", { name: /src\/b\.ts changed/ })
      .waitFor();
    await eventually(() => changes(page).getByText("Another line.").count()).toBe(0);
  });

  it("F82: changed files with odd names are listed on one line each, with visible signs", async () => {
    const names = [
      ["it's.txt", "it's.txt"],
      ['say"hi".txt', 'say"hi".txt'],
      ["odd/[id]/(g)/page.tsx", "odd/[id]/(g)/page.tsx"],
      ["-dash.txt", "-dash.txt"],
      ["<b>bold</b>.txt", "<b>bold</b>.txt"],
      ["a\u202etxt.exe", "a\\u{202e}txt.exe"],
      ["日本/größe.txt", "日本/größe.txt"],
    ] as const;
    const conversation = await here.conversation();
    const { page, complaints } = await here.open(`/c/${conversation}?panel=changes`);
    const files = page.getByRole("region", { name: "Changed files" });
    for (const [name, shown] of names) {
      await write(page, `change ${name}`);
      const head = files.getByRole("button").filter({ hasText: shown });
      await head.waitFor();
      expect(await head.count(), name).toBe(1);
      const words = (await head.innerText()).split("\n");
      expect(words, name).toContain(shown);
      expect(words.join(""), name).not.toMatch(/[\u202a-\u202e]/);
    }
    expect(complaints).toEqual([]);
  });

  it("W31: a diff of 50,000 lines is there to its end, and only what is in sight is in the page", async () => {
    const conversation = await here.conversation("change many.txt much");
    const { page } = await here.open(`/c/${conversation}?panel=usage`);
    await composer(page).waitFor();
    await page.getByRole("navigation", { name: "Panels" }).getByRole("button", { name: "Changes" }).click();
    const files = page.getByRole("region", { name: "Changed files" });
    await files.getByText("+ line 1 of many", { exact: true }).waitFor();
    await files.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await files.getByText("+ line 50000 of many").waitFor();
    expect(await files.locator("*").count()).toBeLessThan(1_500);
  });

  it("W15: a user who leaves a branch with changed files learns that they stay, and can view the changes", async () => {
    const conversation = await here.conversation("begin");
    const first = await here.say(conversation, "change src/c.ts");
    const exported = JSON.parse(await here.exported(conversation)).events as {
      type: string;
      message: string;
      parentId: string;
    }[];
    const at = exported.find(({ type, message }) => type === "message.added" && message === first)?.parentId;
    await here.say(conversation, "something else", { ...(at === undefined ? {} : { at }) });
    const { page } = await here.open(`/c/${conversation}`);
    const notice = page.getByRole("status").filter({ hasText: "changed 1 file" });
    await page.getByRole("button", { name: "Previous version of this message, 2 of 2" }).click();
    await changes(page).waitFor();
    expect(await notice.count()).toBe(0);
    await page.getByRole("button", { name: "Next version of this message, 1 of 2" }).click();
    await notice.waitFor();
    expect(await notice.innerText()).toContain("The change was not undone");
    await notice.getByRole("button", { name: "Show the changes" }).click();
    const files = page.getByRole("region", { name: "Changed files" });
    await files.getByRole("button", { name: /src\/c\.ts/ }).waitFor();
    await page.getByRole("button", { name: "Show this branch" }).click();
    await page.getByText("No files changed.").waitFor();
    expect(new URL(page.url()).searchParams.get("panel")).toBe("changes");
    await page.getByRole("button", { name: "Previous version of this message, 2 of 2" }).click();
    await notice.waitFor({ state: "detached" });
  });

  it("W15: a visit to a sub-agent does not leave the branch", async () => {
    const { page } = await here.open(`/c/${await here.conversation("change src/d.ts", "agent look")}`);
    const crumbs = page.getByRole("navigation", { name: "Sub-agents" });
    await page.getByRole("region", { name: "Sub-agent" }).getByRole("link", { name: "Open" }).click();
    await crumbs.waitFor();
    expect(await page.getByText("The branch you left").count()).toBe(0);
    await crumbs.getByRole("link", { name: "Conversation" }).click();
    await crumbs.waitFor({ state: "detached" });
    expect(await page.getByText("The branch you left").count()).toBe(0);
  });
});
