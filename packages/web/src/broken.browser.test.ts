import { Agent, createId, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const card = (page: Page) => page.getByRole("log").getByRole("alert");
const entry = (page: Page, title: string) => page.getByRole("navigation").getByRole("link", { name: title });

describe.runIf(chromiumPath)(`turns that break off in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W48: a turn that fails before its first word stands where its answer would, also after a reload, in the list and in the tab; another model answers", async () => {
    const conversation = await here.conversation("refuse 1");
    const { page } = await here.open(`/c/${conversation}`);
    const isTold = async () => {
      await eventually(() => card(page).innerText()).toContain("The key of scripted is wrong: set another one.");
      await eventually(() => page.title()).toBe("Failed: refuse 1 · Banyan");
      await eventually(() => entry(page, "refuse 1").innerText()).toContain("failed");
    };
    await isTold();
    // The usage is unknown, so no price is shown (W51).
    expect(await page.locator("header").innerText()).not.toContain("$0");
    await page.reload();
    await isTold();
    expect(await faultsOf(page, "[role=log]")).toEqual([]);
    await card(page).getByRole("button", { name: "Try again" }).click();
    await isTold();
    await card(page).getByRole("button", { name: "Another model" }).click();
    await card(page).getByLabel("Model").selectOption("scripted/second");
    await card(page).getByRole("button", { name: "Answer again" }).click();
    await eventually(() => articles(page).last().innerText()).toContain("I can.");
    expect(await card(page).count()).toBe(0);
    await eventually(() => page.title()).toBe("refuse 1 · Banyan");
    expect(await entry(page, "refuse 1").innerText()).not.toContain("failed");
  });

  it("E15: the checks of a goal that is not reached are above the message box, with their last results", async () => {
    const id = createId();
    const session = await Session.open(here.served.store, id, { create: true });
    const checks = [
      { what: "it is a number", run: () => ({ passed: true }) },
      { what: "it is 2", run: () => ({ passed: false, why: "it is 1" }) },
    ];
    const agent = new Agent({ model: scriptedModel(["One.", "Two."]), goal: { checks, failures: 2 } });
    await agent.send("Make it 2.", { session }).catch(() => {});
    await session.close();
    const { page } = await here.open(`/c/${id}`);
    const goal = page.getByRole("list", { name: "Goal" });
    await eventually(() => goal.getByRole("listitem").allInnerTexts()).toEqual([
      "passed: it is a number",
      "failed: it is 2 (it is 1)",
      "The checks failed 2 times in the same way.",
    ]);
    expect(await faultsOf(page, "ul[aria-label=Goal]")).toEqual([]);
  });

  it("W48: a broken answer has one note below its text, and can be requested again", async () => {
    const conversation = await here.conversation("break 1");
    const { page } = await here.open(`/c/${conversation}`);
    await card(page).getByRole("button", { name: "Try again" }).waitFor();
    const said = await articles(page).last().innerText();
    expect(said).toContain("It begins");
    expect(await card(page).innerText()).toMatch(/^The answer broke off/);
    expect(said).not.toContain("No answer");
    expect(said.match(/The provider is not available/g)).toHaveLength(1);
    await card(page).getByRole("button", { name: "Try again" }).click();
    await eventually(() => articles(page).last().innerText()).toContain("2/2");
  });

  it("W48: a stopped turn, which can continue, and a turn at its limit show their state in place", async () => {
    const stopped = await here.conversation();
    const { page } = await here.open(`/c/${stopped}`);
    await write(page, "stall");
    await eventually(() => articles(page).last().innerText()).toContain("word4");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await eventually(() => card(page).innerText()).toMatch(/^Interrupted/);
    expect(await articles(page).last().innerText()).toContain("word4");
    // The answer continues: message and text stay, and no text is repeated.
    await card(page).getByRole("button", { name: "Continue", exact: true }).click();
    await eventually(() => articles(page).last().innerText()).toContain(
      "You said: Go on from where your last answer stopped.",
    );
    expect(await articles(page).count()).toBe(3);
    expect(await articles(page).nth(1).innerText()).toContain("word4");
    expect(await card(page).count()).toBe(0);
    const limited = await here.conversation();
    await page.goto(`http://${here.link.host}/c/${limited}`);
    await composer(page).waitFor();
    await write(page, "look a b c d e f g h i j k l");
    await page.getByRole("button", { name: "Stop here" }).click();
    await eventually(() => card(page).innerText()).toMatch(/^Stopped at a limit/);
    await card(page).getByRole("button", { name: "Try again" }).waitFor();
  });

  it("W48: the page shows that a server's end interrupted a turn, even after a new message", async () => {
    const conversation = await here.conversation();
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "stall");
    await eventually(() => articles(page).last().innerText()).toContain("word4");
    await here.restart();
    await page.getByRole("button", { name: "Continue", exact: true }).waitFor();
    await write(page, "hello");
    await eventually(() => articles(page).last().innerText()).toContain("You said: hello");
    const told = page.getByRole("log").getByRole("region", { name: "Interrupted" });
    expect(await told.innerText()).toContain("The program stopped before the answer was complete.");
  });

  it("F37: a failed log ends the turn, and the next message opens the conversation again", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "half 20");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    // Taking the log makes the next write fail, like a full disk.
    const taken = await here.served.host.store.open(conversation, { take: true });
    here.agent.release();
    await page.getByRole("alert").getByText("The conversation could not be written").waitFor();
    expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
    await taken.close();
    await write(page, "are you there?");
    await eventually(() => articles(page).last().innerText()).toContain("You said: are you there?");
    await eventually(() => page.getByText("The conversation could not be written").count()).toBe(0);
  });
});
