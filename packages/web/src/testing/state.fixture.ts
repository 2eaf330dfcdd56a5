import type { Page } from "playwright-core";
import { PANELS, type PanelName } from "../panels/panel-names.ts";
import type { Stage } from "./stage.fixture.ts";

/** A state of the page that is looked at: pictures are taken of it, and axe judges it (W76). */
export interface State {
  /** Who looks: the owner, when it does not say. */
  readonly who?: "stranger" | "guest" | "linked";
  /** The part of the page that is other than in any state; all of it when absent. */
  readonly part?: string;
  /** Brings a page into it, which was in any other before. */
  show(page: Page, stage: Stage): Promise<void>;
  /** Brings back what stands outside of the page. */
  end?(page: Page, stage: Stage): Promise<void>;
}

/** What stands beside a conversation. */
export const PANEL = "aside";

/** The messages in view. */
export const log = (page: Page) => page.getByRole("log");

/** Opens a conversation, with nothing beside it or a panel. */
export async function open(
  page: Page,
  stage: Stage,
  tell: (stage: Stage) => Promise<string>,
  panel: PanelName | "none" = "none",
) {
  await page.goto(stage.at(`/c/${await stage.conversation(tell)}?panel=${panel}`));
  await page.locator("#more").waitFor();
}

/** A conversation, as soon as this is in it. */
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

/** A panel beside a conversation, as soon as this is in it. */
export const beside = (tell: (stage: Stage) => Promise<string>, panel: PanelName, words: string | RegExp): State => ({
  part: PANEL,
  async show(page, stage) {
    await open(page, stage, tell, panel);
    await page.getByRole("complementary", { name: PANELS[panel] }).getByText(words).last().waitFor();
  },
});

/** The list of conversations, which is the same beside most states. */
export const LIST = "nav[data-list]";

/** On a small screen the list stands behind a button. */
export async function list(page: Page): Promise<void> {
  const button = page.getByRole("main").getByRole("button", { name: "Conversations" });
  if (await button.isVisible()) await button.click();
}
