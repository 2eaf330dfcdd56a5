import type { Page } from "playwright-core";
import { PANELS, type PanelName } from "../parts/page/panel-names.ts";
import type { Stage } from "./stage.fixture.ts";

/** A state of the page, for screenshots and axe (W76). */
export interface State {
  /** The viewer; default: the owner. */
  readonly who?: "stranger" | "guest" | "linked";
  /** The part of the page that differs from other states; default: all of it. */
  readonly part?: string;
  /** Brings a page into the state, from any other. */
  show(page: Page, stage: Stage): Promise<void>;
  /** Restores changes outside the page. */
  end?(page: Page, stage: Stage): Promise<void>;
}

/** The panel next to a conversation. */
export const PANEL = "aside";

/** The messages in view. */
export const log = (page: Page) => page.getByRole("log");

/** Opens a conversation, with a panel or without. */
export async function open(
  page: Page,
  stage: Stage,
  tell: (stage: Stage) => Promise<string>,
  panel: PanelName | "none" = "none",
) {
  await page.goto(stage.at(`/c/${await stage.conversation(tell)}?panel=${panel}`));
  await page.locator("#more").waitFor();
}

/** A conversation that contains these words. */
export const seen = (tell: (stage: Stage) => Promise<string>, words: string | RegExp): State => ({
  async show(page, stage) {
    await open(page, stage, tell);
    await log(page)
      .or(page.getByRole("region", { name: "Your message" }))
      .getByText(words)
      .last()
      .waitFor();
  },
});

/** A panel that contains these words. */
export const beside = (tell: (stage: Stage) => Promise<string>, panel: PanelName, words: string | RegExp): State => ({
  part: PANEL,
  async show(page, stage) {
    await open(page, stage, tell, panel);
    await page.getByRole("complementary", { name: PANELS[panel] }).getByText(words).last().waitFor();
  },
});

/** The list of conversations, which most states share. */
export const LIST = "nav[data-list]";

/** On a small screen, a button opens the list. */
export async function list(page: Page): Promise<void> {
  const button = page.getByRole("main").getByRole("button", { name: "Conversations" });
  if (await button.isVisible()) await button.click();
}
