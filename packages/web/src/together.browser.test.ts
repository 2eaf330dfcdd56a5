import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ConversationState,
  type Event,
  emptyConversation,
  isEnded,
  leaves,
  type Message,
  pathTo,
  reduce,
  textOf,
} from "@banyan/core/conversation";
import { LLMock } from "@copilotkit/aimock";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { type Link, openLink } from "./testing/link.fixture.ts";
import { steadyPort } from "./testing/port.fixture.ts";
import { Program } from "./testing/program.fixture.ts";
import { articles, composer, eventually, wheelUp, write } from "./testing/site.fixture.ts";
import { hasTmux, OpenTerminal } from "./testing/terminal.fixture.ts";

const TOKEN = "a-token-of-a-test-0123456789-0123456789";

/** Milliseconds between two pieces of an answer, each about a word: three browsers on a busy machine must keep up. */
const PACE = 40;

/** Milliseconds for the whole test. */
const TIME = 600_000;

/** Words of an answer that must be cut off: more than can arrive in that time. */
const ENDLESS = TIME / PACE;

/** Milliseconds for one change to appear: after a failed attempt, a page waits up to 10 s, on a bad link several times. */
const PATIENCE = 120_000;

/** Milliseconds between two cuts of the bad link. */
const CUT_EVERY = 1_000;

/** The terminal's message after it reconnects to another server: from then on it knows the end of its run. */
const BEGAN_ANEW = "The server began anew";

/** A command that reports its start, and runs while its workspace exists. */
const ENDLESS_COMMAND = "echo began >> began.txt; while [ -e began.txt ]; do sleep 0.1; done";

// Takes a minute of both cores: the daily `server/crash` tests the same with three clients that are not browsers.
test.runIf(chromiumPath && hasTmux && process.env.BANYAN_LONG === "1")(
  `F20, B50, B59: three browsers and a terminal, one of them on a bad link, show what is in the store, though the server was killed twice while two branches ran${whyNot}`,
  { timeout: TIME },
  async () => {
    await using model = await provider();
    await using program = new Program({ ...model.env, BANYAN_TOKEN: TOKEN });
    await using link = await openLink();
    const port = String(await steadyPort());
    const serve = () => program.serve("--port", port, "--allow-host", link.host, "--model", "openai-compatible/test");
    const address = await serve();
    link.to(address);
    const cuts = cutAgainAndAgain(link);
    const browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    onTestFinished(() => browser.close());

    // One client begins the conversation, and the others join.
    const first = await signedIn(browser, address, "/");
    await first.getByRole("button", { name: "New conversation" }).first().click();
    await composer(first).waitFor();
    await write(first, "Look around.");
    await shown(first, "I have looked.");
    const { pathname } = new URL(first.url());
    const conversation = pathname.split("/").at(-1) ?? "";
    const second = await signedIn(browser, address, `${pathname}?panel=branches`);
    const onBadLink = await signedIn(browser, `http://${link.host}`, `${pathname}?panel=branches`);
    using terminal = new OpenTerminal(program, "attach", address, "--resume", conversation, "--plain");
    await terminal.until("I have looked.");

    // Two clients begin two streaming branches. Text that is already shown must stay while much more arrives.
    terminal.enter("/tree #3");
    await terminal.until("goes on from here");
    terminal.enter("Tell of roots at length.");
    await inOtherWords(first, "Tell of leaves at length.");
    await shown(first, "leaves-120 ");
    await terminal.until("roots-120 ");
    // Text of another branch does not interrupt.
    expect(inOneLine(terminal.screen())).toContain(words("roots", 100));
    await program.kill();
    // A message written while the server is away arrives after its return.
    await second.getByText("Not connected. Messages are sent").waitFor();
    await write(second, "Are you there?");
    await serve();
    await shown(second, "You said: Are you there?");
    await first.getByRole("button", { name: "Continue", exact: true }).click();
    await shown(first, "I have gone on.");
    // A client that has not moved follows what others begin, and can move when that has ended.
    await first.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await terminal.until(BEGAN_ANEW);
    await terminal.until(/Reply to banyan:$/);

    // Again, while one branch streams and another one runs a call.
    terminal.enter("/tree #3");
    await terminal.until("goes on from here", 2);
    await inOtherWords(onBadLink, "Tell of bark at length.");
    terminal.enter("Act without end.");
    await second.getByRole("treeitem", { name: "Act without end." }).click();
    await second
      .getByRole("log")
      .getByRole("button", { name: /Allow once/ })
      .click();
    const began = join(program.workspace, "began.txt");
    await eventually(() => existsSync(began)).toBe(true);
    await shown(onBadLink, "bark-120 ");
    await program.kill();
    await serve();
    await second.getByRole("button", { name: "Continue", exact: true }).click();
    await onBadLink.getByRole("button", { name: "Continue", exact: true }).click();
    await terminal.until(BEGAN_ANEW, 2);
    await shown(onBadLink, "I have gone on.");
    await shown(second, "It has ended.");
    for (const page of [second, onBadLink])
      await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });

    expect(cuts.count).toBeGreaterThan(5);
    const stored = await storedBy(program, conversation);
    expect(stored.runs.size).toBe(0);
    const messages = [...stored.messages.values()];
    const said = messages.filter(({ role }) => role === "user").map(textOf);
    expect(said.sort()).toEqual([
      "Act without end.",
      "Are you there?",
      "Look around.",
      "Tell of bark at length.",
      "Tell of leaves at length.",
      "Tell of roots at length.",
    ]);
    for (const words of ["roots", "leaves", "bark"]) expect(messages.map(textOf)).toContainEqual(beginning(words, 60));
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
    expect(calls.map(({ tool, status }) => [tool, isEnded(status)])).toEqual([
      ["list", true],
      ["shell", true],
    ]);
    expect(readFileSync(began, "utf8")).toBe("began\n");

    for (const page of [first, second, onBadLink]) await eventually(() => branchesOf(page)).toEqual(branchesIn(stored));
    terminal.enter("/tree");
    await eventually(() => treeOf(terminal.screen())).toEqual(treeIn(stored));
    await program.kill();
    expect(branchesIn(await storedBy(program, conversation))).toEqual(branchesIn(stored));
  },
);

/** A provider at the pace of a fast model: with an endless answer, with a call, or with a short answer. */
async function provider() {
  const mock = new LLMock({ port: 0, chunkSize: 10, latency: PACE });
  const calling = (tool: string, input: object) => ({ name: tool, arguments: JSON.stringify(input) });
  mock.on({ predicate: () => true }, ({ messages }) => {
    const said = String(messages.findLast(({ role }) => role === "user")?.content);
    const [word, , what = ""] = said.split(" ");
    const isCalled = messages.at(-1)?.role === "tool";
    switch (word) {
      case "Look":
        return isCalled
          ? { content: "I have looked." }
          : { content: "I look.", toolCalls: [calling("list", { path: "." })] };
      case "Act":
        return isCalled
          ? { content: "It has ended." }
          : { content: "I act.", toolCalls: [calling("shell", { command: ENDLESS_COMMAND })] };
      case "Tell":
        return { content: words(what, ENDLESS) };
      case "Go":
        return { content: "I have gone on." };
      default:
        return { content: `You said: ${said}` };
    }
  });
  const url = await mock.start();
  return { env: { OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` }, [Symbol.asyncDispose]: () => mock.stop() };
}

/** Numbered words, so that a missing or repeated one shows. */
function words(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name}-${index} `).join("");
}

/** Matches numbered words without gaps or repeats, at least `count` of them. */
function beginning(name: string, count: number) {
  return expect.toSatisfy(
    (text: string) => text.startsWith(words(name, count)) && words(name, ENDLESS).startsWith(text),
  );
}

/** Cuts a link every second, and a little later each time, so that data arrives in the end on a busy machine. */
function cutAgainAndAgain(link: Link): { readonly count: number } {
  const cuts = { count: 0 };
  const cut = () => {
    link.cut();
    link.mend();
    cuts.count++;
    timer = setTimeout(cut, CUT_EVERY + 100 * cuts.count);
  };
  let timer = setTimeout(cut, CUT_EVERY);
  onTestFinished(() => clearTimeout(timer));
  return cuts;
}

/** Opens a path of a server in a new browser, and reloads until the page is complete. */
async function signedIn(browser: Browser, address: string, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 2_400 } });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const isLost = new Set<string>();
  // The first load of a lazy part fails.
  await page.route(/\/assets\/(panels|rendered-markdown)-.*js$/, (route) => {
    const url = route.request().url();
    if (isLost.has(url)) return route.fallback();
    isLost.add(url);
    return route.abort();
  });
  const comes = async (url: string, patience: number) => {
    try {
      await page.goto(url);
      await page.getByRole("button", { name: "New conversation" }).first().waitFor({ timeout: patience });
      return true;
    } catch {
      // The link was cut while loading.
      return false;
    }
  };
  for (const url of [`${address}/?token=${TOKEN}`, `${address}${path}`])
    for (let tries = 1; !(await comes(url, tries * 5_000)); ) tries++;
  return page;
}

async function shown(page: Page, text: string): Promise<void> {
  await articles(page).filter({ hasText: text }).first().waitFor();
}

/** Edits the first message of the branch in view. */
async function inOtherWords(page: Page, text: string): Promise<void> {
  // With the wheel: following the end would compete with the test's scrolling.
  await wheelUp(page.getByRole("log"), 100_000);
  const message = articles(page).first();
  await message.hover();
  await message.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Edited message").fill(text);
  await page.getByRole("button", { name: "Send as a new version" }).click();
}

/** A conversation from its log. */
async function storedBy(program: Program, conversation: string): Promise<ConversationState> {
  const { events } = JSON.parse(await program.output("conversations", "export", conversation)) as { events: Event[] };
  const state = emptyConversation(conversation);
  for (const event of events) reduce(state, event);
  return state;
}

/** The branches as a page shows them: the messages by id, with their text. */
type Branches = Readonly<Record<string, readonly (readonly [id: string, text: string])[]>>;

function branchesIn(stored: ConversationState): Branches {
  const said = (message: Message) => [message.id, inOneLine(textOf(message))] as const;
  return Object.fromEntries(leaves(stored).map((leaf) => [leaf, pathTo(stored, leaf).map(said)]));
}

async function branchesOf(page: Page): Promise<Branches> {
  const branches: Record<string, Branches[string]> = {};
  if ((await page.getByRole("complementary", { name: "Branches" }).count()) === 0)
    await page.getByRole("button", { name: "Panels" }).click();
  await page.getByRole("treeitem").first().waitFor();
  const ends = page.getByRole("tree", { name: "Branches" }).locator("[role=treeitem]:not([aria-expanded])");
  for (const end of await ends.all()) {
    const leaf = (await end.getAttribute("id"))?.replace("row-", "") ?? "";
    await end.click();
    await page.locator(`#m-${leaf}`).waitFor();
    // A message with a copy button has been read.
    while ((await articles(page).count()) > (await articles(page).getByRole("button", { name: "Copy" }).count()))
      await page.getByRole("log").hover();
    branches[leaf] = await articles(page).evaluateAll((all) =>
      all.map((article) => {
        const paragraphs = [...article.querySelectorAll("p:is(.whitespace-pre-wrap, [class*=plaintext])")];
        const text = paragraphs.map(({ textContent }) => textContent).join(" ");
        return [article.id.slice("m-".length), text.replace(/\s+/g, " ").trim()] as const;
      }),
    );
  }
  return branches;
}

/** The letters of a message that are compared with a line of the terminal. */
const WORDS = 20;

/** The lines of the terminal's tree: indentation, number and beginning of each message. */
type Tree = readonly (readonly [depth: number, number: number, words: string])[];

function treeIn(stored: ConversationState): Tree {
  const numbers = new Map([...stored.messages.keys()].map((id, index) => [id, index + 1]));
  const below = (id: string | null, depth: number): Tree => {
    const children = stored.children.get(id) ?? [];
    const inner = children.length > 1 ? depth + 1 : depth;
    return children.flatMap((child): Tree => {
      const text = inOneLine(textOf(stored.messages.get(child) as Message)).slice(0, WORDS);
      return [[inner, numbers.get(child) ?? 0, text], ...below(child, inner)];
    });
  };
  return below(null, 0);
}

/** The last tree on the screen. */
function treeOf(screen: string): Tree {
  const lines = screen.split("\n");
  return lines.slice(lines.findLastIndex((line) => /^├? ?#1 /.test(line))).flatMap((line): Tree => {
    const [, indent = "", number, text = ""] = /^([ │├]*)#(\d+) +(?:you|banyan) +(.*?)(?: {2}.*)?$/.exec(line) ?? [];
    return number === undefined ? [] : [[indent.length / 2, Number(number), text.slice(0, WORDS).trimEnd()]];
  });
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
