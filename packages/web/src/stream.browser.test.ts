import { createId } from "@banyan/core/conversation";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { words } from "./testing/agent.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import {
  articles,
  composer,
  eventually,
  PATIENT,
  restingPlace,
  site,
  stopClock,
  wheelUp,
  write,
} from "./testing/site.fixture.ts";

const said = (page: Page) =>
  articles(page)
    .allInnerTexts()
    .then((texts) => texts.join("\n"));
const log = (page: Page) => page.getByRole("log");
/** The counted words of an answer, in order. */
const counted = async (page: Page) => (await said(page)).match(/\bword\d+/g) ?? [];
const all = (count: number) => words(count).map((word) => word.trim());

/** Makes the page reconnect now, unless it has just done so by itself. */
async function tryNow(page: Page): Promise<void> {
  const clicked = page.getByRole("button", { name: "Try now" }).click();
  const isBack = page.getByText("Connection lost.").waitFor({ state: "detached" });
  await Promise.race([clicked.catch(() => isBack), isBack]);
}

describe.runIf(chromiumPath)(`streams in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W21: text is shown as it comes, and the page changes at most once in 50 ms for it", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).last().waitFor();
    await write(page, "half 20");
    await eventually(() => counted(page)).toEqual(all(10));
    here.agent.release();
    await eventually(() => counted(page)).toEqual(all(20));
    await here.idle(conversation);
    await page.evaluate(() => {
      const commits: number[] = [];
      Object.assign(window, { commits });
      new MutationObserver(() => commits.push(performance.now())).observe(
        document.querySelector('[role="log"]') as Node,
        {
          subtree: true,
          childList: true,
          characterData: true,
        },
      );
    });
    await write(page, "count 100");
    await eventually(() => counted(page)).toEqual([...all(20), ...all(100)]);
    const commits = await page.evaluate(() => (window as unknown as { commits: number[] }).commits);
    // 100 words at 12 ms take at least 1.2 s; without coalescing, each would be a separate change.
    const span = ((commits.at(-1) ?? 0) - (commits[0] ?? 0)) / 50;
    const changes = commits.filter((at, index) => index === 0 || at - (commits[index - 1] ?? 0) > 5).length;
    expect(changes).toBeLessThan(2 * span + 20);
    expect(changes).toBeGreaterThan(0);
  });

  it("W22: streaming reasoning is open with a timer, finished reasoning is closed, and the user's choice stays", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await write(page, "think");
    const toggle = page.getByRole("region", { name: "Reasoning" }).getByRole("button");
    await page.getByRole("button", { name: /Thinking for \d+\.0 s/, expanded: true }).waitFor();
    here.agent.release();
    await eventually(() => toggle.innerText()).toMatch(/Thought for \d+\.0 s/);
    await eventually(() => toggle.getAttribute("aria-expanded")).toBe("false");
    await eventually(() => said(page)).toContain("Thought through.");
    await toggle.click();
    await eventually(() => toggle.getAttribute("aria-expanded")).toBe("true");
    await page.reload();
    await eventually(() => toggle.getAttribute("aria-expanded")).toBe("true");
    await eventually(() => said(page)).toContain("thought99");
  });

  it("F35: before a retry, one line shows the reason and a countdown until the turn ends", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await write(page, "busy");
    const sentence =
      /^The provider is overloaded\. Trying again in (\d+(?:\.\d)? s|1 min 0 s) \(HTTP 529, attempt 2\)\.$/;
    const line = page.locator("p[role=status]").filter({ hasText: sentence });
    await line.waitFor();
    // Screen readers hear the sentence once.
    await eventually(() => page.locator("#told-politely").getByText(sentence).count()).toBe(1);
    // A client that connects later gets the notice, too (W49).
    await page.reload();
    await line.waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await line.waitFor({ state: "detached" });
  });

  it("F35: the countdown disappears with the retry, before the answer", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    await write(page, "late counting");
    const line = page.locator("p[role=status]").filter({ hasText: /Trying again in .*attempt 2/ });
    await line.waitFor();
    await line.waitFor({ state: "detached" });
    await eventually(() => said(page)).toContain("Thinking …");
    here.agent.release();
    await eventually(() => said(page)).toContain("At last.");
  });

  it("F37, W49: a notice of skipped memory stays below the end until the next turn; a discarded answer stays above the next answer", async () => {
    const { page } = await here.open(`/c/${await here.conversation("hello")}`);
    const notes = page.getByRole("list", { name: "Other events" });
    await write(page, "amnesia");
    await eventually(() => notes.innerText()).toBe("Memory was not used: The memory is locked.");
    await eventually(() => said(page)).toContain("You said: amnesia");
    await write(page, "anew");
    await notes.waitFor({ state: "detached" });
    await eventually(() => said(page)).toContain("A whole oak.");
    const inTheirPlaces =
      /anew\s+Answer cut off, asking again\. The text above is discarded\.\s+Half an oak\s[\s\S]*A whole oak\./;
    await eventually(() => log(page).innerText()).toMatch(inTheirPlaces);
    await write(page, "count 2");
    await eventually(() => said(page)).toContain("word1");
    expect(await log(page).innerText()).toMatch(inTheirPlaces);
  });

  it("W23: the end stays in view until the person scrolls up; then nothing moves until they jump to the latest", async () => {
    const conversation = await here.conversation("count 300");
    const { page } = await here.open(`/c/${conversation}`, { viewport: { width: 800, height: 500 } });
    const fromEnd = () =>
      log(page).evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    await eventually(() => counted(page)).toContain("word299");
    await write(page, "count 200");
    await eventually(async () => (await counted(page)).length).toBeGreaterThan(330);
    await eventually(fromEnd).toBeLessThan(8);
    const place = await wheelUp(log(page), 200);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const top = () => log(page).evaluate(({ scrollTop }) => scrollTop);
    await here.idle(conversation);
    await here.say(conversation, "one more");
    await page.getByRole("button", { name: "Jump to latest (2 new)" }).waitFor();
    expect(await top()).toBe(place);
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await eventually(fromEnd).toBeLessThan(8);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor({ state: "detached" });
    // A growing message box must not cover the end.
    await composer(page).fill("\n".repeat(8));
    await eventually(fromEnd).toBeLessThan(8);
    await composer(page).fill("");
    // A user who sends a message wants to see the answer.
    await wheelUp(log(page), 200);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    await write(page, "the last");
    await eventually(() => said(page)).toContain("You said: the last");
    await eventually(fromEnd).toBeLessThan(8);
  });

  it("W23: one turn of the wheel upwards stops the scrolling, even before the page has noticed its own arrival at the end", async () => {
    const conversation = await here.conversation("count 300");
    const { page } = await here.open(`/c/${conversation}`, { viewport: { width: 800, height: 500 } });
    await eventually(() => counted(page)).toContain("word299");
    await restingPlace(log(page));
    await log(page).evaluate(async (messages) => {
      messages.scrollTop -= 4;
      messages.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
      for (let frames = 0; frames < 5; frames++) await new Promise(requestAnimationFrame);
    });
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
  });

  it("W24: a reload during an answer shows the whole text so far, and then the rest, without repeated or missing words", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "half 250");
    await eventually(() => counted(page)).toContain("word20");
    await page.reload();
    await eventually(() => counted(page)).toEqual(all(125));
    here.agent.release();
    await page.reload();
    await here.idle(conversation);
    await eventually(() => counted(page)).toEqual(all(250));
  });

  it("W25: a lost connection shows the time of the next try, keeps written text, and continues at the same place", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {});
    const asked: string[] = [];
    page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => asked.push(String(payload))));
    await articles(page).last().waitFor();
    await write(page, "count 150");
    await eventually(() => counted(page)).toContain("word5");
    await composer(page).fill("half a thou");
    await stopClock(page);
    here.link.cut();
    await page.getByText("Not connected").waitFor();
    await page.clock.runFor(5_000);
    await page.getByText("Connection lost.").waitFor();
    await page.clock.resume();
    await page.getByText(/Next try in \d+ s|Connecting/).waitFor();
    expect(await composer(page).inputValue()).toBe("half a thou");
    here.link.mend();
    await tryNow(page);
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
    await eventually(() => counted(page)).toEqual(all(150));
    expect(asked.filter((frame) => frame.includes("feed.subscribe")).at(-1)).toContain('"from"');
    expect(await composer(page).inputValue()).toBe("half a thou");
  });

  it("W25: the page reconnects to a silent server, and keeps a connection with signs of life", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {});
    await articles(page).last().waitFor();
    let connections = 0;
    page.on("websocket", () => connections++);
    await page.clock.install();
    await page.reload();
    await articles(page).last().waitFor();
    for (const title of ["heard once", "heard twice", "heard again"]) {
      await page.clock.fastForward(31_000);
      await here.ask("conversation.rename", { conversation, title });
      await page.getByRole("heading", { name: title }).waitFor();
    }
    expect(connections).toBe(1);
    here.link.hush();
    await eventually(async () => {
      await page.clock.fastForward(31_000);
      return page.getByText("Connection lost.").isVisible();
    }).toBe(true);
    await here.say(conversation, "said in the silence");
    here.link.mend();
    await tryNow(page);
    await eventually(() => said(page)).toContain("You said: said in the silence");
  });

  it("W25: an unconfirmed message appears as in transit, and an offline browser shows its state at once", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).last().waitFor();
    here.link.hush();
    await write(page, "said into the silence");
    await page.getByRole("list", { name: "Not sent yet" }).getByText("sending").waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event("offline")));
    await page.getByText("Connection lost.").waitFor();
    here.link.mend();
    await page.evaluate(() => window.dispatchEvent(new Event("online")));
    await page.getByText("Connection lost.").waitFor({ state: "detached" });
    await eventually(() => said(page)).toContain("You said: said into the silence");
    await page.getByRole("list", { name: "Not sent yet" }).waitFor({ state: "detached" });
  });

  it("W26: a message without a connection is marked, can be taken back, and is sent once after the reconnect", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).last().waitFor();
    here.link.cut();
    await page.getByText("Connection lost.").waitFor();
    await write(page, "sent once");
    await write(page, "never sent");
    const unsent = page.getByRole("list", { name: "Not sent yet" });
    await eventually(() => unsent.getByText("not sent").count()).toBe(2);
    await composer(page).fill("written since");
    await unsent.getByRole("listitem").filter({ hasText: "never" }).getByRole("button", { name: "Cancel" }).click();
    await eventually(() => unsent.getByText("not sent").count()).toBe(1);
    await eventually(() => composer(page).inputValue()).toBe("never sent\n\nwritten since");
    await composer(page).fill("");
    here.link.mend();
    await tryNow(page);
    await eventually(() => said(page)).toContain("You said: sent once");
    await unsent.waitFor({ state: "detached" });
    const exported = await here.exported(conversation);
    expect(exported).not.toContain("never sent");
    expect(exported.split('"sent once"').length - 1).toBe(1);
  });

  it("W26: a page that returns sends its unsent message, despite other windows", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`, {});
    const other = await page.context().newPage();
    await other.goto(page.url());
    for (const window of [page, other]) await articles(window).last().waitFor();
    here.link.cut();
    for (const window of [page, other]) await window.getByText("Connection lost.").waitFor();
    await write(page, "not forgotten");
    await page.getByText("not sent").waitFor();
    await write(other, "taken back");
    await other.getByRole("button", { name: "Cancel" }).click();
    here.link.mend();
    await page.reload();
    await eventually(() => said(page)).toContain("You said: not forgotten");
  });

  it("W26: an unsent message that the server refuses returns to its message box", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).last().waitFor();
    const unsent = { id: createId(), conversation, parts: [{ type: "text", text: "too late" }], at: createId() };
    await page.evaluate((said) => localStorage.setItem(`unsent ${said.id}`, JSON.stringify(said)), unsent);
    await page.reload();
    await eventually(() => composer(page).inputValue()).toBe("too late");
    await page.getByRole("alert").filter({ hasText: unsent.at }).waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage).join())).not.toContain("unsent");
  });

  it("F5, W52: a conversation open in another program appears after the program closes it and the user tries again", async () => {
    const conversation = await here.conversation("hello");
    await here.restart();
    const elsewhere = await here.served.host.openById(conversation);
    const { page } = await here.open(`/c/${conversation}`, {});
    const again = page.getByRole("button", { name: "Try again" });
    await again.click();
    const card = page.getByRole("alert", { name: "This conversation is open in another program" });
    await card.getByText(/is already open in this process/).waitFor();
    await card.getByRole("link", { name: "Go to the start page" }).waitFor();
    await elsewhere.close();
    await again.click();
    await eventually(() => said(page)).toContain("You said: hello");
    await again.waitFor({ state: "detached" });
  });

  it("W27: a turn that ended without a connection appears as ended", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "hold");
    await eventually(() => said(page)).toContain("running");
    here.link.cut();
    await page.getByText("Connection lost.").waitFor();
    here.agent.release();
    await here.idle(conversation);
    here.link.mend();
    await tryNow(page);
    await eventually(() => said(page)).toContain("It was let go.");
    await eventually(() => log(page).getAttribute("aria-busy")).toBe("false");
    expect(await said(page)).not.toMatch(/running|Thinking …/);
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  });

  it("W39: two windows show the same stream, queue and approvals", async () => {
    const conversation = await here.conversation("hello");
    const [one, two] = await Promise.all([here.open(`/c/${conversation}`), here.open(`/c/${conversation}`)]);
    await articles(two.page).last().waitFor();
    await write(one.page, "hold");
    await eventually(() => said(two.page)).toContain("running");
    await composer(one.page).fill("later");
    await one.page.getByRole("button", { name: "Queue" }).click();
    await two.page.getByRole("list", { name: "Not delivered yet" }).getByText("later").waitFor();
    here.agent.release();
    await eventually(() => said(two.page)).toContain("You said: later");
    await write(two.page, "shell");
    await one.page.getByText("Run this command?").waitFor();
    await one.page.getByRole("button", { name: /Allow once/ }).click();
    await two.page.getByText("Run this command?").waitFor({ state: "detached" });
    await here.idle(conversation);
    for (const { page } of [one, two]) {
      await eventually(() => said(page)).toContain("That is done.");
      await eventually(() => log(page).getAttribute("aria-busy")).toBe("false");
    }
    expect(await said(one.page)).toBe(await said(two.page));
  });

  it("W47: the list marks running, waiting and unread conversations; an opened conversation shows its stream in mid-sentence", async () => {
    const conversation = await here.conversation("hello");
    const { page } = await here.open("/");
    await here.ask("conversation.rename", { conversation, title: "The one that streams" });
    const entry = page.getByRole("link", { name: /The one that streams/ });
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: "half 300" }] });
    await entry.getByText("running").waitFor();
    await entry.click();
    await eventually(() => counted(page)).toEqual(all(150));
    await page.goto(new URL("/", page.url()).href);
    here.agent.release();
    await here.idle(conversation);
    await entry.getByText("1 unread").waitFor();
    await entry.click();
    await eventually(() => counted(page)).toEqual(all(300));
    await entry.getByText("unread").waitFor({ state: "detached" });
    const unread = async () =>
      (await here.ask("conversation.list", {})).conversations.find(({ id }) => id === conversation)?.unread;
    await eventually(unread).toBe(0);
    await write(page, "shell");
    await entry.getByText("1 waiting for you").waitFor();
    await page.getByRole("button", { name: /Deny/ }).click();
  });
});
