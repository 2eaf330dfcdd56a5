import type { PanelName } from "../parts/page/panel-names.ts";
import { ASKED } from "./scenes.fixture.ts";
import { beside, log, open, PANEL, type State } from "./state.fixture.ts";
import { branches, long, one, planned } from "./tales.fixture.ts";

/** The script of the changes panel. */
const CHANGES = /\/changes-panel-[^/]*\.js$/;

/** The states of the panels: a panel without a state does not compile. */
export const PANEL_STATES = {
  "panel-changes": beside(branches, "changes", "src/table.ts"),
  "panel-compare": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, branches, "compare");
      await page.getByRole("list", { name: "Side by side" }).waitFor();
      await page.getByRole("region", { name: "The other branch" }).waitFor();
    },
  },
  "panel-findings": beside(one(ASKED.review, "idle"), "findings", "src/chart.ts"),
  "panel-artifact": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, one(ASKED.rich, "idle"), "artifact");
      await page.getByRole("list", { name: "Artifacts to open" }).getByRole("button").first().waitFor();
    },
  },
  "panel-plan": beside(planned, "plan", "Remove the old columns"),
  "panel-background": beside(one(ASKED.serve, "idle"), "background", "npm run dev"),
  "panel-agents": beside(branches, "agents", "Check stations"),
  "panel-usage": beside(branches, "usage", "By model and day"),
  "panel-context": beside(branches, "context", /tokens are in the context/),
  "panel-memory": beside(one(ASKED.remembered, "idle"), "memory", "Memory added"),
  "panel-hooks": beside(branches, "hooks", "No hooks."),
  "panel-servers": beside(branches, "servers", "No MCP servers."),
  "panel-settings": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, branches, "settings");
      await page.getByRole("complementary").getByRole("combobox").first().waitFor();
    },
  },
  "panel-map": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, branches, "map");
      await page.getByRole("img", { name: /^Map/ }).waitFor();
    },
  },
  "panel-branches": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, branches, "branches");
      await page.getByRole("tree").waitFor();
    },
  },
  "long-map": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, long, "map");
      await page.locator("[data-node]").first().waitFor();
    },
  },
  "long-outline": {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, long, "branches");
      await page.getByRole("treeitem").nth(3).waitFor();
    },
  },
  artifact: {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, one(ASKED.rich, "idle"));
      await log(page).getByRole("button", { name: "Open beside the conversation" }).last().click();
      await page.getByRole("complementary", { name: "Artifacts" }).locator("iframe").waitFor();
    },
  },
  prompts: {
    part: PANEL,
    async show(page, stage) {
      await open(page, stage, branches, "settings");
      const prompts = page.getByRole("region", { name: "Your prompts" });
      await prompts.getByRole("textbox", { name: "Name of the prompt" }).fill("assess");
      await prompts
        .getByRole("textbox", { name: "Text of the prompt" })
        .fill("Review {file} as if it were released today.");
      await prompts.getByRole("button", { name: "Save prompt" }).click();
      await prompts.getByText("/assess").waitFor();
      await prompts.scrollIntoViewIfNeeded();
    },
  },
  crashed: {
    part: PANEL,
    async show(page, stage) {
      await page.route(CHANGES, (route) =>
        route.fulfill({
          contentType: "text/javascript",
          body: "export function ChangesPanel() { throw new Error('a is undefined'); }",
        }),
      );
      await open(page, stage, branches, "changes");
      await page.getByRole("alert", { name: "This part of the page cannot be shown" }).waitFor();
    },
    end: (page) => page.unroute(CHANGES),
  },
} as const satisfies Readonly<Record<`panel-${PanelName}`, State>> & Readonly<Record<string, State>>;
