import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`the palette${whyNot}`, PATIENT, () => {
  const here = site();

  it("W44: Ctrl+K finds every action by its name, with its shortcut, and does it", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("begin")}`);
    await composer(page).click();
    const palette = page.getByRole("dialog", { name: "Find an action" });
    const find = async (words: string) => {
      await page.keyboard.press("Control+k");
      // Wait for the focus: earlier typing would go to the old element.
      await palette.locator("input:focus").waitFor();
      await page.keyboard.type(words);
    };
    const options = palette.getByRole("option");
    await find("");
    await eventually(() => options.filter({ hasText: "New conversation" }).innerText()).toMatch(/Alt\+N$/);
    await eventually(() => options.filter({ hasText: "Export as" }).count()).toBe(3);
    await page.keyboard.type("settings");
    await eventually(() => options.count()).toBe(1);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Settings" }).waitFor();
    await palette.waitFor({ state: "detached" });
    await page.locator("#composer:focus").waitFor();
    await find("write a");
    await eventually(() => options.count()).toBe(1);
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
    await page.locator("#composer:focus").waitFor();
    await find("no such thing");
    await palette.getByText("No matching action.").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#composer:focus").waitFor();
    expect(complaints).toEqual([]);
  });

  it("W78: a command that is sent before the page can read it is carried out once, as soon as it can", async () => {
    const conversation = await here.conversation("begin");
    const { page } = await here.open("/");
    const asked = Promise.withResolvers<void>();
    const served = Promise.withResolvers<void>();
    await page.route(/\/assets\/slash-lines-.*js$/, async (route) => {
      asked.resolve();
      await served.promise;
      await route.continue();
    });
    await page.goto(new URL(`/c/${conversation}`, page.url()).href);
    await asked.promise;
    await articles(page).nth(1).waitFor();
    await write(page, "/label a name for the end");
    await page.keyboard.press("Enter");
    expect(await composer(page).inputValue()).toBe("/label a name for the end");
    served.resolve();
    await eventually(() => composer(page).inputValue()).toBe("");
    await page.getByText("a name for the end").first().waitFor();
    expect(await articles(page).count()).toBe(2);
  });

  it("H13: /fan, /restore and /retry read on the page what they read in a terminal", async () => {
    const conversation = await here.conversation("begin");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).nth(1).waitFor();
    const problem = page.getByRole("alert");
    await write(page, "/fan 9 find it");
    await problem.filter({ hasText: "/fan asks 1 to 8 times at once." }).waitFor();
    await write(page, "/fan 12 angry men: who wrote it?");
    await problem.filter({ hasText: "If the question begins with a number" }).waitFor();
    // A user's shell command is not the message to retry.
    const parts = ["!ls", '<output name="ls">a.txt</output>'].map((text) => ({ type: "text", text }) as const);
    await here.ask("message.add", { conversation, parts });
    await articles(page).nth(2).waitFor();
    await write(page, "/retry");
    await eventually(() => articles(page).count()).toBe(2);
    await eventually(() => articles(page).last().innerText()).toContain("You said: begin");
    // With several removed messages, the user chooses.
    const { events }: { events: readonly { type: string; message: string; role?: string }[] } = JSON.parse(
      (await here.ask("conversation.export", { conversation, format: "json" })).text,
    );
    const [first] = events.filter(({ type, role }) => type === "message.added" && role === "user");
    const added = await Promise.all(
      ["older", "newer"].map((text) =>
        here.ask("turn.retry", { conversation, at: first?.message ?? "", parts: [{ type: "text", text }] }),
      ),
    );
    for (const { message = "" } of added.toReversed()) await here.ask("message.remove", { conversation, message });
    await write(page, "/restore");
    const told = page.getByRole("status").filter({ hasText: "/restore #n restores a message" });
    await told.waitFor();
    const [, number = ""] = /#(\d+)\s+You\s+older/.exec(await told.innerText()) ?? [];
    await write(page, `/restore #${number}`);
    await page.getByRole("status").filter({ hasText: "Restored" }).waitFor();
  });

  it("W44, W53: the shortcuts are listed; none is a single key, and whatever else is typed is a message", async () => {
    const { page } = await here.open(`/c/${await here.conversation("begin")}`);
    const changes = page.getByRole("complementary", { name: "Changes" });
    await page.locator("#composer:focus").waitFor();
    await articles(page).first().focus();
    await page.keyboard.press("Alt+c");
    await changes.waitFor();
    await articles(page).first().focus();
    await page.keyboard.press("Control+/");
    const list = page.getByRole("dialog", { name: "Shortcuts" });
    await list.waitFor();
    const text = await list.innerText();
    for (const line of ["New conversation", "Panel: Map", "Allow once", "Alt+Enter"]) expect(text).toContain(line);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await articles(page).first().focus();
    for (const key of "nrcb?") await page.keyboard.press(key);
    expect(await composer(page).inputValue()).toBe("nrcb?");
    expect(await changes.count()).toBe(1);
    expect(await articles(page).count()).toBe(2);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Find an action" }).waitFor();
    expect(await list.count()).toBe(0);
  });
});
