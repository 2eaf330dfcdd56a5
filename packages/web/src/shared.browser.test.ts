import { type CommandName, rightFor } from "@banyan/protocol";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`the page behind a link to a conversation${whyNot}`, PATIENT, () => {
  const here = site();

  it("S29, W73: the menu makes a link, which shows only its conversation, live", async () => {
    const other = await here.conversation("of somebody else");
    const conversation = await here.conversation("hello", "read a");
    const { page: own } = await here.open(`/c/${conversation}`);
    await own.getByRole("button", { name: "More about this conversation" }).click();
    await own.getByRole("button", { name: "Link to the conversation" }).click();
    const address = await own.getByRole("textbox", { name: "Link" }).inputValue();
    expect(address).toContain(`http://${here.link.host}/?token=`);

    const page = await here.stranger(address.slice(`http://${here.link.host}`.length));
    await page.getByText("View only").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/c/${conversation}`);
    expect(page.url()).not.toContain("token");
    const sent: string[] = [];
    page.on("websocket", (socket) =>
      socket.on("framesent", ({ payload }) => sent.push(JSON.parse(String(payload)).type as string)),
    );
    await page.reload();
    await page.getByText("View only").waitFor();
    expect(await articles(page).count()).toBeGreaterThan(2);
    expect(await composer(page).count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Conversations" }).count()).toBe(0);
    expect(await page.locator("body").innerText()).not.toContain("somebody else");
    await page.getByRole("button", { name: "More about this conversation" }).click();
    expect(await page.getByRole("button", { name: /Export|Link to|Remove|Rename/ }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Panels" }).click();
    for (const tab of await page.getByRole("navigation", { name: "Panels" }).getByRole("button").all())
      await tab.click();
    expect(await faultsOf(page)).toEqual([]);
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "new words" }] });
    await eventually(() => articles(page).last().innerText()).toContain("You said: new words");
    // No command that the server would refuse.
    expect([...new Set(sent)].filter((type) => type !== "hello" && rightFor(type as CommandName) !== "show")).toEqual(
      [],
    );
    await page.goto(`http://${here.link.host}/c/${other}`);
    await page.getByText("This link shows only one conversation.").first().waitFor();
    await page.goto(`http://${here.link.host}/`);
    await eventually(() => new URL(page.url()).pathname).toBe(`/c/${conversation}`);

    await own.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("This link has expired or was revoked").first().waitFor();
    // Once, for the whole page.
    await eventually(() => page.getByRole("alert").count()).toBe(1);
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
  });

  it("S29: the owner who opens a link keeps all rights in the linked conversation", async () => {
    const conversation = await here.conversation("hello");
    const { token } = await here.ask("share.create", { conversation });
    const { page } = await here.open("/");
    await page.goto(`http://${here.link.host}/?token=${token}`);
    await eventually(() => new URL(page.url()).pathname).toBe(`/c/${conversation}`);
    await composer(page).waitFor();
  });
});
