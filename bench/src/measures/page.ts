import { createId, Session, type Store } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import type { Page } from "playwright-core";
import { BuiltPage } from "../built-page.ts";
import type { Measure } from "../measure.ts";

const MESSAGES = 10_000;
const LINES = 50_000;
const NO_USAGE = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };

const SILENT = {
  id: "bench/model",
  family: "bench",
  stream: () => Promise.reject(new Error("Nobody says anything here.")),
};

/**
 * The page in Chromium with two conversations: one of 10,000 messages of which every sixth starts a branch, and one
 * with a call that created a file of 50,000 lines.
 */
export const page: Measure = {
  name: "page",
  what: "a conversation of 10,000 messages in Chromium: how long it and its map take to open, and a diff of 50,000 lines; what is in the page, its heap; the JavaScript that comes first, and the first paint over fast 3G with a processor a quarter as fast",
  subjects: ["page"],
  bounds: [],
  figures: [
    { name: "open, the first time", unit: "ms" },
    { name: "open", unit: "ms" },
    { name: "elements in the log", unit: "" },
    { name: "map", unit: "ms" },
    { name: "longest task of the diff", unit: "ms" },
    { name: "heap", unit: "MB" },
    { name: "initial JavaScript", unit: "kB" },
    { name: "first paint, slow link", unit: "ms" },
    { name: "one can write, slow link", unit: "ms" },
  ],
  rounds: 3,
  async run() {
    const opening = await BuiltPage.open({ model: SILENT }, async (store) => ({
      conversation: await written(store),
      changing: await withLongDiff(store),
    }));
    await using page = opening.page;
    const { conversation, changing } = opening.written;
    const { tab, address } = page;
    const script = await bytesOfScripts(tab);
    return {
      "initial JavaScript": script / 1000,
      "open, the first time": (await opened(page, `${address}/c/${conversation}?panel=branches`)).open,
      ...(await opened(page, `${address}/c/${conversation}?panel=branches`)),
      map: await pressed(tab, "Map", "svg [data-node]"),
      "longest task of the diff": await longestTask(page, `${address}/c/${changing}?panel=branches`),
      ...(await slowly(tab, address)),
    };
  },
};

/** Returns the compressed size of the scripts that the page loaded. */
function bytesOfScripts(tab: Page): Promise<number> {
  return tab.evaluate(() => {
    const scripts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"));
    return scripts.reduce((sum, script) => sum + (script as PerformanceResourceTiming).encodedBodySize, 0);
  });
}

/** Fast 3G, as in Chromium's developer tools: milliseconds, and bytes per second. */
const FAST_3G = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };

/** Loads the page over a slow link with a slow processor and an empty cache. */
async function slowly(tab: Page, address: string) {
  const cdp = await tab.context().newCDPSession(tab);
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  await cdp.send("Network.emulateNetworkConditions", FAST_3G);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await tab.goto(address, { waitUntil: "commit" });
  await tab.getByRole("textbox", { name: "Message" }).waitFor();
  const times = await tab.evaluate(() => ({
    "first paint, slow link": performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    "one can write, slow link": performance.now(),
  }));
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await cdp.send("Network.emulateNetworkConditions", {
    ...FAST_3G,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await cdp.detach();
  return times;
}

async function opened(page: BuiltPage, address: string) {
  const { tab } = page;
  await tab.goto(address, { waitUntil: "commit" });
  const open = await tab.evaluate(async () => {
    while (!document.querySelector("[role=log] article p")) {
      if (performance.now() > 60_000) throw new Error("No message was shown within a minute.");
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return performance.now();
  });
  await tab.getByRole("treeitem").first().waitFor();
  const elements = await tab.getByRole("log").locator("*").count();
  return { open, "elements in the log": elements, heap: await page.heap() };
}

/** Returns milliseconds from pressing a panel's button until its first paint. */
async function pressed(tab: Page, panel: string, selector: string): Promise<number> {
  await tab.getByRole("navigation", { name: "Panels" }).getByRole("button", { name: panel }).waitFor();
  return tab.evaluate(
    async ([name, wanted]) => {
      const buttons = [...document.querySelectorAll<HTMLElement>("nav[aria-label=Panels] button")];
      const begin = performance.now();
      buttons.find((button) => (button.ariaLabel ?? button.textContent) === name)?.click();
      while (!document.querySelector(wanted)) {
        if (performance.now() > begin + 60_000) throw new Error(`${name} was not shown within a minute.`);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return performance.now() - begin;
    },
    [panel, selector] as const,
  );
}

async function longestTask(page: BuiltPage, address: string): Promise<number> {
  const { tab } = page;
  await tab.goto(address);
  await tab.getByText("It is written.").first().waitFor();
  await page.watch();
  await pressed(tab, "Changes", "[aria-label='Changed files'] span");
  await tab.getByRole("region", { name: "Changed files" }).evaluate((files) => files.scrollTo(0, files.scrollHeight));
  await tab.getByText(`+ line ${LINES}`, { exact: true }).waitFor();
  return (await page.seen()).longest;
}

/** Writes the conversation of many messages. */
async function written(store: Store): Promise<string> {
  await using session = await Session.open(store);
  const ids = Array.from({ length: MESSAGES }, () => createId());
  const run = createId();
  const events = ids.flatMap((message, at): EventBody[] => {
    // An answer to the message before; every third one starts a branch half way up.
    const above = at % 2 === 0 && at % 6 === 0 && at > 0 ? Math.floor(at / 4) * 2 - 1 : at - 1;
    const parentId = ids[above] ?? null;
    if (at % 2 === 0) {
      const parts = [{ type: "text" as const, text: `Message ${at} of a conversation.` }];
      return [{ type: "message.added", message, parentId, role: "user", author: "user", parts }];
    }
    const parts = [
      { type: "text" as const, text: `An answer with **some** \`Markdown\`, number ${at}.\n\n`.repeat(8) },
    ];
    return [
      { type: "message.started", message, parentId: ids[at - 1] ?? null, run, model: "bench/model" },
      { type: "message.completed", message, parts, finish: "stop", usage: NO_USAGE },
    ];
  });
  for (let at = 0; at < events.length; at += 1_000) await session.commit(events.slice(at, at + 1_000));
  return session.id;
}

/** Writes a conversation with a call that creates a file of 50,000 lines. */
async function withLongDiff(store: Store): Promise<string> {
  await using session = await Session.open(store);
  const asked = createId();
  const parts = [{ type: "text" as const, text: "Make a long file." }];
  await session.commit([
    { type: "message.added", message: asked, parentId: null, role: "user", author: "user", parts },
    ...longAnswer(asked),
  ]);
  return session.id;
}

function longAnswer(parentId: string): EventBody[] {
  const [message, run] = [createId(), createId()];
  const of = { message, call: "c" };
  const lines = Array.from({ length: LINES }, (_, line) => `+line ${line + 1}`);
  const diff = `--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,${LINES} @@\n${lines.join("\n")}`;
  return [
    { type: "message.started", message, parentId, run, model: "bench/model" },
    {
      type: "message.completed",
      message,
      parts: [
        { type: "text", text: "It is written." },
        { type: "call", call: "c" },
      ],
      finish: "calls",
      usage: NO_USAGE,
    },
    { type: "call.pending", ...of, tool: "write", inputText: "{}", input: {} },
    { type: "call.executing", ...of, attempt: 1, key: "c" },
    {
      type: "file.changed",
      ...of,
      path: "long.txt",
      kind: "created",
      before: null,
      after: "0",
      added: LINES,
      removed: 0,
      diff,
    },
    { type: "call.completed", ...of, output: "written" },
  ];
}
