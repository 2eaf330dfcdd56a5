import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createId } from "@banyan/core/conversation";
import type { Result } from "@banyan/protocol";
import { LLMock } from "@copilotkit/aimock";
import { chromium, type Locator, type Page } from "playwright-core";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { steadyPort } from "./testing/port.fixture.ts";
import { Program } from "./testing/program.fixture.ts";
import { articles, composer, eventually, PATIENT, site, write } from "./testing/site.fixture.ts";

const log = (page: Page) => page.getByRole("log");

/** The kind of question, its place on the page, the user's answer, and the end of the turn. */
const asked: readonly (readonly [
  say: string,
  where: (page: Page) => Locator,
  answer: (asked: Locator, list: Locator) => Promise<void>,
  end: string,
])[] = [
  [
    "shell",
    (page) => log(page).getByRole("group", { name: "Run this command?" }),
    (asked) => asked.getByRole("button", { name: /Allow once/ }).click(),
    "That is done.",
  ],
  [
    "plan",
    (page) => log(page).getByRole("group", { name: "Approve this plan?" }),
    (asked) => asked.getByRole("button", { name: /ask before changes/ }).click(),
    "That is done.",
  ],
  [
    "wonder",
    (page) => log(page).getByRole("form", { name: "How shall the oak look?" }),
    async (asked) => {
      await asked.getByRole("radio", { name: "red" }).check();
      await asked.getByRole("button", { name: "Answer", exact: true }).click();
    },
    "That is done.",
  ],
  [
    "ask",
    (page) => log(page).locator("form").filter({ hasText: "Which colour?" }),
    async (asked) => {
      await asked.getByRole("textbox").fill("blue");
      await asked.getByRole("button", { name: "Answer", exact: true }).click();
    },
    "That is done.",
  ],
  [
    "agent shell",
    (page) =>
      log(page)
        .getByRole("region", { name: /^Sub-agent/ })
        .getByText("1 waiting for you"),
    (_asked, list) =>
      list
        .getByRole("listitem")
        .filter({ hasText: "In a sub-agent" })
        .getByRole("button", { name: /Allow once/ })
        .click(),
    "That is done.",
  ],
  [
    "look a b c d e f g h i",
    (page) => page.getByRole("group", { name: "Continue past the limit?" }),
    (asked) => asked.getByRole("button", { name: "Continue", exact: true }).click(),
    "That is done.",
  ],
];

describe.runIf(chromiumPath)(`questions in the page whose server restarts${whyNot}`, PATIENT, () => {
  const here = site();

  it("F72, W34: an approval, a plan, questions with and without choices and a limit stay in the page, once each; another page lists them; the answers end their turns", async () => {
    const pages: Page[] = [];
    const conversations: string[] = [];
    for (const [said, where] of asked) {
      const conversation = await here.conversation();
      const { page } = await here.open(`/c/${conversation}`);
      await write(page, said);
      await where(page).waitFor();
      pages.push(page);
      conversations.push(conversation);
    }
    const before = (await here.ask("question.list", {})).waiting.map(({ question }) => question.id);
    expect(before).toHaveLength(asked.length);
    await here.restart();
    // No client has opened a conversation: the list knows the questions, in the earlier order.
    const { page: fresh } = await here.open();
    await fresh.getByRole("button", { name: `${asked.length} waiting for you` }).click();
    const list = fresh.getByRole("list", { name: "Waiting for you" });
    await eventually(() => list.getByRole("link").count()).toBe(asked.length);
    const after = (await here.ask("question.list", {})).waiting.map(({ question }) => question.id);
    expect([...after].sort()).toEqual([...before].sort());
    for (const [index, [said, where, answer, end]] of asked.entries()) {
      const page = pages[index] as Page;
      await eventually(() => page.getByText("Not connected").count()).toBe(0);
      expect(await where(page).count(), said).toBe(1);
      // The first question is answered in the list of a page that never opened its conversation.
      const first = list
        .getByRole("listitem")
        .filter({ hasNotText: "In a sub-agent" })
        .getByRole("group", { name: "Run this command?" });
      await answer(index === 0 ? first : where(page), list);
      await eventually(() => articles(page).last().innerText()).toContain(end);
      await where(page).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    }
    await fresh.getByRole("button", { name: /waiting for you/ }).waitFor({ state: "detached" });
    expect((await here.ask("question.list", {})).waiting).toEqual([]);
    const calls = (await here.exported(conversations[0] ?? "")).match(/"type":\s*"call.executing"/g);
    expect(calls).toHaveLength(1);
  });

  it("F72, W34: a message to a turn that waits since a restart stays visible until the turn gets it; Stop ends the wait", async () => {
    const conversation = await here.conversation();
    const { page } = await here.open(`/c/${conversation}`);
    await write(page, "shell");
    const question = log(page).getByRole("group", { name: "Run this command?" });
    await question.waitFor();
    await here.restart();
    await eventually(() => page.getByText("Not connected").count()).toBe(0);
    await write(page, "and mind the gap");
    await page.getByRole("list", { name: "Not delivered yet" }).getByText("and mind the gap").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await question.waitFor({ state: "detached" });
    // An undelivered message returns to the message box.
    await eventually(() => composer(page).inputValue()).toBe("and mind the gap");
    expect((await here.ask("question.list", {})).waiting).toEqual([]);
  });
});

const TOKEN = "a-token-of-a-test-0123456789-0123456789";

/** The signals that end a server, one after another. */
const ENDS: readonly (readonly NodeJS.Signals[])[] = [["SIGKILL"], ["SIGTERM"], ["SIGINT"], ["SIGTERM", "SIGTERM"]];

/** A provider whose model runs a command for each end of a server, and then finishes. */
async function provider() {
  const mock = new LLMock();
  mock.on({ predicate: () => true }, ({ messages }) => {
    const ran = messages.filter(({ role }) => role === "tool").length;
    if (ran === ENDS.length) return { content: "All done." };
    const command = `echo ran-${ran} >> ran.txt`;
    return { content: "I run it.", toolCalls: [{ name: "shell", arguments: JSON.stringify({ command }) }] };
  });
  const url = await mock.start();
  return { env: { OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` }, [Symbol.asyncDispose]: () => mock.stop() };
}

test.runIf(chromiumPath)(
  `F72: a page stays open while \`banyan serve\` is killed, told to end, interrupted and told twice: the question is there once by its id, and each call runs once${whyNot}`,
  { timeout: 300_000 },
  async () => {
    await using model = await provider();
    const env = { ...model.env, BANYAN_TOKEN: TOKEN, BANYAN_UNCONFINED: "on", BANYAN_SANDBOX: "off" };
    await using program = new Program(env);
    const port = String(await steadyPort());
    const serve = () => program.serve("--port", port, "--model", "openai-compatible/test");
    const address = await serve();
    const waiting = async () => {
      const response = await fetch(`${address}/api/v1/commands`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ type: "question.list", id: createId() }),
      });
      return ((await response.json()) as Result<"question.list">).waiting.map(({ question }) => question.id);
    };
    const browser = await chromium.launch({
      ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${address}/?token=${TOKEN}`);
    await page.getByRole("button", { name: "New conversation" }).first().click();
    await composer(page).waitFor();
    await write(page, "Work.");
    for (const [index, signals] of ENDS.entries()) {
      const question = log(page).getByRole("group", { name: "Run this command?" });
      await question.waitFor();
      await eventually(() => question.innerText()).toContain(`ran-${index}`);
      const before = await waiting();
      expect(before).toHaveLength(1);
      await program.kill(...signals);
      await page.getByText("Not connected").first().waitFor();
      await serve();
      await page.getByText("Not connected").first().waitFor({ state: "detached" });
      expect(await waiting()).toEqual(before);
      expect(await question.count()).toBe(1);
      await question.getByRole("button", { name: /Allow once/ }).click();
    }
    await eventually(() => articles(page).last().innerText()).toContain("All done.");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    expect(readFileSync(join(program.workspace, "ran.txt"), "utf8")).toBe(
      ENDS.map((_, index) => `ran-${index}\n`).join(""),
    );
    expect(await waiting()).toEqual([]);
  },
);

/** A program of another version that writes a log whose second message this version cannot read. */
const WRITER = `
  import { sqliteStore } from "@banyan/store/sqlite";
  const store = sqliteStore({ directory: process.argv[1] });
  const log = await store.open("strange", { create: true });
  const said = (message, parentId, parts) => ({ type: "message.added", message, parentId, role: "user", parts });
  const bodies = [
    { type: "conversation.created", id: "strange", labels: {} },
    said("first", null, [{ type: "text", text: "Oaks are tall." }]),
    said("second", "first", [{ type: "hologram", of: "an oak" }]),
  ];
  await log.append(bodies.map((body, index) => ({ ...body, seq: index + 1, epoch: log.epoch, at: Date.now() })), { durable: true });
  await log.close();
  await store.close();
`;

describe.runIf(chromiumPath)(`messages of another program in the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("F77: an unreadable message shows the reason in its place; a turn that omits the message says so and continues", async () => {
    const cwd = join(import.meta.dirname, "../../server");
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", WRITER, here.served.directory], { cwd });
    const { page } = await here.open("/c/strange");
    await eventually(() => articles(page).nth(1).innerText()).toContain("This message cannot be read: ");
    expect(await articles(page).nth(1).innerText()).toContain("hologram");
    await write(page, "Is it tall?");
    await eventually(() => articles(page).last().innerText()).toContain("You said: Is it tall?");
    await page.getByText("A message that cannot be read is not sent to the model: ").waitFor();
    await page.reload();
    await eventually(() => articles(page).nth(1).innerText()).toContain("This message cannot be read: ");
    expect(await articles(page).count()).toBe(4);
  });
});
