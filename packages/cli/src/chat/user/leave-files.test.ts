import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../testing/banyan.ts";
import { modelServer, write } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";

test.skipIf(!hasTmux)(
  "T29: a user who leaves a branch with changed files sees them, and keeps, restores or views them",
  async () => {
    using place = home();
    const made = (name: string) => existsSync(join(place.workspace, name));
    const answers = [write("oak.txt", "tall\n"), { text: "Planted." }, write("fig.txt", "small\n"), { text: "Done." }];
    await using server = await modelServer(...answers, { text: "Nothing more." });
    using pty = Pty.open(place, ["--approval", "edits", "--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    await pty.exchange("plant an oak", "Planted.");

    pty.enter("/edit #1");
    expect(await pty.asked("What should happen to these files?")).toMatch(
      /The branch that you leave has 1 changed file ─+\n +created +\+1 +-0 +oak\.txt/,
    );
    pty.press("d", "Enter");
    await pty.until(/^\+ ?tall$|^ *1 \+ tall$/, 2);
    await pty.asked("What should happen to these files?");
    pty.press("Escape");
    await pty.prompted();
    expect(made("oak.txt")).toBe(true);

    pty.enter("/edit #1");
    await pty.asked("What should happen to these files?");
    pty.press("r", "Enter");
    await pty.until(/^Restored: .*oak\.txt/);
    await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
    expect(made("oak.txt")).toBe(false);
    await pty.exchange(" or a fig", "Done.");

    pty.enter("/retry");
    expect(await pty.asked("What should happen to these files?")).toMatch(/created +\+1 +-0 +fig\.txt\n/);
    pty.press("k", "Enter");
    await pty.until("Nothing more.");
    expect(made("fig.txt")).toBe(true);
    await pty.prompted();
    pty.enter("/edit #1");
    await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
  },
);

test.skipIf(!hasTmux).each(["/branch Planted", "/branch #3"])(
  "T29: after a return by %s to a branch with restored files, the agent learns of the restore",
  async (back) => {
    using place = home();
    const answers = [write("oak.txt", "tall\n"), { text: "Planted." }, { text: "A fig." }, { text: "I see." }];
    await using server = await modelServer(...answers);
    using pty = Pty.open(place, ["--approval", "edits", "--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    await pty.exchange("plant an oak", "Planted.");
    pty.enter("/edit #1");
    await pty.asked("What should happen to these files?");
    pty.press("r", "Enter");
    await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
    pty.enter(" or a fig");
    await pty.until("A fig.");
    expect(JSON.stringify(server.asked[2])).not.toContain("taken back");
    await pty.prompted();
    pty.enter(back);
    // The file that the restoration deleted exists in the state of the other branch.
    await pty.asked("What should happen to these files?");
    pty.press("k", "Enter");
    expect(await pty.until("Your next message continues from here.")).toMatch(
      /4 messages on this branch\n\n❯ plant an oak\n(?:.|\n)*\nPlanted\.$/m,
    );
    await pty.prompted();
    pty.enter("go on");
    await pty.until("I see.");
    expect(server.asked[3]?.slice(-3).map(({ content }) => content)).toEqual([
      "Planted.",
      expect.stringMatching(/^The user undid file changes\. .*\n- oak\.txt is not there any more$/),
      "go on",
    ]);
  },
);
