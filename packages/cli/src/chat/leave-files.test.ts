import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const write = (path: string, content: string) => ({ calls: [{ tool: "write", input: { path, content } }] });

test.skipIf(!hasTmux)(
  "T29: who leaves a branch that changed files is told which, and keeps them, puts them back, or looks first",
  { timeout: 60_000 },
  async () => {
    using place = home();
    const made = (name: string) => existsSync(join(place.workspace, name));
    const answers = [write("oak.txt", "tall\n"), { text: "Planted." }, write("fig.txt", "small\n"), { text: "Done." }];
    await using server = await modelServer(...answers, { text: "Nothing more." });
    using pty = Pty.open(place, ["--approval", "edits", "--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    pty.enter("plant an oak");
    await pty.until("Planted.");
    await pty.prompted();

    pty.enter("/edit #1");
    expect(await pty.asked("And now?")).toMatch(/Left behind: 1 changed file ─+\n +created +\+1 +-0 +oak\.txt/);
    pty.press("d");
    await pty.until(/^\+ ?tall$|^ *1 \+ tall$/, 2);
    await pty.asked("And now?");
    pty.press("Escape");
    await pty.prompted();
    expect(made("oak.txt")).toBe(true);

    pty.enter("/edit #1");
    await pty.asked("And now?");
    pty.press("r");
    await pty.until(/^put back: .*oak\.txt/);
    await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
    expect(made("oak.txt")).toBe(false);
    pty.enter(" or a fig");
    await pty.until("Done.");
    await pty.prompted();

    pty.enter("/retry");
    expect(await pty.asked("And now?")).toMatch(/created +\+1 +-0 +fig\.txt\n/);
    pty.press("k");
    await pty.until("Nothing more.");
    expect(made("fig.txt")).toBe(true);
    await pty.prompted();
    pty.enter("/edit #1");
    await pty.until(/^─ Reply to banyan: ─+\nplant an oak$/);
  },
);
