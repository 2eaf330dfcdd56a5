import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const disk = `${process.env.TMPDIR}-full-disk`;
const why = hasTmux ? whyNoDisk() : "there is no tmux";
const MODEL = ["--model", "openai-compatible/test"];

/** A disk of 8 MB, which only the superuser can create. */
function whyNoDisk(): string | undefined {
  if (!process.env.BANYAN_LONG) return "in long mode only";
  mkdirSync(disk, { recursive: true });
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", disk], { encoding: "utf8" });
  return status === 0 ? undefined : `no small disk can be made: ${stderr.trim()}`;
}

/** Fills the disk. */
function fill(): void {
  const piece = Buffer.alloc(4096);
  try {
    for (;;) appendFileSync(join(disk, "filler"), piece);
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  }
}
const free = () => rmSync(join(disk, "filler"));

describe.skipIf(why !== undefined)(
  `F7: a disk that is full, at a terminal${why === undefined ? "" : ` (skipped: ${why})`}`,
  () => {
    let place: Home;
    beforeEach(() => {
      place = home();
      for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true, force: true });
    });
    afterEach(() => place[Symbol.dispose]());
    afterAll(() => {
      spawnSync("umount", [disk]);
      rmSync(disk, { recursive: true, force: true });
    });
    /** Only the program's data is on that disk. */
    const env = () => ({ XDG_DATA_HOME: disk, XDG_STATE_HOME: disk, BANYAN_HOME: "" });

    test("from the start: one sentence reports the full disk, typed text stays in the prompt, and is sent when there is space", async () => {
      await using server = await modelServer({ text: "Hello to you." });
      fill();
      using pty = Pty.open(place, MODEL, { ...server.env, ...env() });
      await pty.prompted();
      pty.enter("hello");
      await pty.until("Not done: No disk space is left for");
      const screen = await pty.until(/^─ Reply to banyan: ─+\nhello$/);
      expect(screen).toContain(
        "Your input history cannot be saved: there is no room left on the disk; free some space.",
      );
      expect(screen).not.toMatch(/ENOSPC|^ +at /m);
      free();
      pty.press("Enter");
      await pty.until("Hello to you.");
    });

    test("in the middle of an answer: it ends with a sentence, and whoever comes back has all that was acknowledged", async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await using server = await modelServer(
        { text: "Hello to you." },
        { text: ["It begins, ", ..."and goes on. ".repeat(2_000)], held },
        { text: "Here I am." },
      );
      {
        using pty = Pty.open(place, MODEL, { ...server.env, ...env() });
        await pty.prompted();
        await pty.exchange("hello", "Hello to you.");
        pty.enter("and now?");
        await pty.until("It begins,");
        fill();
        release();
        expect(await pty.until("The conversation could not be written: No disk space is left")).not.toMatch(/^ +at /m);
        await pty.prompted();
        pty.press("C-d");
        expect(await pty.until("[exit 0]")).toMatch(/^resume: banyan --resume \w+$/m);
      }
      free();
      using pty = Pty.open(place, [...MODEL, "--continue"], { ...server.env, ...env() });
      const screen = await pty.prompted();
      for (const said of ["❯ hello", "Hello to you.", "❯ and now?"]) expect(screen).toContain(said);
      await pty.exchange("are you there?", "Here I am.");
    });
  },
);
