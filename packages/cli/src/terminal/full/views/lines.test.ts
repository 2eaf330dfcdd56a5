import type { PlanStep, WaitingInput } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { rule } from "../overlay/drawn-lines.ts";
import { planLines, waitingList } from "../picture.ts";
import { textWidth } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import { mayMove, SPIN_TIME, spinnerLine } from "./spinner-line.ts";
import { type Status, statusLine } from "./status-line.ts";

const plain = createTheme(1, "dark");

describe("T25: the spinner line", () => {
  const line = (elapsed: number, moves = true, width = 80) =>
    spinnerLine({ what: "running npm test", elapsed, stopKey: "Esc" }, moves, width, plain);

  test("the line names the activity, its duration and the key that stops it", () => {
    expect(line(12_345).slice(2)).toBe("Running npm test, 12 s (Esc to stop)");
    expect(line(185_000).slice(2)).toBe("Running npm test, 3 min 5 s (Esc to stop)");
    expect(line(300).slice(2)).toBe("Running npm test (Esc to stop)");
  });

  test("F35: the line counts down to the next attempt", () => {
    const activity = { what: "429, attempt 4", elapsed: 3_000, until: 12_345, stopKey: "Esc" };
    expect(spinnerLine(activity, false, 80, plain)).toBe("• 429. Trying again in 12 s (attempt 4, Esc to stop)");
    expect(spinnerLine({ ...activity, until: 900 }, false, 80, plain)).toBe(
      "• 429. Trying again now (attempt 4, Esc to stop)",
    );
    expect(spinnerLine({ ...activity, what: "waiting for the rate limit" }, false, 80, plain)).toBe(
      "• Waiting for the rate limit. Continuing in 12 s (Esc to stop)",
    );
  });

  test.each([
    ["HTTP 503, attempt 2", "• HTTP 503. Again in 12 s (Esc to stop)"],
    ["the provider cannot be reached, attempt 3", "• The prov…. Again in 12 s (Esc to stop)"],
  ])(
    "T26: in 40 columns, what is wrong (%j), when it goes on, and what stops it are read all the same",
    (what, shown) => {
      const activity = { what, elapsed: 3_000, until: 12_345, stopKey: "Esc", agentsKey: "Alt+A" };
      expect(spinnerLine(activity, false, 40, plain)).toBe(shown);
    },
  );

  test("T26, T30: in 40 columns, the activity comes before the key that shows the sub-agents", () => {
    const activity = { what: "running launch_agent look around", elapsed: 2_000, stopKey: "Esc", agentsKey: "Alt+A" };
    expect(spinnerLine(activity, false, 40, plain)).toBe("• Running launch_age…, 2 s (Esc to stop)");
  });

  test("T26, T30: in 40 columns, how many sub-agents there are is left out as a whole", () => {
    const activity = { what: "running 2 calls, 2 sub-agents", elapsed: 2_000, stopKey: "Esc", agentsKey: "Alt+A" };
    expect(spinnerLine(activity, false, 40, plain)).toBe("• Running 2 calls, 2 s (Esc to stop)");
  });

  test("T30: names the key that shows the sub-agents, while there are any", () => {
    const activity = { what: "running 2 calls, 1 sub-agent", elapsed: 2_000, stopKey: "Esc", agentsKey: "Alt+A" };
    expect(spinnerLine(activity, false, 80, plain)).toBe(
      "• Running 2 calls, 1 sub-agent, 2 s (Esc to stop, Alt+A shows them)",
    );
  });

  test("the spinner moves, unless NO_MOTION is set", () => {
    expect(line(0).charAt(0)).not.toBe(line(SPIN_TIME).charAt(0));
    expect([line(0, false), line(SPIN_TIME, false)].map((text) => text.charAt(0))).toEqual(["•", "•"]);
    expect([
      mayMove({}),
      mayMove({ NO_MOTION: "" }),
      mayMove({ NO_MOTION: "1" }),
      mayMove({ REDUCED_MOTION: "1" }),
    ]).toEqual([true, true, false, false]);
  });

  test("a narrow line keeps the key that stops the activity", () => {
    expect(line(12_345, true, 30)).toMatch(/^. Running…, 12 s \(Esc to stop\)$/);
  });
});

describe("T26: the status line", () => {
  const status: Status = {
    mode: "chat",
    approval: "asks first",
    model: "anthropic/claude-sonnet-5",
    branch: { number: 2, count: 3 },
    context: 0.314,
    tokens: 12_345,
    cost: 0.1234,
  };

  test("has mode, approval, model, branch, context, tokens and cost", () => {
    expect(statusLine(status, 120, plain)).toBe(
      "chat · asks first · anthropic/claude-sonnet-5 · branch 2/3 · context 69 % left · 12k tokens · $0.12",
    );
  });

  test("the status line omits unknown facts and a single branch", () => {
    expect(
      statusLine(
        { mode: "task", model: "demo/offline", tokens: 0, cost: 0, branch: { number: 1, count: 1 } },
        120,
        plain,
      ),
    ).toBe("task · demo/offline");
  });

  test("T65: the line names the worktree of the branch", () => {
    expect(statusLine({ ...status, worktree: "mine" }, 120, plain)).toContain(" · worktree mine · branch 2/3 · ");
  });

  test("T55: the line has the git branch and the remaining context", () => {
    expect(statusLine({ ...status, git: "main" }, 120, plain)).toContain(
      " · git main · branch 2/3 · context 69 % left · ",
    );
  });

  test("T55: the user's own command writes the line, with colours in a terminal with colours", () => {
    const own = "\x1b[32mready\x1b[0m on main";
    expect(statusLine({ ...status, own }, 120, createTheme(4, "dark"))).toBe(own);
    expect(statusLine({ ...status, own }, 10, plain)).toBe("ready on …");
  });

  test("S12: is plain text, whatever a server or a log calls a model", () => {
    const model = "a/\x1b]0;title\x07m\nn";
    expect(statusLine({ mode: "chat", model, tokens: 0, cost: 0 }, 120, plain)).toBe("chat · a/m n");
  });

  test("an unknown price appears as unknown, not as free", () => {
    const spent = { mode: "chat", model: "m", tokens: 10 } as const;
    expect(statusLine({ ...spent, cost: undefined }, 80, plain)).toBe("chat · m · 10 tokens · cost unknown");
    expect(statusLine({ ...spent, cost: 0 }, 80, plain)).toBe("chat · m · 10 tokens · $0");
  });

  test("leaves out what can be missed where there is less room, the model last", () => {
    expect(statusLine(status, 80, plain)).toBe(
      "asks first · anthropic/claude-sonnet-5 · branch 2/3 · context 69 % left · $0.12",
    );
    expect(statusLine(status, 40, plain)).toBe("asks first · claude-sonnet-5");
    expect(statusLine(status, 24, plain)).toBe("claude-sonnet-5");
    expect(statusLine(status, 19, plain)).toBe("");
    for (let width = 20; width < 120; width++)
      expect(textWidth(statusLine(status, width, plain))).toBeLessThanOrEqual(width);
  });
});

test("T26: a narrow line omits the provider of the model before the facts that a user needs", () => {
  const status: Status = {
    mode: "task",
    approval: "asks first",
    model: "openai-compatible/scripted",
    context: 0.04,
    processes: 1,
    tokens: 6_214,
    cost: 0.21,
    git: "main",
  };
  expect(statusLine(status, 80, plain)).toBe(
    "task · asks first · scripted · 1 in the background · context 96 % left · $0.21",
  );
  expect(statusLine(status, 60, plain)).toBe("asks first · scripted · 1 in the background");
  for (let width = 21; width < 120; width++) expect(statusLine(status, width, plain)).toContain("asks first · ");
  for (let width = 43; width < 120; width++) expect(statusLine(status, width, plain)).toContain("1 in the background");
});

describe("T18: waiting messages", () => {
  const input = (id: string, delivery: WaitingInput["delivery"], held = false): WaitingInput => ({
    id,
    parts: [{ type: "text", text: `message ${id}` }],
    delivery,
    run: "r",
    at: null,
    held,
  });

  test("steering messages come first, then queued messages, with the key that takes them back", () => {
    expect(
      waitingList([input("1", "queue"), input("2", "steer"), input("3", "queue", true)], 5, 60, plain, "Alt+Up"),
    ).toEqual(["steer: message 2", "queued: message 1", "held: message 3   Alt+Up takes back the last message"]);
  });

  test("a long list is cut with a count", () => {
    const many = Array.from({ length: 9 }, (_, index) => input(String(index), "steer"));
    expect(waitingList(many, 3, 60, plain, "Alt+Up")).toEqual([
      "steer: message 0",
      "steer: message 1",
      "… and 7 more messages; Alt+Up takes back the last message",
    ]);
    // The hint with the key is left out if it does not fit.
    expect(waitingList(many, 3, 40, plain, "Alt+Up").at(-1)).toBe("… and 7 more messages");
    expect(waitingList([], 3, 60, plain)).toEqual([]);
  });
});

describe("T57: the plan above the prompt", () => {
  /** Steps by state: completed, current, pending. */
  const steps = (marks: string): PlanStep[] =>
    Array.from(marks, (mark, index) => ({
      title: `step ${index + 1}`,
      status: mark === "x" ? "completed" : mark === "~" ? "in_progress" : "pending",
    }));
  const lines = (marks: string, most = 4, width = 80) => planLines(steps(marks), most, width, plain);

  test("is how much is done, the step under way and its neighbours, as many as fit", () => {
    expect(lines("xxx~   ")).toEqual([
      ...["Plan: 3 of 7 done; /plan shows all", "    [x] step 3", "    [~] step 4", "    [ ] step 5"],
    ]);
    expect(lines("xxx~   ", 9)).toHaveLength(6);
    expect(lines("~ ")).toEqual(["Plan: 0 of 2 done", "    [~] step 1", "    [ ] step 2"]);
    expect(lines("xxxx ").slice(1)).toEqual(["    [x] step 3", "    [x] step 4", "    [ ] step 5"]);
  });

  test("is one line in few columns or rows, and none where nothing is left to do or there is no room", () => {
    expect(lines("x~  ", 4, 40)).toEqual(["Plan: 1 of 4 done: step 2"]);
    expect(lines("x~  ", 2)).toEqual(["Plan: 1 of 4 done: step 2"]);
    expect(lines("x   ", 1, 12)).toEqual(["Plan: 1 of …"]);
    expect([lines(""), lines("xx"), lines("x~", 0)]).toEqual([[], [], []]);
  });

  test("S12: is plain text, whatever the model calls a step", () => {
    const title = "\x1b]0;title\x07\x1b[2Jone\ntwo";
    expect(planLines([{ title, status: "in_progress" }], 4, 80, plain).join("|")).not.toMatch(/\p{Cc}/u);
  });
});

test.each([
  ["a title", "the end", 40, "─ a title ──────────────────── the end ─"],
  ["a title that is long", "the end", 30, "─ a title that is long ───────"],
  ["漢字漢字漢字漢字", "", 12, "─ 漢字漢… ──"],
])("a rule with %j and %j in %i columns", (title, end, width, line) => {
  expect(rule(title, width, plain, end)).toBe(line);
});
