import { type CommandName, rightFor } from "@banyan/protocol";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, GUEST_TOKEN, PATIENT, site } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`the page for a guest${whyNot}`, PATIENT, () => {
  const here = site();

  it("S28, W52: a guest sees the conversation and a sign of watching, and no forbidden action", async () => {
    const conversation = await here.conversation("hello", "read a");
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "shell" }] });
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "for later" }], delivery: "queue" });
    const { page, complaints } = await here.open(`/c/${conversation}?panel=settings`, {}, GUEST_TOKEN);
    const sent: string[] = [];
    page.on("websocket", (socket) =>
      socket.on("framesent", ({ payload }) => sent.push(JSON.parse(String(payload)).type as string)),
    );
    await page.reload();
    await page.getByText("View only").waitFor();
    await page.getByText("Waiting for approval.").waitFor();
    const asked = page.getByRole("log").getByRole("region", { name: "Call of shell" });
    expect(await asked.innerText()).toMatch(/\?\s*waiting for an answer/);
    expect(await page.locator("body").innerText()).not.toMatch(/for you\b/);
    expect(await faultsOf(page)).toEqual([]);
    expect(await composer(page).count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Conversations" }).innerText()).not.toContain("for you");
    expect(await page.title()).toBe("hello · Banyan");
    const tabs = page.getByRole("navigation", { name: "Panels" });
    if ((await page.getByRole("complementary").count()) === 0)
      await page.getByRole("button", { name: "Panels" }).click();
    await tabs.waitFor();
    for (const tab of await tabs.getByRole("button").all()) {
      const name = (await tab.getAttribute("aria-label")) ?? "";
      await tab.click();
      await page.getByRole("complementary", { name }).waitFor();
    }
    for (const article of await articles(page).all()) await article.hover();
    for (const key of ["a", "Alt+n", "Alt+i", "Alt+w", "Alt+a", "Alt+s", "Alt+d", "Alt+e", "Alt+x", "Control+."])
      await page.keyboard.press(key);
    await page.getByRole("button", { name: "More about this conversation" }).click();
    const buttons = (await page.getByRole("button").all()).map(async (button) => {
      const name = await button.getAttribute("aria-label");
      return name ?? (await button.innerText());
    });
    const names = new Set(await Promise.all(buttons));
    const acts =
      /new conversation|import|send|steer|queue|stop|allow|deny|answer|edit|star|name|remove|rename|revoke|undo|take back|continue|settings|context/i;
    expect([...names].filter((name) => acts.test(name) && !/^Copy/.test(name))).toEqual([]);
    expect(names).toContain("Export as JSON");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("listbox").or(page.getByRole("dialog")).first().waitFor();
    const palette = await page.getByRole("option").allInnerTexts();
    expect(
      palette.filter((name) => /New conversation|Star|Answer again|Stop|Write|Settings|Context/.test(name)),
    ).toEqual([]);
    expect(palette.join()).toContain("Export as Markdown");
    // No command that the server would refuse, although the test used the whole page.
    const commands = [...new Set(sent)].filter((type) => type !== "hello");
    expect(commands.filter((type) => rightFor(type as CommandName) === "act")).toEqual([]);
    expect(sent).toContain("feed.subscribe");
    expect(complaints).toEqual([]);
  });

  it("S28: a guest sees the conversation live, and can export it", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {}, GUEST_TOKEN);
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "new words" }] });
    await eventually(() => articles(page).last().innerText()).toContain("You said: new words");
    await page.getByRole("button", { name: "More about this conversation" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export as Markdown" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.md$/);
  });
});
