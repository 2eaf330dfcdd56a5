import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "@banyan/core";
import { redactor } from "@banyan/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import { type Home, home } from "../../testing/banyan.ts";
import { hasEnded, lasting } from "../../testing/lasting.ts";
import { modelServer, shell } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";
import { OwnCommands } from "./own-commands.ts";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

const ARGS = ["--allow", "shell", "--model", "openai-compatible/test"];

/** Lines and notes that the user sees. */
function shown(onLine = () => {}) {
  const [lines, notes]: [string[], string[]] = [[], []];
  const view = {
    line(text: string) {
      lines.push(text);
      onLine();
    },
    note: (sentence: string) => void notes.push(sentence),
    busyWith: () => ({ [Symbol.dispose]() {} }),
  } as unknown as FeedView;
  return { view, lines, notes };
}

const here = () => ({ redact: redactor({ env: {} }), directory: place.workspace });

test.skipIf(process.platform === "win32")(
  "T3: a command of the person's own that ignores the first Ctrl-C is killed by the second",
  async () => {
    const begun = Promise.withResolvers<void>();
    const { view, notes } = shown(() => begun.resolve());
    const commands = new OwnCommands({ view, context: here(), add: async () => {}, worktree: async () => undefined });
    const end = commands.run("!trap '' TERM; echo deaf; while :; do sleep 0.05; done");
    await begun.promise;
    const since = performance.now();
    expect(commands.stop()).toBe(true);
    expect(notes).toEqual([]);
    expect(commands.stop()).toBe(true);
    expect(notes).toEqual(["Killing the commands that are still running."]);
    await end;
    // Without the second stop, the command would have two seconds.
    expect(performance.now() - since).toBeLessThan(2_000);
    expect(notes.at(-1)).toMatch(/^Stopped[,.] /);
    expect(commands.stop()).toBe(false);
  },
);

test.skipIf(process.platform === "win32")(
  "T17: if a command's output cannot reach the agent, an error says so; the command has ended and cannot be stopped",
  async () => {
    const { view, notes } = shown();
    const added = Promise.withResolvers<void>();
    const adding = Promise.withResolvers<void>();
    const add = () => {
      adding.resolve();
      return added.promise;
    };
    const commands = new OwnCommands({ view, context: here(), add, worktree: async () => undefined });
    const end = commands.run("!true");
    await adding.promise;
    expect(commands.stop()).toBe(false);
    added.reject(new StoreError("damaged", "The disk\nis full."));
    await end;
    expect(notes).toEqual([
      expect.stringMatching(/^Done(, [\d.]+ s)?\. The agent could not be told about the command: The disk is full\.$/),
    ]);
  },
);

test.skipIf(process.platform === "win32")(
  "T17: an output that never ends its line is shown up to a bound",
  async () => {
    const { view, lines } = shown();
    const commands = new OwnCommands({ view, context: here(), add: async () => {}, worktree: async () => undefined });
    await commands.run("!! yes 'ab 🌳' | tr -d '\\n' | head -c 8000000");
    expect(lines).toHaveLength(2_001);
    expect(lines.join("\n").length).toBeLessThan(6_000_000);
    expect(lines.every((line) => line.isWellFormed())).toBe(true);
    expect(lines.at(-1)).toMatch(/^… \([\d,]+ more lines\)$/);
  },
);

describe.skipIf(!hasTmux)("T17: a command of the person's own", () => {
  test("runs in the shell; the agent gets the output of !, and nothing of !!", async () => {
    const waits = shell("until [ -e released ]; do sleep 0.05; done");
    await using server = await modelServer({ text: "I see." }, waits, { text: "Heard." });
    using pty = Pty.open(place, ARGS, { ...server.env, OWN_TOKEN: "of the person" });
    await pty.prompted();
    pty.enter("!echo one; echo two >&2; exit 3");
    await pty.until(
      /^❯ !echo one; echo two >&2; exit 3\none\ntwo\nExit code 3(, .*)?\. The agent sees the output with your next message\.$/,
    );
    pty.enter("!! echo $OWN_TOKEN");
    await pty.until(/^❯ !! echo \$OWN_TOKEN\nof the person\nDone(, .*)?\. The agent does not see the command\.$/);
    const lasts = lasting();
    pty.enter(`!${lasts}`);
    await pty.until(new RegExp(`Running ${lasts}, .* to stop\\)$`));
    pty.press("C-c");
    await pty.until(/^Stopped(, .*)?\. The agent sees the output/);
    await hasEnded(lasts);
    await pty.prompted();
    expect(server.asked).toHaveLength(0);
    pty.enter("what was it?");
    await pty.until("I see.");
    const asked = JSON.stringify(server.asked[0]);
    expect(asked).toContain(
      JSON.stringify('<output name="echo one; echo two >&2; exit 3">\none\ntwo\nexit code 3\n</output>').slice(1, -1),
    );
    expect(asked).not.toContain("of the person");

    // A running agent gets the command before its next step.
    await pty.prompted();
    pty.enter("go");
    await pty.until(/• shell .* …/);
    pty.enter("!echo three");
    await pty.until(/^three$/);
    await pty.until(/^steer: !echo three {3}/);
    writeFileSync(join(place.workspace, "released"), "");
    await pty.until("Heard.");
    expect(JSON.stringify(server.asked[2])).toContain('<output name=\\"echo three\\">');
  });

  test("is not repeated by /retry, which repeats the message before the command", async () => {
    await using server = await modelServer({ text: "Red." }, { text: "Green." }, { text: "Blue." }, { text: "Grey." });
    using pty = Pty.open(place, ["--plain", ...ARGS], server.env);
    const said = () => server.asked.at(-1)?.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    await pty.prompted();
    await pty.exchange("!echo zero", /^zero\nDone[,.] /);
    await pty.exchange("/retry", "There is nothing to retry: there are no messages yet.");
    await pty.exchange("a colour?", "Red.");
    const asked = said();
    await pty.exchange("/retry", "Green.");
    await pty.exchange("!echo one", /^one\nDone[,.] /);
    pty.enter("/retry");
    await pty.until("Blue.");
    expect(said()).toEqual(asked);
    await pty.prompted();
    await pty.exchange("!echo two", /^two\nDone[,.] /);
    pty.enter("/retry a shape?");
    await pty.until("Grey.");
    expect(JSON.stringify(said())).toContain("zero");
    expect(said()?.at(-1)).toBe("a shape?");
    expect(JSON.stringify(server.asked.at(-1))).not.toMatch(/a colour|one|two/);
  });

  test("in plain lines too, where an address that was not asked for is named, and not fetched (T15)", async () => {
    await using server = await modelServer({ text: "I see." });
    using pty = Pty.open(place, ["--plain", ...ARGS], server.env);
    await pty.prompted();
    await pty.exchange("!echo one", /^one\nDone[,.] /);
    pty.enter("see https://a.example/b and *.md.");
    await pty.until("https://a.example/b is not attached. @https://a.example/b attaches the file.");
    await pty.until("*.md is not attached. @*.md attaches the file.");
    await pty.until("I see.");
    expect(server.asked[0]?.at(-1)?.content).toBe("see https://a.example/b and *.md.");
    expect(JSON.stringify(server.asked[0])).toContain("one");
  });
});
