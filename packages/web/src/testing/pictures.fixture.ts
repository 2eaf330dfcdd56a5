// Takes the pictures of the page in docs/: a real server and a real browser, and a model that follows a script. Run it
// with `npm run pictures -w @banyan/web` after the looks of the page changed. With the name of a folder it takes one of
// each state there, or of those that are named behind it, in four sizes and both themes, to be looked at.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createId } from "@banyan/core/conversation";
import type { Command, CommandName, Result } from "@banyan/protocol";
import { served, TOKEN } from "@banyan/server/testing";
import { chromium, type Page } from "playwright-core";
import { builtPage } from "./built-page.fixture.ts";
import { chromiumPath } from "./chromium.fixture.ts";
import { STORY, storyAgent } from "./story.fixture.ts";

const [folder, ...chosen] = process.argv.slice(2);
const docs = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "banyan-pictures-"));
const workspace = "/home/ada/tides";
const page = await builtPage();
await using site = await served(storyAgent(), { directory, page, workspace });
await using browser = await chromium.launch({
  ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
  args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
});
const { address } = site.server;

async function ask<Name extends CommandName>(
  type: Name,
  input: Omit<Command<Name>, "type" | "id">,
): Promise<Result<Name>> {
  const response = await fetch(`${address}/api/v1/commands`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ type, id: createId(), ...input }),
  });
  if (!response.ok) throw new Error(`${type}: ${await response.text()}`);
  return (await response.json()) as Result<Name>;
}

/** Looks again until it is there. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(50);
  }
  throw new Error(`It never came: ${look}`);
}

const waiting = (conversation: string, tool: string) =>
  until(async () => {
    const { waiting: all } = await ask("question.list", {});
    return all.find((asked) => asked.conversation === conversation && asked.call?.tool === tool)?.question.id;
  });

const idle = (conversation: string) =>
  until(async () => {
    const { conversations } = await ask("conversation.list", {});
    return conversations.find(({ id, running }) => id === conversation && running === 0);
  });

/** Says something; with `at`, it goes on from that message. */
async function say(conversation: string, words: string, at?: string): Promise<string> {
  const where = at === undefined ? {} : { at };
  return (await ask("turn.say", { conversation, parts: [{ type: "text", text: words }], ...where })).message;
}

async function allow(conversation: string, tool: string): Promise<void> {
  const question = await waiting(conversation, tool);
  await ask("question.answer", { conversation, question, answer: { decision: "allow" } });
}

/** The end of the branch that was written to last. */
async function leafOf(conversation: string): Promise<string> {
  const { text } = await ask("conversation.export", { conversation, format: "json" });
  const { events } = JSON.parse(text) as { events: { type: string; message?: string }[] };
  return events.findLast(({ type }) => type === "message.completed")?.message ?? "";
}

/** Tells the story as far as it goes without somebody who looks: with branches, and a sub-agent that asks. */
async function told(): Promise<{ readonly asking: string; readonly branches: string }> {
  for (const title of ["Move the buoys into their own table", "Why is the build slow on ARM?"]) {
    const { conversation } = await ask("conversation.create", {});
    await say(conversation, title);
    await idle(conversation);
  }
  const { conversation: asking } = await ask("conversation.create", {});
  await say(asking, STORY.wrongDay);
  await waiting(asking, "edit");
  const { conversation: branches } = await ask("conversation.create", {});
  await say(branches, STORY.wrongDay);
  await allow(branches, "edit");
  await allow(branches, "shell");
  await idle(branches);
  const fixed = await leafOf(branches);
  /** Asks below an answer, and gives the answer to that. */
  const answered = async (words: string, at: string) => {
    await say(branches, words, at);
    await idle(branches);
    return leafOf(branches);
  };
  const library = await answered(STORY.library, fixed);
  await answered(STORY.temporal, library);
  await answered(STORY.test, library);
  await answered(STORY.almanac, fixed);
  const chart = await answered(STORY.chart, fixed);
  await answered(STORY.axis, chart);
  await answered(STORY.colour, chart);
  await answered(STORY.leap, fixed);
  await say(branches, STORY.zones, fixed);
  await waiting(branches, "shell");
  await ask("conversation.rename", { conversation: branches, title: "The wrong day after midnight" });
  await ask("conversation.rename", { conversation: asking, title: "The tide table, on the station's clock" });
  return { asking, branches };
}

const { asking, branches } = await told();

/** What is looked at, by its name. */
const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  empty: async (page) => {
    await page.goto(address);
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
  },
  approval: async (page) => {
    await page.goto(`${address}/c/${asking}?panel=none`);
    await page.getByRole("region", { name: "What would run" }).waitFor();
  },
  agents: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=none`);
    await page.getByRole("region", { name: "Sub-agent" }).last().waitFor();
  },
  inbox: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=none`);
    await page.getByRole("button", { name: "2 waiting for you" }).click();
    await page.getByRole("list", { name: "Waiting for you" }).getByRole("button", { name: /Deny/ }).last().waitFor();
  },
  whole: async (page) => {
    await page.goto(`${address}/c/${branches}?whole=true`);
    await page.getByText(/^All \d+ messages/).waitFor();
  },
  map: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=map`);
    await page.getByRole("img", { name: /^Map/ }).waitFor();
  },
  outline: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=branches`);
    await page.getByRole("tree").waitFor();
  },
  changes: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=changes`);
    await page.getByText("src/table.ts").last().waitFor();
  },
  compare: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=compare`);
    await page.getByRole("list", { name: "Side by side" }).waitFor();
  },
  usage: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=usage`);
    await page.getByRole("region", { name: "Each answer" }).waitFor();
  },
  settings: async (page) => {
    await page.goto(`${address}/c/${branches}?panel=settings`);
    await page.getByRole("complementary").getByRole("combobox").first().waitFor();
  },
};

/** A large screen, a small one, a phone, and the smallest at 400 %. */
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
  [320, 256],
] as const;

interface Shot {
  readonly width: number;
  readonly height: number;
  readonly theme: "light" | "dark";
  readonly scale?: number;
}

async function shoot(path: string, name: string, { width, height, theme, scale = 1 }: Shot): Promise<void> {
  await using context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    deviceScaleFactor: scale,
    locale: "en-GB",
    bypassCSP: true,
  });
  const page = await context.newPage();
  await page.goto(`${address}/?token=${TOKEN}`);
  await page.locator("#page nav").waitFor({ state: "attached" });
  await STATES[name]?.(page);
  // What stands for the system's letters on this machine must not make the picture.
  await page.addStyleTag({
    content: 'body { font-family: "Inter", "Helvetica Neue", "Liberation Sans", Arial, sans-serif }',
  });
  // Code gets its colours, and the view its place.
  await sleep(700);
  await page.screenshot({ path });
}

try {
  if (folder === undefined) {
    const size = { width: 1440, height: 930, scale: 1.25 };
    await shoot(join(docs, "page-tree.png"), "map", { ...size, theme: "light" });
    await shoot(join(docs, "page-conversation.png"), "approval", { ...size, theme: "dark" });
    await shoot(join(docs, "page-branches.png"), "compare", { ...size, theme: "light" });
  } else {
    mkdirSync(folder, { recursive: true });
    for (const name of chosen.length > 0 ? chosen : Object.keys(STATES)) {
      for (const [width, height] of SIZES) {
        for (const theme of ["light", "dark"] as const) {
          await shoot(join(folder, `${name}-${width}-${theme}.png`), name, { width, height, theme });
        }
      }
    }
  }
} finally {
  rmSync(page, { recursive: true, force: true });
  rmSync(`${page}-claim`, { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
}
