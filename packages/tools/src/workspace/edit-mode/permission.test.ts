import { readdirSync } from "node:fs";
import type { Permission, Permit, Session } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

const ENDED = "Edit mode has ended: before you write more blocks, call edit_mode again";

/** Returns the answers one after the other, then always the last. */
function permits(...answers: readonly Permit[]): Permission {
  let asked = 0;
  return () => answers[Math.min(asked++, answers.length - 1)] as Permit;
}

/** A user who allows every call. */
const allowing = (item: { readonly type: string; readonly question?: string }, session: Session) => {
  if (item.type === "call.approval-requested" && item.question !== undefined)
    void session.answer(item.question, { decision: "allow" });
};

describe("B34: permission is asked at arming and checked again at applying", () => {
  const allow = { decision: "allow" } as const;
  const ask = { decision: "ask" } as const;
  const deny = { decision: "deny", reason: "The rule 'edit_mode(a.ts)' forbids this call." } as const;

  test("denied at arming: nothing is armed, and the next message is nobody's edit", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said, results } = await play(folder, [arm("a.ts"), block("ts:1:2", "x")], { permission: permits(deny) });
    expect(results).toEqual(["Not allowed: The rule 'edit_mode(a.ts)' forbids this call."]);
    expect(said).toEqual([]);
    expect(folder.read("a.ts")).toBe("1\n");
  });

  test("denied by a person", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said, results } = await play(folder, [arm("a.ts"), block("ts:1:2", "x")], {
      permission: permits(ask),
      watch: (item, session) => {
        if (item.type === "call.approval-requested")
          void session.answer(item.question, { decision: "deny", reason: "Not this one." });
      },
    });
    expect(results).toEqual(["The user denied this call: Not this one."]);
    expect(said).toEqual([]);
    expect(folder.read("a.ts")).toBe("1\n");
  });

  test("denied at applying, for one of two files", async () => {
    using folder = new TestFolder({ "a.ts": "1\n", "b.ts": "b\n" });
    const { said } = await play(
      folder,
      [arm("a.ts", "b.ts"), block("ts:a.ts:1:2", "x") + block("ts:b.ts:1:2", "B"), "I see."],
      { permission: permits(allow, allow, deny, allow) },
    );
    expect(said).toEqual([
      `Some blocks were applied.\na.ts: nothing applied: it is not allowed any more: The rule 'edit_mode(a.ts)' forbids this call.\nb.ts: 1 block applied; it has 1 line now, and had 1.\n${ENDED} for a.ts, and then send all blocks for it again.`,
    ]);
    expect([folder.read("a.ts"), folder.read("b.ts")]).toEqual(["1\n", "B\n"]);
  });

  test("a change that a user allowed at arming causes no second question", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { items } = await play(folder, [arm("a.ts"), block("ts:1:2", "x"), "Done."], {
      permission: permits(ask),
      watch: allowing,
    });
    expect(items.filter(({ type }) => type === "call.approval-requested")).toHaveLength(1);
    expect(folder.read("a.ts")).toBe("x\n");
  });

  test("a change that now needs a question, and had none, is not applied", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said } = await play(folder, [arm("a.ts"), block("ts:1:2", "x"), "I see."], {
      permission: permits(allow, ask),
    });
    expect(said.join()).toContain("a.ts: nothing applied: it needs to be approved again; call edit_mode again.");
    expect(folder.read("a.ts")).toBe("1\n");
  });
});

test("S10: a block that would write a placeholder is refused, and with it its file", async () => {
  using folder = new TestFolder({ "a.ts": "1\n2\n" });
  const { said } = await play(
    folder,
    [arm("a.ts"), block("ts:1:2", "x") + block("ts:2:3", "key = [hidden]"), "I see."],
    {
      workspace: {
        refuse: (text) => (text.includes("[hidden]") ? "it holds a placeholder, not the secret." : undefined),
      },
    },
  );
  expect(said).toEqual([
    `No block was applied.\na.ts: nothing applied: block 2 (ts:2:3) was refused: it holds a placeholder, not the secret.\n${ENDED} for a.ts, and then send all blocks for it again.`,
  ]);
  expect(folder.read("a.ts")).toBe("1\n2\n");
});

test("B31: the previous content is kept; where it cannot be, nothing is written", async () => {
  using folder = new TestFolder({ "a.ts": "1\n", "new/x": "" });
  const script = [arm("a.ts", "b.ts"), block("ts:a.ts:1:2", "x") + block("ts:b.ts", "y"), "Done."];
  const backups = `${folder.outside}/backups`;
  await play(folder, script, { workspace: { backups } });
  const kept = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865";
  expect(readdirSync(backups)).toEqual([kept, "intents"]);

  const { said } = await play(folder, [arm("a.ts"), block("ts:1:2", "z"), "I see."], {
    workspace: { backups: `${folder.outside}/secret.txt` },
  });
  expect(said.join()).toMatch(/a\.ts: nothing applied: The previous content could not be saved/);
  expect(folder.read("a.ts")).toBe("x\n");
});
