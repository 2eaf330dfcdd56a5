import type { Session } from "@banyan/core";
import { TOKEN } from "@banyan/server/testing";
import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { articles, eventually, PATIENT, restingPlace, signIn, site, write } from "./testing/site.fixture.ts";

const CHANGE = {
  type: "file.changed",
  kind: "created",
  before: null,
  after: null,
  added: 3,
  removed: 0,
  diff: "--- /dev/null\n+++ b/a\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n",
} as const;

/** The first call that needs the user's approval. */
function asked({ state }: Session) {
  const [first] = state.questions.values();
  if (first?.type !== "approval") throw new Error("Nobody is asked.");
  return first;
}

describe.runIf(chromiumPath)(`clicks while the page moves${whyNot}`, PATIENT, () => {
  const here = site();

  it("W54: a click acts on the pressed element even if the page moves; leaving the element cancels the click", async () => {
    const begun = Promise.withResolvers<Session>();
    const { newSession } = here.served.host;
    Object.assign(here.served.host, {
      newSession: async (id?: string) => {
        const session = await newSession(id);
        begun.resolve(session);
        return session;
      },
    });
    const conversation = await here.conversation("hello");
    const calls = JSON.stringify([{ command: "one" }, { command: "two" }]);
    await here.ask("turn.say", { conversation, parts: [{ type: "text", text: `calls ${calls}` }] });
    const { page } = await here.open(`/c/${conversation}`);
    const session = await begun.promise;
    const questions = page.getByRole("log").getByRole("group", { name: "Run this command?" });
    const allow = questions.last().getByRole("button", { name: /Allow once/ });
    await eventually(() => questions.count()).toBe(2);
    const { message, call } = asked(session);
    const place = async () => (await allow.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

    /** Presses the button, moves the page under the pointer, and releases `away` pixels from there. */
    const press = async (away: number) => {
      await allow.scrollIntoViewIfNeeded();
      const { x, y, width, height } = await place();
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      const before = (await place()).y;
      // The changes of another call now appear above the question.
      await session.commit([{ ...CHANGE, message, call, path: `after-${away}.txt` }]);
      await eventually(async () => Math.abs((await place()).y - before)).toBeGreaterThan(height);
      await page.mouse.move(x + width / 2 + away, y + height / 2);
      await page.mouse.up();
    };
    await press(60);
    expect(await questions.count()).toBe(2);
    await press(0);
    await eventually(() => questions.count()).toBe(1);
    await eventually(() => articles(page).last().innerText()).toContain("two");
    expect(await questions.innerText()).toContain("one");
  });

  it("W54: messages are drawn once, when what draws them has come; on a bad link they can be read before", async () => {
    const conversation = await here.conversation("this:\n\n```\none\ntwo\n```\n\n# End");
    /** Each rendering of the last message, with its height. */
    const drawn = async (milliseconds: number) => {
      const page = await here.stranger("/");
      await signIn(page, TOKEN);
      await page.route(/rendered-markdown/, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, milliseconds));
        await route.continue();
      });
      await page.addInitScript(() => {
        const seen: string[] = [];
        Object.assign(window, { seen });
        const look = () => {
          const last = [...document.querySelectorAll("[role=log] article")].at(-1);
          const said = last?.querySelector("pre") ? "drawn" : last?.textContent?.includes("```") ? "written" : "";
          const shown = `${said} ${Math.round(last?.getBoundingClientRect().height ?? 0)}`;
          if (said !== "" && seen.at(-1) !== shown) seen.push(shown);
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
      await page.goto(`http://${here.link.host}/c/${conversation}`);
      await page.getByRole("log").locator("pre").last().waitFor();
      await restingPlace(page.getByRole("log"));
      return page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    };
    expect(await drawn(300)).toEqual([expect.stringMatching(/^drawn /)]);
    expect(await drawn(4_000)).toEqual([expect.stringMatching(/^written /), expect.stringMatching(/^drawn /)]);
  });

  it("W54: while an answer streams below the end of the window, and when it ends, nothing moves by itself", async () => {
    const conversation = await here.conversation("count 200", "count 200");
    const { page } = await here.open(`/c/${conversation}`);
    await restingPlace(page.getByRole("log"));
    await page.evaluate(() => {
      const moved: number[] = [];
      Object.assign(window, { moved });
      new PerformanceObserver((list) => {
        const shifts = list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[];
        moved.push(...shifts.filter(({ hadRecentInput }) => !hadRecentInput).map(({ value }) => value));
      }).observe({ type: "layout-shift" });
    });
    await write(page, "count 500");
    await page.getByText("word499").waitFor();
    await here.idle(conversation);
    await restingPlace(page.getByRole("log"));
    const moved = await page.evaluate(() => (window as unknown as { moved: number[] }).moved);
    // The hints below the composer change when the run ends; buttons that jump with each line would move ten times as much.
    expect(moved.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.003);
  });
});
