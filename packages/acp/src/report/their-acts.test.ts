import type { Agent, Answer } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { play, SampleFolders } from "../testing/sample.fixture.ts";

const deny = (): Answer => ({ decision: "deny" });

describe("S43: kind, arguments, locations and diffs of a call determine its act", () => {
  const write = { content: [{ type: "diff", path: "a.txt", oldText: null, newText: "x" }] };

  test("a call's kind never makes the call look more harmless than its other fields", async () => {
    const told: readonly (readonly [object, string, string, object])[] = [
      [
        { kind: "read", rawInput: { command: "rm x" } },
        "sample_execute",
        "external",
        { command: "rm x", untold: "files" },
      ],
      [{ kind: "think", rawInput: { cmd: ["sh", "-c", "rm x"] } }, "sample_execute", "external", { command: "rm x" }],
      [
        { kind: "execute", rawInput: { command: "make", cwd: "/etc" } },
        "sample_execute",
        "external",
        { command: "cd /etc && make" },
      ],
      [{ kind: "execute" }, "sample_execute", "external", { untold: "command" }],
      [{ kind: "read", ...write }, "sample_edit", "external", { paths: [{ path: "a.txt", access: "write" }] }],
      [
        { kind: "search", rawInput: { path: "a.txt", content: "x" } },
        "sample_edit",
        "external",
        { paths: [{ path: "a.txt", access: "write" }] },
      ],
      [
        { kind: "other", name: "read", rawInput: { changes: { "a.txt": {} } } },
        "sample_edit",
        "external",
        { paths: [{ path: "a.txt", access: "write" }] },
      ],
      [
        { kind: "read", locations: [{ path: "a.txt" }] },
        "sample_read",
        "none",
        { paths: [{ path: "a.txt", access: "read" }] },
      ],
      [
        { kind: "other", locations: [{ path: "a.txt" }] },
        "sample_other",
        "external",
        { paths: [{ path: "a.txt", access: "write" }] },
      ],
      [{ kind: "edit" }, "sample_edit", "external", { untold: "files" }],
      [
        { kind: "fetch", rawInput: { url: "https://example.com" } },
        "sample_fetch",
        "external",
        { url: "https://example.com" },
      ],
      [{ rawInput: { a: 1 } }, "sample_other", "external", { untold: "act" }],
    ];
    const seen: unknown[] = [];
    const permission: Agent["options"]["permission"] = ({ tool, input }) => {
      seen.push([tool.name, tool.effects, tool.offeredBy, tool.asAsked, tool.about?.(input)]);
      return { decision: "allow" };
    };
    const lines = told.map(([call]) => `call ${JSON.stringify(call)}`).join("\n");
    await play(lines, { model: new SampleFolders().sample(), permission });
    expect(seen).toEqual(
      told.map(([, name, effects, about]) => [name, effects, "sample", true, { title: "a call", ...about }]),
    );
  });

  const covers: Agent["options"]["permission"] = ({ done }) =>
    done ? { decision: "deny", reason: "The rule 'write' forbids this call." } : { decision: "allow" };
  const unasked = { kind: "edit", asks: false, does: "echo x > a.txt", locations: [{ path: "a.txt" }] };

  test.each([
    ["all of it", unasked, "sample_edit ran without asking: a.txt. The rule 'write' forbids this call."],
    [
      "a command",
      { ...unasked, kind: "execute", rawInput: { command: "date\nls" } },
      "sample_execute ran without asking: date\\nls. The rule 'write' forbids this call.",
    ],
    [
      "a call that the agent reported as failed, with a change",
      { ...unasked, status: "failed" },
      "sample_edit ran without asking: a.txt. The rule 'write' forbids this call.",
    ],
    [
      "more than it asked about",
      { ...unasked, asks: true, later: { locations: [{ path: "b.txt" }] } },
      "sample_edit ran without asking: b.txt. The rule 'write' forbids this call.",
    ],
  ])("an act that a rule covers, done without asking, ends the turn as failed: %s", async (_, told, sentence) => {
    const place = new SampleFolders();
    const { reason, problem, calls } = await play(`call ${JSON.stringify(told)}\nsay on`, {
      model: place.sample(),
      permission: covers,
    });
    expect([reason, problem]).toEqual(["failed", sentence]);
    expect(calls).toHaveLength(1);
    expect(place.read("a.txt")).toBe("x\n");
  });

  test("the turn fails if an agent changes files after its call was denied", async () => {
    const told = { ...unasked, asks: true, obeys: false };
    const { reason, problem } = await play(`call ${JSON.stringify(told)}`, {
      model: new SampleFolders().sample(),
      person: deny,
    });
    expect([reason, problem]).toEqual(["failed", 'The agent "sample" changed a.txt although its call was denied.']);
  });

  test("a failed call without changes, or an act without a rule, does not end the turn", async () => {
    const refused = { ...unasked, does: "", status: "failed" };
    const model = new SampleFolders().sample();
    expect((await play(`call ${JSON.stringify(refused)}\nsay on`, { model, permission: covers })).reason).toBe(
      "answered",
    );
    const permission: Agent["options"]["permission"] = () => ({ decision: "ask" });
    expect((await play(`call ${JSON.stringify(unasked)}`, { model, permission })).reason).toBe("answered");
  });

  test("Banyan denies a call whose arguments a hook changed, because the agent cannot take them", async () => {
    const place = new SampleFolders();
    const hooks = { beforeCall: () => ({ decision: "allow", input: { command: "ls" } }) as const };
    const { calls, text } = await play("run rm", {
      model: place.sample(),
      hooks,
      permission: () => ({ decision: "allow" }),
    });
    expect(calls).toMatchObject([
      {
        status: "denied",
        output: "Not allowed: a hook changed the arguments, but this agent cannot run a changed call.",
      },
    ]);
    expect(text).toBe("told: no");
  });
});
