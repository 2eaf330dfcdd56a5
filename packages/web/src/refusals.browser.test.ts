import type { Command } from "@banyan/protocol";
import { lateServer } from "@banyan/server/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

type Asked = Pick<Command, "type" | "id">;

/** Makes the chosen commands fail, like a server that cannot carry them out. */
async function refuse(page: Page, isRefused: (command: Asked) => boolean | Promise<boolean>) {
  await page.routeWebSocket(/\/api\/v1\/socket/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage(async (frame) => {
      const command = JSON.parse(String(frame));
      if (!(await isRefused(command))) return server.send(frame);
      const error = { code: "refused", message: `No ${command.type} today.` };
      return socket.send(JSON.stringify({ type: "failed", id: command.id, error }));
    });
  });
  await page.reload();
  await articles(page).last().waitFor();
}

describe.runIf(chromiumPath)(`failed actions of the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W55, W68: a refused title, star or removal is reported and changes nothing", async () => {
    const conversation = await here.conversation("hello");
    const { page, complaints } = await here.open(`/c/${conversation}`);
    const types = ["conversation.rename", "conversation.remove", "message.star"];
    await refuse(page, ({ type }) => types.includes(type));
    const title = await page.getByRole("heading", { level: 1 }).innerText();
    const told = (type: string) => page.getByRole("alert").filter({ hasText: `No ${type} today.` });
    await articles(page).first().hover();
    await articles(page).first().getByRole("button", { name: "Star this message" }).click();
    await told("message.star").waitFor();
    await articles(page).first().getByRole("button", { name: "Star this message" }).waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await told("message.star").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByLabel("Title", { exact: true }).fill("another title");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await told("conversation.rename").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(title);
    // A removal is sent after the time to undo; if it fails, the page says so and the list shows the conversation again.
    const entry = page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: title });
    await page.getByRole("button", { name: "Remove the conversation" }).click();
    await entry.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await entry.waitFor();
    await entry.hover();
    await page.getByRole("button", { name: `Remove ${title}` }).click();
    await entry.waitFor({ state: "detached" });
    await told("conversation.remove").waitFor();
    await entry.waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("W29: a copy that the browser refuses is reported, and the user's next copy works", async () => {
    const { page, complaints } = await here.open(`/c/${await here.conversation("hello")}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await articles(page).last().waitFor();
    const copy = async () => {
      await articles(page).first().hover();
      await articles(page).first().getByRole("button", { name: "Copy the text" }).click();
      await page.getByRole("alert").filter({ hasText: "Could not copy" }).waitFor();
      await page.getByRole("button", { name: "Close", exact: true }).click();
    };
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
    });
    await copy();
    await page.evaluate(() => {
      Reflect.deleteProperty(Navigator.prototype, "clipboard");
      document.execCommand = () => false;
    });
    await copy();
    await composer(page).fill("of my own");
    await composer(page).press("ControlOrMeta+a");
    await composer(page).press("ControlOrMeta+c");
    await composer(page).press("End");
    await composer(page).press("ControlOrMeta+v");
    await eventually(() => composer(page).inputValue()).toBe("of my ownof my own");
    expect(complaints).toEqual([]);
  });

  it("W38: Stop returns waiting text to the message box, also when a part was delivered meanwhile", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    // The last message is withdrawn first.
    let isFirst = true;
    await refuse(page, ({ type }) => {
      if (type !== "input.withdraw" || !isFirst) return false;
      isFirst = false;
      return true;
    });
    await write(page, "hold");
    for (const text of ["one", "two", "three"]) {
      await composer(page).fill(text);
      await page.getByRole("button", { name: "Queue" }).click();
    }
    await eventually(() => page.getByRole("list", { name: "Not delivered yet" }).getByRole("listitem").count()).toBe(3);
    await page.getByRole("button", { name: "Stop" }).click();
    await eventually(() => composer(page).inputValue()).toBe("one\n\ntwo");
    await page
      .getByRole("alert")
      .filter({ hasText: "“three” could not be taken back. It is still waiting." })
      .waitFor();
  });

  it("W38: Stop names the place of text that was just delivered or taken back elsewhere", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    const inputs: string[] = [];
    await refuse(page, async ({ type, id }) => {
      if (type === "turn.say") inputs.push(id);
      if (type !== "run.interrupt") return false;
      await here.ask("input.withdraw", { conversation, input: inputs.at(-1) ?? "" });
      here.agent.release();
      await here.idle(conversation);
      return false;
    });
    await write(page, "hold");
    await page.getByRole("log").getByText("running").waitFor();
    for (const text of ["one", "two"]) {
      await composer(page).fill(text);
      await page.getByRole("button", { name: "Queue" }).click();
    }
    await eventually(() => page.getByRole("list", { name: "Not delivered yet" }).getByRole("listitem").count()).toBe(2);
    await page.getByRole("button", { name: "Stop" }).click();
    const told = page.getByRole("alert");
    await told.filter({ hasText: "“one” was already delivered." }).waitFor();
    expect(await told.innerText()).toContain("“two” was already taken back.");
    await page.getByRole("article", { name: /You/ }).getByText("one", { exact: true }).waitFor();
    expect(await composer(page).inputValue()).toBe("");
  });

  it("W52: a removed conversation shows its last state; a missing conversation is requested once", async () => {
    const conversation = await here.conversation("soon gone");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "hold");
    await page.getByRole("log").getByText("running").waitFor();
    await here.ask("conversation.remove", { conversation });
    await page.getByRole("alert").filter({ hasText: "This conversation was removed" }).waitFor();
    await page.getByRole("log").getByText("cancelled").waitFor();
    await page.getByRole("link", { name: /soon gone/ }).waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: "soon gone" }).waitFor();
    await page.reload();
    await page.getByText("The conversation may have been removed, or the address is wrong.").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });

  it("W52: a card reports a server of another version, with the next step", async () => {
    const { page } = await here.open("/");
    let isOther = true;
    await page.routeWebSocket(/\/api\/v1\/socket/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((frame) => {
        const said = JSON.parse(String(frame));
        server.send(said.type === "hello" && isOther ? JSON.stringify({ ...said, protocol: "99.0" }) : frame);
      });
    });
    await page.reload();
    const card = page.getByRole("alert", { name: "The page and the server have different versions" });
    await card.getByText(/This server uses protocol version .*, and the client uses version 99\.0/).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    isOther = false;
    await card.getByRole("button", { name: "Reload the page" }).click();
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
    expect(await card.count()).toBe(0);
  });

  it("W34: the keyboard answers waiting questions one after the other, and then writes a message", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await articles(page).last().waitFor();
    for (const name of ["one", "two"]) {
      const conversation = await here.conversation(name);
      await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "shell" }] });
    }
    await page.getByRole("button", { name: "2 waiting for you" }).click();
    const cards = page.getByRole("list", { name: "Waiting for you" }).getByRole("group");
    await eventually(() => cards.count()).toBe(2);
    await cards.last().focus();
    await page.keyboard.press("Alt+a");
    await eventually(() => cards.count()).toBe(1);
    await eventually(() => cards.first().evaluate((card) => card === document.activeElement)).toBe(true);
    await page.keyboard.press("Alt+d");
    await cards.first().waitFor({ state: "detached" });
    await eventually(() => composer(page).evaluate((box) => box === document.activeElement)).toBe(true);
  });

  it("B83: a first message that waits for an MCP server shows the server; the user sends it without the server or not at all", async () => {
    await using _late = await lateServer(here.served.host);
    const { page } = await here.open(`/c/${await here.conversation()}`);
    const told = page.getByRole("status").filter({ hasText: "Waiting for the MCP server late, for at most 30 s." });
    await write(page, "hello there");
    await told.waitFor();
    expect(await page.getByRole("list", { name: "Not sent yet" }).innerText()).toMatch(/waiting\s+hello there/);
    expect(await faultsOf(page)).toEqual([]);
    await told.getByRole("button", { name: "Do not send" }).click();
    await told.waitFor({ state: "detached" });
    await eventually(() => composer(page).inputValue()).toBe("hello there");
    expect(await articles(page).count()).toBe(0);
    // Another MCP server is late again.
    await using _later = await lateServer(here.served.host);
    await composer(page).press("Enter");
    await told.getByRole("button", { name: "Continue without it" }).click();
    await eventually(() => articles(page).last().innerText()).toContain("You said: hello there");
    const notes = page.getByRole("list", { name: "Other events" });
    await eventually(() => notes.innerText()).toMatch(/^The MCP server late is still starting\. /);
    expect(await told.count()).toBe(0);
  });
});
