import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, composer, eventually, PATIENT, site } from "./testing/site.fixture.ts";

const LARGE = `BEGINNING ${"lorem ipsum dolor ".repeat(1_000)}END`;

describe.runIf(chromiumPath)(`F93: a message that is larger than the window, on the page${whyNot}`, PATIENT, () => {
  const here = site();
  const stored: string[] = [];
  Object.assign(here.agent.options, {
    compaction: { contextSize: 4_000 },
    storeText: async (text: string) => `message-${stored.push(text)}.txt`,
  });

  it.each([
    ["stored as a file if the user agrees", "Store as a file", 1],
    ["kept back if the user declines, and the next message works", "Do not send", 0],
  ])("is asked about, and %s", async (_, button, files) => {
    stored.length = 0;
    const conversation = await here.conversation("one fig");
    const { page } = await here.open(`/c/${conversation}`);
    await articles(page).filter({ hasText: "You said: one fig" }).waitFor();
    await composer(page).fill(LARGE);
    await composer(page).press("Enter");
    const question = page.getByRole("group", { name: "Store the message as a file?" });
    await eventually(() => question.innerText()).toMatch(/but scripted\/model accepts at most 4,000/);
    await question.getByRole("button", { name: button }).click();
    await here.idle(conversation);
    expect(stored).toEqual(files === 1 ? [LARGE] : []);
    if (files === 0) await eventually(() => page.locator("body").innerText()).toContain("Write a shorter message");
    await composer(page).fill("two figs");
    await composer(page).press("Enter");
    await articles(page).filter({ hasText: "You said: two figs" }).waitFor();
  });
});
