import { describe, expect, test } from "vitest";
import { instructionsRequest, REVIEWER, reviewRequest } from "../words/ready-made.ts";
import type { ClientKind } from "./action.ts";
import { asked, CLIENTS, placeAt, withSubAgent } from "./actions.fixture.ts";
import { actions, readAction, readLine } from "./index.ts";

const does = (command: string, input: object) => ({ type: "command", command, input });
const shows = (view: string, rest: object = {}) => ({ type: "view", view, ...rest });
const says = (...lines: readonly string[]) => expect.objectContaining({ type: "message", lines });
const refuses = (words: string) => expect.stringContaining(words);
const NOT_HERE = /works only (in a terminal|on the page)/;
const NO_ARGUMENTS = "takes no arguments here.";

/** The page has a button for this action, and names its place. */
const AT_BUTTON = { page: expect.objectContaining({ type: "message" }) };

/** A line and its step, by client if the clients differ. */
type Row = readonly [line: string, asks: unknown, elsewhere?: Partial<Record<ClientKind, unknown>>];

/** Right values, then wrong ones: missing, too many, an unknown number, an unknown name. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  help: [
    ["/help", shows("help")],
    ["/help me", refuses(NO_ARGUMENTS)],
  ],
  exit: [
    [
      "/quit",
      shows("leave"),
      { page: says("To leave, close the tab. The conversation is kept, and running work continues.") },
    ],
  ],
  stop: [
    ["/stop", shows("stop")],
    ["/stop all", refuses(NO_ARGUMENTS)],
  ],
  clear: [
    ["/new", shows("new")],
    ["/clear all", refuses(NO_ARGUMENTS)],
  ],
  status: [
    ["/status", shows("status"), { page: expect.objectContaining({ type: "message" }) }],
    ["/status x", refuses(NO_ARGUMENTS), { page: expect.anything() }],
  ],
  config: [["/config hooks", shows("config", { text: "hooks" })]],
  mode: [
    ["/mode task", shows("mode", { mode: "task" })],
    ["/mode", shows("mode", { mode: undefined })],
    ["/mode work", refuses("There are two modes")],
    ["/mode chat task", refuses("There are two modes")],
  ],
  model: [
    ["/model opus:high", shows("model", { name: "opus:high" })],
    ["/model", shows("model", { name: "" })],
    ["/model opus now", refuses("has no spaces")],
  ],
  approval: [
    ["/approval edits", shows("approval", { mode: "edits" })],
    ["/approval sandbox", shows("approval", { mode: "sandbox" })],
    ["/permissions", shows("approval", { mode: undefined })],
    ["/approval drop 1", does("rule.revoke", { pattern: "shell(ls)" })],
    ["/approval drop", refuses("Give the number of a rule")],
    ["/approval drop 2", refuses("Give the number of a rule")],
    ["/approval drop 1 2", refuses("Give the number of a rule")],
    ["/approval never", refuses("Choose a mode. ask: calls")],
  ],
  sandbox: [
    ["/sandbox", does("sandbox.read", {})],
    ["/sandbox drop example.org:443", does("address.revoke", { address: "example.org:443" })],
    ["/sandbox drop :5173", does("address.revoke", { address: ":5173" })],
    ["/sandbox drop", refuses("Give one address")],
    ["/sandbox drop a b", refuses("Give one address")],
    ["/sandbox off", refuses("Give one address")],
  ],
  plan: [
    ["/todos", shows("plan")],
    ["/plan all", refuses(NO_ARGUMENTS)],
  ],
  processes: [
    ["/ps", shows("processes")],
    ["/processes stop p1", does("process.stop", { process: "p1" })],
    ["/processes stop", refuses("Give the name of one command")],
    ["/processes stop p1 p2", refuses("Give the name of one command")],
    ["/processes stop p7", refuses("No command p7 runs in the background.")],
    ["/processes kill p1", refuses("does not know kill")],
  ],
  transcript: [
    ["/transcript", shows("transcript")],
    ["/transcript 3", refuses(NO_ARGUMENTS)],
  ],
  copy: [["/copy 2", shows("copy", { text: "2" }), { page: expect.objectContaining({ type: "message" }) }]],
  export: [
    ["/export a.html", shows("export", { format: "html", file: "a.html" })],
    ["/export", shows("export", { format: "markdown", file: "" })],
    ["/export notes.txt", refuses("The ending of the file name decides the format: .md, .html")],
    ["/export notes", refuses("The ending of the file name")],
  ],
  share: [
    [
      "/share here 2d",
      shows("share", { share: { type: "make", isBranch: true, seconds: 172_800 } }),
      { page: expect.objectContaining({ type: "message" }) },
    ],
    ["/share", shows("share", { share: { type: "make", isBranch: false, seconds: undefined } }), AT_BUTTON],
    ["/share list", shows("share", { share: { type: "list" } }), AT_BUTTON],
    ["/share revoke abc", shows("share", { share: { type: "revoke", id: "abc" } }), AT_BUTTON],
    ["/share revoke", refuses("Write /share or /share here"), AT_BUTTON],
    ["/share here 2d 3d", refuses("Write /share or /share here"), AT_BUTTON],
    ["/share tomorrow", refuses("Write /share or /share here"), AT_BUTTON],
  ],
  changes: [
    ["/diff turn a.ts", shows("changes", { since: "turn", text: "a.ts" })],
    ["/changes gitignore", shows("changes", { since: "conversation", text: "gitignore" })],
  ],
  undo: [
    ["/undo", does("file.compare", { leaf: "ran", turn: true })],
    ["/undo last", shows("undo", { text: "" })],
    ["/undo call-7", shows("undo", { text: "call-7" })],
    ["/undo to #1", does("file.compare", { leaf: "ran", to: "asked" })],
    ["/undo to #1 now", does("file.compare", { leaf: "ran", to: "asked" })],
    ["/undo rewind", does("file.compare", { leaf: "ran", undo: true })],
    ["/undo to", refuses("Give the number of a message")],
    ["/undo to #1 please", refuses("/undo to #1 shows the files.")],
  ],
  usage: [
    ["/cost", shows("usage")],
    ["/usage all", refuses(NO_ARGUMENTS)],
  ],
  context: [
    ["/context", shows("context")],
    ["/context all", refuses(NO_ARGUMENTS)],
  ],
  memory: [
    ["/memory", shows("memory", { text: "" })],
    ["/memory drop 1", does("memory.dismiss", { message: "asked", item: 0, dismissed: true })],
    ["/memory use 1", does("memory.dismiss", { message: "asked", item: 0, dismissed: false })],
    ["/memory off", refuses("/memory drop 1 keeps"), { terminal: shows("memory", { text: "off" }) }],
    ["/memory drop", refuses("/memory drop 1 keeps")],
    ["/memory drop 7", refuses("There is no memory entry 7 on this branch.")],
    ["/memory drop 1 2", refuses("/memory drop 1 keeps")],
  ],
  agents: [
    ["/agents", shows("agents", { text: "" })],
    ["/agents stop", refuses("No sub-agent")],
    ["/agents stop 7", refuses("No sub-agent 7 is working")],
    ["/agents kill 1", refuses("does not know kill")],
  ],
  mcp: [
    ["/mcp", shows("mcp")],
    ["/mcp x", refuses(NO_ARGUMENTS)],
  ],
  hooks: [
    ["/hooks", shows("hooks")],
    ["/hooks x", refuses(NO_ARGUMENTS)],
  ],
  keys: [
    ["/keys", shows("keys")],
    ["/keys x", refuses(NO_ARGUMENTS)],
  ],
  title: [
    ["/rename Of oaks", does("conversation.rename", { title: "Of oaks" })],
    ["/title", shows("title")],
  ],
  retry: [
    // A command that the user ran is not a question to the model.
    ["/retry", { type: "turn", turn: "retry", at: "asked" }],
    ["/retry a colour of leaves?", { type: "turn", turn: "retry", at: "asked", text: "a colour of leaves?" }],
  ],
  resume: [
    ["/resume", { type: "turn", turn: "resume" }],
    ["/chat Of oaks", refuses(NO_ARGUMENTS), { terminal: shows("conversations", { text: "Of oaks" }) }],
  ],
  review: [
    [
      "/review main..work",
      { type: "turn", turn: "retry", at: "asked", text: reviewRequest("main..work"), agent: REVIEWER },
    ],
    ["/review a b", refuses("Give one branch")],
  ],
  findings: [
    ["/findings", shows("findings")],
    ["/findings 1", refuses("Nothing was reviewed")],
  ],
  init: [["/init tests", { type: "turn", turn: "say", text: instructionsRequest("tests") }]],
  goal: [
    ["/goal !npm test", { type: "turn", turn: "say", text: "Reach this goal: !npm test", goal: ["!npm test"] }],
    [
      "/goal tests pass\nMend the parser.",
      { type: "turn", turn: "say", text: "Mend the parser.", goal: ["tests pass"] },
    ],
    ["/goal", { type: "message", lines: ["There is no open goal. To set a goal, write for example /goal !npm test."] }],
    ["/goal !", refuses("Write a command")],
  ],
  compact: [
    ["/compress the colour", does("branch.compact", { at: "ran", keep: "the colour" })],
    ["/compact", does("branch.compact", { at: "ran" })],
  ],
  waiting: [
    ["/waiting", shows("waiting")],
    ["/waiting drop 2", does("input.withdraw", { input: "next" })],
    ["/waiting edit 1 sooner", does("input.edit", { input: "held", parts: [{ type: "text", text: "sooner" }] })],
    ["/waiting first 2", does("input.edit", { input: "next", before: "held" })],
    ["/waiting send", { type: "turn", turn: "resume" }],
    ["/waiting drop", refuses("Give the number of a message, as in /waiting drop 1.")],
    ["/waiting drop 7", refuses("Give the number of a message, as in /waiting drop 1.")],
    ["/waiting drop 1 2", refuses("/waiting drop takes one number.")],
    ["/waiting edit 1", refuses("Write the new text")],
    ["/waiting send 1", refuses("takes nothing else")],
    ["/waiting throw 1", refuses("does not know throw")],
  ],
  tree: [
    ["/tree", shows("tree")],
    ["/rewind #4", shows("go", { message: "other" })],
    ["/tree #99", refuses("There is no message #99.")],
    ["/tree #6", refuses("#6 was removed. /restore #6 brings it back.")],
    ["/tree #1 #2", refuses("Give the number of one message, as in /tree #1.")],
    ["/tree oak", refuses("There is no message oak.")],
  ],
  branch: [
    ["/branch", shows("branches", { leaves: ["ran", "round"] })],
    ["/branch 2", shows("go", { message: "round" })],
    ["/fork #1", shows("go", { message: "asked" })],
    ["/branch Round", shows("go", { message: "round" })],
    ["/branch a ", shows("branches", { leaves: ["ran", "round"] })],
    ["/branch 9", refuses("There is no branch or message 9.")],
    ["/branch oak", refuses("There is no branch or message oak.")],
  ],
  fan: [
    [
      "/fan 3 Find the bug",
      does("branch.fan", { at: "ran", parts: [{ type: "text", text: "Find the bug" }], times: 3 }),
    ],
    [
      "/fan opus,gpt-5 Find the bug",
      does("branch.fan", { at: "ran", parts: [{ type: "text", text: "Find the bug" }], models: ["opus", "gpt-5"] }),
    ],
    ["/fan Find the bug", does("branch.fan", { at: "ran", parts: [{ type: "text", text: "Find the bug" }] })],
    ["/fan 9 Find the bug", refuses("/fan asks 1 to 8 times at once.")],
    ["/fan 12 angry men: who wrote it?", refuses("If the question begins with a number, write /fan 3 before it.")],
    [
      "/fan 3 12 angry men",
      does("branch.fan", { at: "ran", parts: [{ type: "text", text: "12 angry men" }], times: 3 }),
    ],
    ["/fan 0 Find the bug", refuses("/fan asks 1 to 8 times at once.")],
    ["/fan a,b,c,d,e,f,g,h,i Find it", refuses("/fan asks 1 to 8 times at once.")],
    ["/fan", refuses("Write your question after the number or the models")],
    ["/fan 3", refuses("Write your question after the number or the models")],
    ["/fan opus,gpt-5", refuses("Write your question after the number or the models")],
  ],
  compare: [
    ["/compare", does("branch.compare", { at: "ran" })],
    ["/compare 2", does("branch.compare", { at: "round" })],
    ["/compare 9", refuses("There is no branch 9.")],
    ["/compare a ", refuses("Several branches contain a.")],
  ],
  bring: [
    ["/bring 2", does("branch.bring", { from: "round", to: "ran" })],
    [
      "/bring",
      refuses("Give the number of a branch, as in /bring 2."),
      { page: expect.objectContaining({ type: "message" }) },
    ],
    [
      "/bring 1",
      refuses("You are on branch 1. To bring its changes elsewhere, switch to another branch and write /bring 1."),
    ],
    ["/bring 9", refuses("There is no branch 9.")],
    ["/bring oak", refuses("There is no branch oak.")],
  ],
  worktree: [
    ["/worktree mine", does("worktree.open", { at: "ran", name: "mine" })],
    [`/worktree ${"x".repeat(81)}`, refuses("at most 80 characters")],
  ],
  worktrees: [
    ["/worktrees", does("worktree.list", {})],
    ["/worktrees remove mine", does("worktree.remove", { name: "mine", changes: false })],
    ["/worktrees remove mine with changes", does("worktree.remove", { name: "mine", changes: true })],
    ["/worktrees remove", refuses("Write /worktrees remove and the name")],
    ["/worktrees remove mine yours", refuses("Write /worktrees remove and the name")],
  ],
  label: [
    ["/label #2 the red one", does("message.label", { message: "answered", label: "the red one" })],
    ["/label here", does("message.label", { message: "ran", label: "here" })],
    ["/label #2", does("message.label", { message: "answered", label: null })],
    ["/label #99 x", refuses("There is no message #99.")],
    [`/label ${"x".repeat(201)}`, refuses("at most 200 characters")],
  ],
  star: [
    ["/star #1", does("message.star", { message: "asked", starred: true })],
    ["/star", does("message.star", { message: "ran", starred: true })],
    ["/star #99", refuses("There is no message #99.")],
    ["/star #1 #2", refuses("Give the number of one message, as in /star #1.")],
  ],
  edit: [
    ["/edit #1 a shade?", { type: "turn", turn: "retry", at: "asked", text: "a shade?" }],
    ["/edit #1", shows("go", { message: "asked" })],
    ["/edit #2 no", refuses("#2 is not your message. /tree #2 goes on from it.")],
    ["/edit", refuses("Give the number of a message"), { page: expect.objectContaining({ type: "message" }) }],
    ["/edit #99 x", refuses("There is no message #99.")],
  ],
  remove: [
    ["/remove #5", does("message.remove", { message: "round" })],
    ["/remove", refuses("Give the number of a message"), { page: expect.objectContaining({ type: "message" }) }],
    ["/remove #99", refuses("There is no message #99.")],
    ["/remove #4 #5", refuses("Give the number of one message, as in /remove #1.")],
  ],
  restore: [
    // Two messages were removed in unknown order, so the user chooses.
    ["/restore", says("#6  You  an older question", "#7  You  a newer question")],
    ["/restore #6", does("message.restore", { message: "older" })],
    ["/restore #1", refuses("#1 is not a removed message.")],
    ["/restore #99", refuses("#99 is not a removed message.")],
    ["/restore #6 #7", refuses("is not a removed message.")],
  ],
};

describe.each(CLIENTS)("H13: in the client %s", (client) => {
  test.each(actions.map(({ name }) => name))(
    "/%s asks for the same as everywhere, and refuses wrong arguments",
    (name) => {
      const rows = ROWS[name] ?? [];
      expect(rows.length).toBeGreaterThan(0);
      const action = actions.find((each) => each.name === name);
      const isThere = action?.needs?.clients?.includes(client) ?? true;
      for (const [line, asks, elsewhere = {}] of rows) {
        const found = asked(line, placeAt(client));
        if (client in elsewhere) expect([line, found]).toEqual([line, elsewhere[client]]);
        else if (isThere) expect([line, found]).toEqual([line, asks]);
        else expect([line, found]).toEqual([line, expect.stringMatching(NOT_HERE)]);
      }
    },
  );

  test("a sub-agent at work is stopped and told by its number", () => {
    const context = placeAt(client, { state: withSubAgent() });
    expect(asked("/agents stop 1", context)).toEqual(does("run.interrupt", { run: "agent-run" }));
    expect(asked("/agents tell 1 look there", context)).toEqual(
      does("turn.say", {
        parts: [{ type: "text", text: "look there" }],
        run: "agent-run",
        delivery: "steer",
        mode: "chat",
      }),
    );
    expect(asked("/agents tell 1", context)).toEqual(refuses("To send sub-agent 1 a message"));
    expect(asked("/agents stop 1 2", context)).toEqual(refuses("takes one number"));
  });

  test("a wrong name is refused with the nearest one, a path is words, and a prompt comes before a name of other programs", () => {
    const context = placeAt(client);
    expect(asked("/retyr", context)).toBe(
      "There is no command /retyr. Did you mean /retry? To send this as text, start with a space.",
    );
    expect(asked("/tmp is full", context)).toEqual({ type: "words" });
    expect(asked(" /retry", context)).toEqual({ type: "words" });
    const read = (line: string) => readLine(line, { ...context, prompts: ["diff", "init", "retry"] }).type;
    expect(["/diff a", "/init", "/retry", "/RETRY"].map(read)).toEqual(["prompt", "prompt", "action", "action"]);
  });
});

test("H13: a user who may only watch has what shows, without arguments that act", () => {
  const watcher = placeAt("attach", { rights: ["show", "watch"] });
  expect(asked("/plan", watcher)).toEqual(shows("plan"));
  expect(asked("/processes", watcher)).toEqual(shows("processes"));
  expect(asked("/processes stop p1", watcher)).toBe("You can only watch here, so write /processes without arguments.");
  expect(asked("/retry", watcher)).toBe("You can only watch here, so you cannot use /retry.");
});

test("H13: what follows a command is told, and the user goes where it says", () => {
  const context = placeAt("terminal");
  const resultOf = (line: string, result: unknown) => {
    const read = readLine(line, { ...context, prompts: [] });
    const step = read.type === "action" ? readAction(read.action, read.argument, context) : undefined;
    return step?.type === "command" ? step.result(result as never) : undefined;
  };
  const lines = ["Removed 1 message. /restore #5 brings it back."];
  expect(resultOf("/remove #5", {})).toEqual({ type: "message", lines });
  expect(resultOf("/remove #1", {})).toMatchObject({ goOn: "latest" });
  expect(resultOf("/bring 2", { message: "brought", files: 1, problems: ["Odd."] })).toEqual({
    type: "message",
    lines: [],
    problems: ["Odd."],
    goOn: { below: "brought" },
  });
  expect(resultOf("/compact", { problem: "too little" })).toMatchObject({ lines: ["Not compacted: too little"] });
  expect(resultOf("/compact", { summary: "sum" })).toMatchObject({ goOn: { end: "sum" } });
  const fanned = { branches: [{ message: "a.1", model: "m", worktree: "w" }], problems: [] };
  const asked = ["Asked 1 branch:", "  m in the worktree w"];
  expect(resultOf("/fan 2 x", fanned)).toMatchObject({ lines: asked, goOn: { below: "ran" } });
});

test("H13: the help of an action fits on a line", () => {
  for (const { name, help } of actions) expect([name, help.length]).toEqual([name, Math.min(help.length, 76)]);
});

test("no two actions have one name", () => {
  const all = actions.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});
