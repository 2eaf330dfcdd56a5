import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultsIn, faultsOf } from "./testing/axe.fixture.ts";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { PATIENT } from "./testing/site.fixture.ts";
import { LIST } from "./testing/state.fixture.ts";
import { STATES } from "./testing/states.fixture.ts";
import { Walk } from "./testing/walk.fixture.ts";

const isLong = process.env.BANYAN_LONG === "1";

describe.runIf(chromiumPath)(`the states of the page${whyNot}`, PATIENT, () => {
  let walk: Walk;
  beforeAll(async () => {
    walk = await Walk.begin({ viewport: { width: 1280, height: 900 } });
  }, PATIENT.timeout);
  afterAll(() => walk[Symbol.asyncDispose](), PATIENT.timeout);

  it("W48: a sentence replaces a part of the page that cannot be drawn, and the other parts work", async () => {
    await walk.to("crashed", async (page) => {
      await page.locator("#composer").fill("Still there.");
      await page.getByRole("navigation", { name: "Panels" }).getByRole("button", { name: "Usage" }).click();
      await page.getByRole("complementary", { name: "Usage" }).getByText("By model and day").waitFor();
      expect(await page.getByRole("alert", { name: "This part of the page cannot be shown" }).count()).toBe(0);
      await page.locator("#composer").fill("");
    });
  });

  // One theme, by turns, and only the part that differs: both themes and whole pages take minutes.
  it.for(Object.keys(STATES).map((name, place) => [name, place % 2 === 0 ? "light" : "dark"] as const))(
    `W45, W76, W79: axe has nothing to say of it: %s, ${isLong ? "in both themes" : "%s"}`,
    async ([name, theme]) => {
      const part = STATES[name]?.part;
      const judged = { theme, ...(part === undefined ? { without: LIST } : { part }) };
      expect(await walk.to(name, (page) => (isLong ? faultsOf(page) : faultsIn(page, judged)))).toEqual([]);
    },
  );
});
