import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { turnReport } from "../../packages/cli/src/output/report.ts";
import { ProgressLines } from "../../packages/cli/src/print/progress.ts";
import { type Client, type ItemType, SHOWN_ITEMS } from "../../packages/cli/src/show/shown-items.fixture.ts";
import { styleFor } from "../../packages/cli/src/show/style.ts";
import type { Notice } from "../../packages/core/src/conversation/index.ts";
import type { Session } from "../../packages/core/src/index.ts";
import { TOKEN } from "../../packages/server/src/testing/served.fixture.ts";
import { chromiumPath, whyNot } from "../../packages/web/src/testing/chromium.fixture.ts";
import { Program } from "../../packages/web/src/testing/program.fixture.ts";
import { PATIENT, site } from "../../packages/web/src/testing/site.fixture.ts";
import { hasTmux, OpenTerminal } from "../../packages/web/src/testing/terminal.fixture.ts";
import { type Item, RUN, recording } from "./recording.ts";

type Shows = Readonly<Partial<Record<Client, RegExp>>>;
const same = (pattern: RegExp): Shows => ({ full: pattern, plain: pattern, print: pattern, page: pattern });

/**
 * Detects that a screen shows an item. Absent where the table says `nothing`. A missing kind of item does
 * not compile.
 */
const SHOWS: Readonly<Record<ItemType, Shows>> = {
  "conversation.created": {},
  "conversation.brought-in": {},
  "content.stored": {},
  "message.added": {
    full: /tool: Nothing was applied\./,
    plain: /tool: Nothing was applied\./,
    print: /tool: Nothing was applied\./,
    page: /A tool\s+Nothing was applied\./,
  },
  "memory.recalled": {
    full: /Memory added 1 entry .*Ctrl-O/,
    plain: /Memory added 1 entry .*\/memory/,
    print: /Memory added to .*the oak talk/,
    page: /Memory added 1 entry/,
  },
  "memory.dismissed": { page: /Memory added 0 entries/ },
  "message.started": { full: /[Ww]aiting for the model/, page: /Thinking …/ },
  "message.checkpoint": {},
  "message.completed": {
    full: /cut off at its length limit/,
    plain: /cut off at its length limit/,
    print: /cut off at its length limit/,
    page: /The answer was cut off at its length limit/,
  },
  "message.abandoned": same(/Answer cut off, asking again\. The text above is discarded\./),
  "call.pending": { full: /shake … waiting/, page: /shell\s+shake/ },
  "call.approval-requested": { full: /Always allow `count \*` \(saved in your settings\)/, page: /Run this command\?/ },
  "call.approval-resolved": { full: /count leaves … waiting$/m, page: /1 allowed/ },
  "call.executing": {
    full: /shake … running/,
    plain: /shell +shake …/,
    page: /shake\s+\d+\.\d s/,
  },
  "call.completed": {
    full: /count leaves … done/,
    plain: /count leaves … done/,
    print: /count leaves … done/,
    page: /✓ done/,
  },
  "call.failed": same(/too high for that/),
  "call.denied": same(/nobody may fell it/),
  "call.cancelled": {
    full: /shake … cancelled/,
    plain: /shake … cancelled/,
    print: /shake … cancelled/,
    page: /cancelled/,
  },
  "call.following": {},
  "call.followed": {},
  "file.changed": {
    full: /created leaves\.txt/,
    plain: /created leaves\.txt/,
    print: /leaves\.txt/,
    page: /leaves\.txt\s+created[\s\S]*many leaves/,
  },
  "process.started": same(/Running in the background \(p1\): leaf watch/),
  "process.ended": same(/p1 has ended: exit code 7\./),
  "question.asked": { full: /Which of the oaks is meant\?/, page: /Which of the oaks is meant\?/ },
  "question.answered": {},
  "run.started": { full: /[Ww]aiting for the model/, page: /Send now/ },
  "goal.checked": same(/Goal not reached yet\. These checks failed: the oaks are counted \(two are missing\)\./),
  "run.paused": {
    full: /reached 2 steps\. Waiting for a user/,
    plain: /reached 2 steps\. Waiting for a user/,
    print: /reached 2 steps\. Waiting for a user/,
    page: /Continue this turn[\s\S]*The turn reached 2 steps\./,
  },
  "run.continued": same(/The turn continues until it reaches the same limits again/),
  "run.ended": {
    full: /Failed: The provider went away\./,
    plain: /Failed: The provider went away\./,
    page: /The provider went away\.[\s\S]*Try again/,
  },
  "input.queued": {},
  "input.edited": {},
  "input.withdrawn": {},
  "input.delivered": { plain: /delivered: Name a shrub too\./ },
  "message.labelled": {},
  "message.starred": {},
  "message.removed": {},
  "message.restored": {},
  "title.changed": {},
  "model.changed": {},
  "rule.revoked": {},
  "usage.counted": {},
  "text.delta": same(/The broom is a shr/),
  "reasoning.delta": { full: /Which tree is tall\?/, plain: /Thinking: Which tree/, page: /Which tree is tall\?/ },
  "call.input.delta": { full: /count leaves … being written/, page: /\{"command":"count leaves"\}/ },
  "call.output.delta": { full: /leaf after leaf/, page: /leaf after leaf/ },
  "call.draft.delta": { full: /writing draft\.txt/, page: /draft\.txt\s+being written[\s\S]*drafted line/ },
  "model.retrying": same(/529.*attempt 2/),
  "model.replaced": same(/spare\/model continues this turn instead of scripted\/model/),
  "model.waiting": {
    full: /[Tt]hinking, the connection is alive, 3 min/,
    plain: /Thinking for 3 min 0 s\. The connection is alive/,
    print: /Thinking for 3 min 0 s\. The connection is alive/,
    page: /Thinking for 3 min 0 s\. The connection is alive/,
  },
  "turn.waiting": same(/The MCP server late is not there\./),
  "message.left-out": same(
    /A message that cannot be read is not sent to the model: parts must be an array, not null\./,
  ),
  "request.changed": same(/The provider refused a\.png, so it is left out from now on\./),
  "memory.skipped": same(/Memory was not used: its file is locked\./),
  "approval.withdrawn": same(/The sandbox has ended\. Banyan asks before changes and commands again\./),
  "context.shortening": same(/Compacting the conversation/),
  "context.not-shortened": same(/was not compacted: the summary failed\./),
  "callback.failed": same(/The turn continues although the callback onCall failed: a defect of its own\./),
  "feed.reset": {},
  "chat.ended": {},
};

/**
 * Items that no recording contains: the first two come before any viewer, the last two mark a reader's start and end.
 */
const NOT_RECORDED = ["conversation.created", "conversation.brought-in", "feed.reset", "chat.ended"] as const;

const NOTICES: ReadonlySet<string> = new Set([
  ...([
    "model.retrying",
    "model.replaced",
    "model.waiting",
    "turn.waiting",
    "message.left-out",
    "request.changed",
    "memory.skipped",
    "approval.withdrawn",
  ] satisfies Notice["type"][]),
  ...(["context.shortening", "context.not-shortened", "callback.failed"] satisfies Notice["type"][]),
]);

/** Milliseconds between two checks, and milliseconds after which an item counts as missing. */
const [LOOK, PATIENCE] = [50, 30_000];

test("F37: the recording has every item that there is, and is known to be shown by all who show it", () => {
  const recorded = new Set<string>(recording(null).map(({ type }) => type));
  expect([...recorded, ...NOT_RECORDED].toSorted()).toEqual(Object.keys(SHOWN_ITEMS).toSorted());
  for (const [type, shows] of Object.entries(SHOWS))
    for (const [client, said] of Object.entries(SHOWN_ITEMS[type as ItemType]))
      expect(shows[client as Client] !== undefined, `${type} in ${client}`).toBe(!said.startsWith("nothing: "));
});

describe.runIf(chromiumPath && hasTmux)(`one recording, four screens${whyNot}`, PATIENT, () => {
  const here = site();

  test("F37: attach, attach in plain lines, print and the page show of each item what the table says", async () => {
    const conversation = await here.conversation("priced");
    await here.restart();
    const { host, server } = here.served;
    const opened = Promise.withResolvers<Session>();
    const { openById } = host;
    Object.assign(host, {
      openById: async (id: string) => {
        const session = await openById(id);
        opened.resolve(session);
        return session;
      },
    });
    const { page } = await here.open(`/c/${conversation}`);
    const session = await opened.promise;
    await using program = new Program({ BANYAN_TOKEN: TOKEN });
    const attach = ["attach", server.address, "--resume", conversation];
    using full = new OpenTerminal(program, ...attach);
    using plain = new OpenTerminal(program, ...attach, "--plain");
    for (const terminal of [full, plain]) await terminal.until("Reply to banyan:");
    let print = "";
    const write = (text: string) => (print += text);
    const progress = new ProgressLines(write, styleFor(process.stdout, "never"), 100, { said: "nothing" });
    const report = turnReport("text", write, { live: true });
    session.listen({
      items(items) {
        for (const item of items) {
          progress.item(item, session.state);
          report.item(item, session.state);
        }
      },
      ended() {},
    });
    const screens: Readonly<Record<Client, () => string | Promise<string>>> = {
      full: () => full.screen(),
      plain: () => plain.screen(),
      print: () => print,
      page: () => page.locator("body").innerText(),
    };
    const items = recording(session.state.leaf);
    for (const [index, item] of items.entries()) {
      const isLast = !items.slice(index + 1).some(({ type }) => type === item.type);
      const shows = Object.entries(isLast ? SHOWS[item.type] : {}) as [Client, RegExp][];
      const look = () => Promise.all(shows.map(async ([client, shown]) => counted(await screens[client](), shown)));
      const before = await look();
      await play(session, item);
      const missing = async () => {
        const now = await look();
        return shows.find((_, place) => (now[place] ?? 0) <= (before[place] ?? 0))?.[0];
      };
      for (const end = Date.now() + PATIENCE; ; await sleep(LOOK)) {
        const client = await missing();
        if (client === undefined) break;
        if (Date.now() > end) throw new Error(`${item.type} is not shown in ${client}:\n${await screens[client]()}`);
      }
    }
  });
});

async function play(session: Session, item: Item): Promise<void> {
  if (item.type.endsWith(".delta")) session.stream([item as never], { run: RUN, agent: "banyan", depth: 0 });
  else if (NOTICES.has(item.type)) session.notify(item as Notice);
  else await session.commit([item as never]);
}

function counted(text: string, shown: RegExp): number {
  return text.match(new RegExp(shown, `g${shown.flags}`))?.length ?? 0;
}
