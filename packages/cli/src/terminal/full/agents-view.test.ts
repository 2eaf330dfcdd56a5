import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KeyBindings } from "./keys/key-bindings.ts";
import { withoutColors } from "./screen/cells.ts";
import { Opened } from "./testing/opened.ts";
import { createTheme } from "./theme/theme.ts";
import { AgentsView } from "./views/agents-view.ts";

const YES = { key: "y", text: "Yes, once", brief: "yes" };
const NO = { key: "n", text: "No, and say why", brief: "no", takesWords: "Reason (optional)" };

// Questions accept keys after a pause.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("T26, T30: in few columns what a sub-agent took is left out fact by fact, and none is cut", async () => {
  using here = new Opened(40, 10);
  here.begins();
  here.calls("c1", "launch_agent", { task: "read all of the documents that are there" });
  const said = [{ type: "text", text: "Read the docs." }] as const;
  here.happens(
    { type: "call.executing", message: "a", call: "c1", attempt: 1, key: "k" },
    { type: "message.added", message: "t1", parentId: null, role: "user", author: "tool", call: "c1", parts: said },
  );
  const line = (columns: number) =>
    withoutColors(
      new AgentsView(here.state).view({ columns, rows: 10 }, createTheme(1, "dark"), true, new KeyBindings())
        .lines[1] ?? "",
    );
  expect(line(44)).toMatch(/ {2}running, \S+ \w+, 0 calls$/);
  expect(line(34)).toMatch(/ {2}running, \S+ \w+$/);
  expect(line(29)).toMatch(/ {2}running$/);
});

test("T26, T30: in 40 columns and 10 rows a question stands below the sub-agents, and is answered there", async () => {
  using here = new Opened(40, 10);
  here.begins();
  here.calls("c1", "launch_agent", { task: "read the docs" });
  const said = [{ type: "text", text: "Read the docs." }] as const;
  here.happens(
    { type: "call.executing", message: "a", call: "c1", attempt: 1, key: "k" },
    { type: "message.added", message: "t1", parentId: null, role: "user", author: "tool", call: "c1", parts: said },
  );
  const closed = here.terminal.open(new AgentsView(here.state));
  const list = await here.screen.until("1 at work");
  // The status below shows the work without the stop key, which closes the list here.
  expect(list).toMatch(/^\S Running .*read the docs/m);
  expect(list).not.toContain("Esc to stop");
  expect(list).toMatch(/^─ 1 sub-agent ─+ 1 at work ─\n❯ 1 {2}read the docs +running/m);

  const decided = here.terminal.decide({
    title: "agent 1 asks to run shell",
    body: ["npm test"],
    question: "Allow this?",
    choices: [YES, NO],
  });
  const asked = await here.screen.until("Allow this?");
  expect(asked).toMatch(/❯ 1 {2}read the docs[\s\S]*─ agent 1 asks to run shell ─+\n {2}npm test\ny yes · n no/);
  // Until the question accepts keys, the list gets them.
  here.keys("\x1b[C");
  await here.screen.until("❯ Read the docs.");
  await here.quiet();
  await here.screen.until(/^Allow this\?$/m);
  // Then the list gets keys that the question does not use: Esc stops nothing while a view is open.
  here.keys("\x1b[D");
  await here.screen.until("1 at work");
  here.keys("\r");
  await here.screen.until("❯ Read the docs.");
  here.keys("\x1b");
  await here.screen.until("1 at work");
  here.keys("\x1b[C");
  await here.screen.until("❯ Read the docs.");
  here.keys("n", "\r");
  await here.screen.until("Reason (optional):");
  here.keys("\x1b");
  expect(await here.screen.until(/^Allow this\?$/m)).toContain("❯ Read the docs.");
  here.keys("y", "\r");
  expect(await decided).toEqual({ key: "y" });
  await here.screen.until(/lines 1 to \d/);
  here.keys("\x1b[D");
  await here.screen.until("1 at work");
  here.keys("\x1b[D");
  expect(await closed).toBeUndefined();
});
