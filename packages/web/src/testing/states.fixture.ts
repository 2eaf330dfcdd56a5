import type { Page } from "playwright-core";
import { PANEL_STATES } from "./panel-states.fixture.ts";
import { ASKED } from "./scenes.fixture.ts";
import type { Stage } from "./stage.fixture.ts";
import { LIST, list, log, open, type State, seen } from "./state.fixture.ts";
import { asking, attached, branches, naming, one, PICTURE, queued, running } from "./tales.fixture.ts";

/** All states by name. A state in this list gets a screenshot and an axe check. */
export const STATES: Readonly<Record<string, State>> = {
  empty: {
    async show(page, stage) {
      await page.goto(stage.at("/"));
      await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
      await page.getByText("Choose a real model in the box above").waitFor();
    },
  },
  begun: {
    async show(page, stage) {
      await page.goto(stage.at(`/c/${(await stage.ask("conversation.create", {})).conversation}?panel=none`));
      await page.locator("#composer").waitFor();
    },
  },
  models: {
    async show(page, stage) {
      await page.goto(stage.at("/"));
      await page.getByRole("button", { name: /^Model: / }).click();
      await page.getByRole("list", { name: "Available models" }).waitFor();
    },
  },
  attach: {
    async show(page, stage) {
      await page.goto(stage.at("/"));
      await page.locator("#composer").fill("Which harbour is this? @src/table.ts");
      await page.getByLabel("Files to attach").setInputFiles([
        { name: "harbour.png", mimeType: "image/png", buffer: Buffer.from(PICTURE, "base64") },
        { name: "stations.txt", mimeType: "text/plain", buffer: Buffer.from("London Bridge") },
        { name: "tides.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 255, 0]) },
      ]);
      await page.getByText("Can't attach tides.bin").waitFor();
    },
  },
  commands: {
    async show(page, stage) {
      await open(page, stage, one(ASKED.failing, "idle"));
      await page.locator("#composer").fill("/re");
      await page.getByRole("option", { name: /\/retry/ }).waitFor();
    },
    end: (page) => page.locator("#composer").fill(""),
  },
  streaming: seen(one(ASKED.stream), "Harmonic constants"),
  thinking: seen(one(ASKED.think), "But the log has UTC"),
  running: seen(one(ASKED.watch), "test/chart.test.ts"),
  failed: seen(one(ASKED.failing, "idle"), "the log is whole"),
  answered: seen(one(ASKED.rich, "idle"), "After the manual"),
  attached: seen(attached, "stations.txt"),
  "web-picture": seen(naming, "Both were taken at low water."),
  "web-picture-shown": {
    async show(page, stage) {
      await open(page, stage, naming);
      const [first, second] = [log(page).getByRole("group").first(), log(page).getByRole("group").last()];
      await second.getByRole("button", { name: /^Show image from/ }).click();
      await second.getByRole("button", { name: "Try again" }).waitFor();
      await first.getByRole("button", { name: /^Full address/ }).click();
      await first.getByRole("button", { name: /^Show image from/ }).click();
      await first.getByRole("img").waitFor();
    },
  },
  approval: {
    async show(page, stage) {
      await open(page, stage, asking);
      await page.getByRole("region", { name: "What will run" }).getByText("dayIn").waitFor();
    },
  },
  command: seen(running, "Run this command?"),
  arguments: {
    async show(page, stage) {
      await open(page, stage, running);
      await log(page).getByRole("button", { name: "Edit first" }).click();
      await page.getByRole("textbox", { name: "command" }).waitFor();
    },
  },
  form: seen(one(ASKED.form, "waiting"), "Which number does it get?"),
  plan: seen(one(ASKED.plan, "waiting"), "Approve this plan?"),
  limit: seen(one(ASKED.limit, "waiting"), "Continue this turn"),
  refused: seen(one(ASKED.refused, "idle"), "The key of anthropic is wrong"),
  "broken-off": seen(one(ASKED.brokenOff, "idle"), "The request is longer"),
  retrying: {
    async show(page, stage) {
      await ask(page, stage, ASKED.busy);
      await page
        .getByText(/Trying again in/)
        .first()
        .waitFor();
    },
    end: (page) => page.getByRole("button", { name: "Stop", exact: true }).click(),
  },
  offline: {
    async show(page, stage) {
      await open(page, stage, one(ASKED.failing, "idle"));
      await log(page).getByText("the log is whole").waitFor();
      stage.link.cut();
      await page.getByText("Connection lost.").waitFor();
      await page.locator("#composer").fill("Is anybody there?");
      await page.locator("#composer").press("Enter");
      await page.getByText("not sent", { exact: true }).waitFor();
    },
    async end(page, stage) {
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.locator("#composer").fill("");
      stage.link.mend();
      await page.getByText("Connection lost.").waitFor({ state: "detached" });
    },
  },
  queue: seen(queued, "Leave out the tests of the chart."),
  background: seen(one(ASKED.serve, "idle"), "npm run dev"),
  remembered: {
    async show(page, stage) {
      await open(page, stage, one(ASKED.remembered, "idle"));
      await log(page)
        .getByText(/^Memory added/)
        .click();
      await log(page).getByText("a note in NOTES.md").waitFor();
    },
  },
  "memory-skipped": {
    async show(page, stage) {
      await ask(page, stage, ASKED.locked);
      await page.getByText("Memory was not used").waitFor();
      await log(page).getByText("I do not know of anything").waitFor();
    },
  },
  agents: {
    async show(page, stage) {
      await open(page, stage, branches);
      await page.getByRole("region", { name: "Sub-agent" }).last().waitFor();
    },
  },
  agent: {
    async show(page, stage) {
      await open(page, stage, branches);
      await page.getByRole("region", { name: "Sub-agent" }).first().getByRole("link", { name: "Open" }).click();
      await page.getByRole("navigation", { name: "Sub-agents" }).waitFor();
    },
  },
  edit: {
    async show(page, stage) {
      await open(page, stage, one(ASKED.failing, "idle"));
      await log(page).getByRole("article").first().hover();
      await log(page).getByRole("button", { name: /^Edit/ }).first().click();
      await page.getByRole("button", { name: "Send as a new version" }).waitFor();
    },
  },
  again: {
    async show(page, stage) {
      await open(page, stage, one(ASKED.rich, "idle"));
      await log(page).getByRole("article").last().hover();
      await log(page).getByRole("button", { name: "Answer again" }).last().click();
      await log(page)
        .getByLabel(/^Model/)
        .waitFor();
    },
  },
  inbox: {
    part: "header",
    async show(page, stage) {
      await open(page, stage, branches);
      await page
        .getByRole("button", { name: /waiting for you$/ })
        .first()
        .click();
      await page.getByRole("list", { name: "Waiting for you" }).getByRole("button", { name: /Deny/ }).last().waitFor();
    },
  },
  list: {
    part: LIST,
    async show(page, stage) {
      await stage.conversation(branches);
      await page.goto(stage.at("/"));
      await page.locator("#composer").waitFor();
      await list(page);
      await page.getByRole("button", { name: "Select several" }).click();
      await page.getByRole("checkbox").first().check();
      await page.getByText("1 selected").waitFor();
    },
  },
  search: {
    part: LIST,
    async show(page, stage) {
      await open(page, stage, branches);
      await list(page);
      await page.getByRole("searchbox", { name: "Search all conversations" }).fill("station");
      await page.getByRole("list", { name: "Results for station" }).getByRole("link").first().waitFor();
    },
  },
  palette: {
    part: "[role=dialog]",
    async show(page, stage) {
      await open(page, stage, branches);
      await page.locator("#composer").press("Control+k");
      await page.getByRole("option").first().waitFor();
    },
  },
  shortcuts: {
    part: "[role=dialog]",
    async show(page, stage) {
      await open(page, stage, branches);
      await page.locator("#composer").press("Control+/");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    },
  },
  took: {
    part: "header",
    async show(page, stage) {
      await open(page, stage, branches);
      await page.getByRole("button", { name: "Tokens and cost", exact: true }).click();
      await page.getByText("All branches").first().waitFor();
    },
  },
  share: {
    part: "header",
    async show(page, stage) {
      await open(page, stage, branches);
      await page.locator("#more").click();
      await page.getByRole("button", { name: "Link to this branch" }).click();
      await page.getByRole("textbox", { name: "Link" }).waitFor();
      await page.getByRole("list", { name: "Links" }).getByRole("listitem").first().waitFor();
    },
  },
  shared: {
    who: "linked",
    async show(page, stage) {
      await page.goto(stage.at(`/c/${await stage.conversation(branches)}`));
      await page.getByText("View only").waitFor();
      await log(page).getByRole("article").first().waitFor();
    },
  },
  guest: {
    who: "guest",
    async show(page, stage) {
      await page.goto(stage.at(`/c/${await stage.conversation(asking)}?panel=none`));
      await page.getByText("Waiting for approval.").waitFor();
    },
  },
  "sign-in": {
    who: "stranger",
    async show(page, stage) {
      await page.goto(stage.at("/"));
      await page.getByLabel("Token", { exact: true }).fill("a-wrong-token");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").filter({ hasText: "Wrong token for this server" }).waitFor();
    },
  },
  "not-found": {
    async show(page, stage) {
      await page.goto(stage.at("/c/nowhere"));
      await page.getByRole("alert", { name: "Conversation not found" }).waitFor();
    },
  },
  removed: {
    async show(page, stage) {
      const conversation = await stage.begun("Something that is not kept");
      await stage.idle(conversation);
      await page.goto(stage.at(`/c/${conversation}?panel=none`));
      await log(page).getByRole("article").last().waitFor();
      await stage.ask("conversation.remove", { conversation });
      await page.getByRole("alert", { name: "This conversation was removed" }).waitFor();
    },
  },
  whole: {
    async show(page, stage) {
      await page.goto(stage.at(`/c/${await stage.conversation(branches)}?whole=true`));
      await page.getByText(/^All \d+ messages/).waitFor();
    },
  },
  components: {
    async show(page, stage) {
      await page.goto(stage.at("/design"));
      await page.getByRole("heading", { name: "Parts of the page" }).waitFor();
    },
  },
  ...PANEL_STATES,
};

/** Sends a message in the open conversation: some events appear only to clients that watch. */
async function ask(page: Page, stage: Stage, words: string): Promise<void> {
  await page.goto(stage.at(`/c/${await stage.begun("Is anybody there?")}?panel=none`));
  await log(page).getByText("I have nothing more to say.").waitFor();
  await page.locator("#composer").fill(words);
  await page.locator("#composer").press("Enter");
}
