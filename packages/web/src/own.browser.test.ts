import { promptsOf } from "@banyan/server/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site } from "./testing/site.fixture.ts";

/** A notification of a window. */
interface Told {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
}

/** Replaces the system's notifications: the window records them, and `isLooking` decides whether it is visible. */
function standIn() {
  const told: (Told & EventTarget)[] = [];
  class Notification extends EventTarget {
    static readonly permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title: string, { body, tag }: Told) {
      super();
      told.push(Object.assign(this, { title, body, tag }));
    }
    close() {}
  }
  Object.assign(window, { Notification, told, isLooking: true });
  document.hasFocus = () => Reflect.get(window, "isLooking");
}

const toldIn = (page: Page) =>
  page.evaluate(() => (Reflect.get(window, "told") as Told[]).map(({ title, body }) => `${title}: ${body}`));
const look = (page: Page, isLooking: boolean) =>
  page.evaluate((is) => Object.assign(window, { isLooking: is }), isLooking);

describe.runIf(chromiumPath)(`a user's own settings of the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W74: a user's own prompt is inserted by its name, after a form for its fields; a preset is a model and a mode", async () => {
    const conversation = await here.conversation("hello");
    const { page, complaints } = await here.open(`/c/${conversation}?panel=settings`);
    const prompts = page.getByRole("region", { name: "Your prompts" });
    const keep = async (name: string, text: string) => {
      await prompts.getByLabel("Name of the prompt").fill(name);
      await prompts.getByLabel("Text of the prompt").fill(text);
      await prompts.getByRole("button", { name: "Save prompt" }).click();
    };
    await keep("review", "It is a command.");
    await prompts.getByRole("alert").getByText("/review is already a command").waitFor();
    await keep("Port", "Port {what} to {language}.");
    await prompts.getByText("/port").waitFor();
    await keep("greet", "Good morning!");
    expect(await faultsOf(page)).toEqual([]);
    await page.reload();
    await composer(page).pressSequentially("/gr");
    await page.getByRole("option", { name: /\/greet/ }).waitFor();
    await composer(page).press("Enter");
    await eventually(() => composer(page).inputValue()).toBe("Good morning!");
    await composer(page).fill("");
    await composer(page).pressSequentially("/po");
    await page.getByRole("option", { name: /\/port/ }).waitFor();
    await composer(page).press("Enter");
    const form = page.getByRole("form", { name: "/port" });
    await form.getByLabel("what").fill("sum.ts");
    await form.getByLabel("language").fill("Go");
    await page.keyboard.press("Enter");
    await eventually(() => composer(page).inputValue()).toBe("Port sum.ts to Go.");
    const presets = page.getByRole("region", { name: "Presets" });
    await presets.getByLabel("Name of the preset").fill("thorough");
    await presets.getByLabel("Model of the preset").fill("scripted/second");
    await presets.getByRole("combobox", { name: "Mode" }).selectOption("Task");
    await presets.getByRole("button", { name: "Save preset" }).click();
    await page.getByRole("combobox", { name: "Preset" }).selectOption("thorough");
    await page.getByRole("button", { name: "Model: scripted/second" }).waitFor();
    const message = page.getByRole("region", { name: "Your message" });
    expect(await message.getByRole("combobox", { name: "Mode" }).inputValue()).toBe("task");
    await presets.getByRole("button", { name: "Remove thorough" }).click();
    await page.getByRole("combobox", { name: "Preset" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("C19: the start of a conversation lists settings and files that the server ignored", async () => {
    const notice = "/commands/odd.md:2:14: this is no YAML; it was read line by line.";
    Object.assign(here.served.host, { notices: [notice] });
    const { page, complaints } = await here.open("/", {});
    await page.getByText("Settings and files that the server did not use as they are written").waitFor();
    await page.getByText(notice).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    Object.assign(here.served.host, { notices: [] });
  });

  it("W65, W74: prompts of files and MCP servers are offered after a slash, with a form for their fields, and sent", async () => {
    const port = { name: "port", description: "Ports a file", hint: "file language", model: "scripted/second" };
    await using _ = await promptsOf(here.served.host, [{ ...port, text: "hello, port $1 to $2" }]);
    const { page, complaints } = await here.open("/", {});
    const refused = page.getByRole("region", { name: "Your message" }).getByRole("alert");
    // A prompt that cannot be used for a new conversation stays in the first page's message box.
    await composer(page).pressSequentially("/trees:sh");
    await page.getByRole("option", { name: "/trees:show Shows a tree. kind [how]" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await composer(page).fill("/trees:show ");
    await composer(page).press("Enter");
    await refused.getByText("/trees:show needs kind: Which tree.").waitFor();
    await eventually(() => composer(page).inputValue()).toBe("/trees:show");
    // The returned text can be completed again.
    await composer(page).press("Backspace");
    await composer(page).pressSequentially("w");
    await page.getByRole("option", { name: "/trees:show" }).waitFor();
    await composer(page).press("Enter");
    const form = page.getByRole("form", { name: "/trees:show" });
    await form.getByLabel("kind").fill("a fig");
    await form.getByLabel("how (optional)").waitFor();
    await form.getByText("Which tree.").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await eventually(() => composer(page).inputValue()).toBe('/trees:show "a fig"');
    await composer(page).press("Enter");
    const said = articles(page).filter({ hasText: "Show a fig plainly with @src/sum.ts and [redacted:key]" });
    await said.getByRole("img").waitFor();
    await eventually(() => composer(page).inputValue()).toBe("");
    const conversation = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await here.idle(conversation);
    // The text after a file prompt's name is its argument; its model applies to one turn.
    await composer(page).pressSequentially("/po");
    await page.getByRole("option", { name: "/port Ports a file file language" }).waitFor();
    await composer(page).press("Tab");
    await eventually(() => composer(page).inputValue()).toBe("/port ");
    await composer(page).pressSequentially("sum.ts Go");
    await composer(page).press("Enter");
    await articles(page).filter({ hasText: "hello, port sum.ts to Go" }).waitFor();
    await here.idle(conversation);
    expect(await here.exported(conversation)).toContain('"scripted/second"');
    await page.getByRole("button", { name: "Model: scripted/model" }).waitFor();
    // After a cancelled wait for a hanging server, the text returns.
    await composer(page).fill("/trees:hang");
    await composer(page).press("Enter");
    await page.getByRole("list", { name: "Not sent yet" }).getByRole("button", { name: "Cancel" }).click();
    await eventually(() => composer(page).inputValue()).toBe("/trees:hang");
    expect(complaints).toEqual([]);
  });

  it("W75: a waiting question and an ended turn notify once, never a user who looks; a click opens the conversation", async () => {
    const [one, other] = [await here.conversation("one"), await here.conversation("other")];
    for (const [conversation, title] of [
      [one, "The first"],
      [other, "The second"],
    ] as const)
      await here.ask("conversation.rename", { conversation, title });
    const { page } = await here.open("/", {});
    await page.context().addInitScript(standIn);
    await page.goto(new URL(`/c/${one}?panel=settings`, page.url()).href);
    await page.getByLabel("Notify me when the agent needs me").check();
    const say = (text: string) => here.ask("turn.say", { conversation: other, parts: [{ type: "text", text }] });
    await look(page, false);
    // The notification code is loaded by then.
    await eventually(async () => {
      await say("often");
      await here.idle(other);
      return (await toldIn(page)).length;
    }).toBeGreaterThan(0);
    await look(page, true);
    await page.evaluate(() => (Reflect.get(window, "told") as unknown[]).splice(0));
    await say("seen");
    await here.idle(other);
    const second = page.getByRole("link", { name: /The second/ });
    await second.getByText(/unread/).waitFor();
    expect(await toldIn(page)).toEqual([]);
    await look(page, false);
    await say("shell");
    await eventually(() => toldIn(page)).toEqual(["The second: The agent is waiting for you."]);
    await page.evaluate(() => (Reflect.get(window, "told") as EventTarget[])[0]?.dispatchEvent(new Event("click")));
    await page.waitForURL((url) => url.pathname.endsWith(other));
    await page.getByRole("log").getByRole("button", { name: /Deny/ }).click();
    await here.idle(other);
    await eventually(() => toldIn(page)).toEqual([
      "The second: The agent is waiting for you.",
      "The second: The agent is done.",
    ]);
    // Another window of the page is visible.
    const window = await page.context().newPage();
    await window.goto(page.url());
    await articles(window).last().waitFor();
    await say("again");
    await here.idle(other);
    await articles(window).filter({ hasText: "You said: again" }).waitFor();
    await window.waitForTimeout(300);
    expect((await toldIn(page)).length).toBe(2);
    expect(await toldIn(window)).toEqual([]);
  });

  it("W75: the page can be installed; without its server it shows a sentence, and stores nothing else", async () => {
    const { page } = await here.open("/", { serviceWorkers: "allow", locale: "de" });
    await page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state);
    const devtools = await page.context().newCDPSession(page);
    const { installabilityErrors: faults } = await devtools.send("Page.getInstallabilityErrors");
    // Test windows resemble private ones, which only some browsers report as a fault.
    expect(faults.map(({ errorId }) => errorId).filter((fault) => fault !== "in-incognito")).toEqual([]);
    const kept = await page.evaluate(async () => {
      const names = await caches.keys();
      const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return all.flat().map(({ url }) => new URL(url).pathname);
    });
    expect(kept).toEqual(["/offline"]);
    await page.reload();
    await eventually(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
    here.link.cut();
    await page.goto(new URL("/c/anything", page.url()).href);
    await page.getByRole("heading", { name: "Banyan ist nicht erreichbar" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    here.link.mend();
    await page.getByRole("link", { name: "Noch einmal versuchen" }).click();
    await page.getByRole("alert", { name: "Gespräch nicht gefunden" }).waitFor();
    await page.goto(new URL("/", page.url()).href);
    await page.locator("#composer").waitFor();
  });

  it("W68: one or several conversations can be archived, brought back and removed", async () => {
    for (const title of ["Alder", "Beech", "Cedar"])
      await here.ask("conversation.rename", { conversation: await here.conversation("hello"), title });
    const { page, complaints } = await here.open("/");
    const list = page.getByRole("navigation", { name: "Conversations" });
    const entry = (name: string) => list.getByRole("link", { name });
    await entry("Alder").hover();
    await list.getByRole("button", { name: "Archive Alder" }).click();
    await entry("Alder").waitFor({ state: "detached" });
    await list.getByRole("button", { name: "Select several" }).click();
    await list.getByLabel("Beech").check();
    await list.getByLabel("Cedar").check();
    const chosen = list.getByRole("region", { name: "Selected conversations" });
    await chosen.getByText("2 selected").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await chosen.getByRole("button", { name: "Archive" }).click();
    await entry("Cedar").waitFor({ state: "detached" });
    await page.reload();
    await list.getByRole("button", { name: "3 archived" }).click();
    await entry("Beech").hover();
    await list.getByRole("button", { name: "Unarchive Beech" }).click();
    await list.getByRole("button", { name: "2 archived" }).waitFor();
    await list.getByRole("button", { name: "Select several" }).click();
    await list.getByLabel("Beech").check();
    await list.getByLabel("Cedar").check();
    await chosen.getByRole("button", { name: "Remove" }).click();
    await list.getByText("Removed: 2 conversations").waitFor();
    await entry("Beech").waitFor({ state: "detached" });
    await list.getByRole("button", { name: "Undo" }).click();
    await entry("Beech").waitFor();
    // Removals in a row are undone together.
    for (const name of ["Beech", "Cedar"]) {
      await entry(name).hover();
      await list.getByRole("button", { name: `Remove ${name}` }).click();
      await entry(name).waitFor({ state: "detached" });
    }
    await list.getByText("Removed: 2 conversations").waitFor();
    await list.getByRole("button", { name: "Undo" }).click();
    for (const name of ["Beech", "Cedar"]) await entry(name).waitFor();
    expect(complaints).toEqual([]);
  });
});
