import { defineTool } from "@banyan/core";
import { call, type Scene, scriptedModel } from "@banyan/core/testing";
import { type Served, served, TOKEN } from "@banyan/server/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const REBUILT = "caches such as node_modules are rebuilt, not undone";

let place: Home;
let there: Served;
let ran: string[];

/** A server whose commands run in a sandbox. Commands need approval, except in mode `sandbox`. */
beforeEach(async () => {
  place = home();
  ran = [];
  const shell = defineTool({
    name: "shell",
    description: "Runs a command.",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    effects: "external",
    about: ({ command }: { command: string }) => ({ command }),
    preview: () => ({ confinement: "In the sandbox: no network, writes only in this folder" }),
    execute({ command }) {
      ran.push(command);
      return "";
    },
  });
  const commands = ["npm test", "npm run lint", "npm run build"];
  const scenes = commands.flatMap((command): Scene[] => [[call("shell", { command })], `I ran ${command}.`]);
  there = await served(
    {
      model: scriptedModel(scenes),
      tools: [shell],
      permission: () => (there.host.approval === "sandbox" ? { decision: "allow" } : { decision: "ask" }),
    },
    { directory: `${place.workspace}/../store`, workspace: place.workspace },
  );
});
afterEach(async () => {
  await there[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

function attach(...args: readonly string[]): Pty {
  return Pty.open(place, ["attach", there.server.address, "--new", ...args], { BANYAN_TOKEN: TOKEN });
}

describe.skipIf(!hasTmux)("S37: approval mode sandbox in a terminal", () => {
  test("T12: Shift+Tab offers the mode only while the server offers the mode; /approval lists the modes", async () => {
    using pty = attach();
    await pty.prompted();
    expect(await pty.exchange("/approval", "Change the approval mode")).toContain("/approval plan, ask, edits or all.");
    await pty.exchange("/approval sandbox", "A test has no sandbox.");
    pty.press("BTab");
    await pty.until(/^chat · .*edits freely/);
    pty.press("BTab");
    await pty.until("Type yes to run everything without asking:");
    await pty.answers("no");
    await pty.until(/^chat · .*asks first/);
    await pty.prompted();
    there.modes.refuse(undefined);
    await pty.exchange("/approval", "/approval plan, ask, edits, sandbox or all.");
    pty.press("BTab");
    await pty.until(/^chat · .*edits freely/);
    pty.press("BTab");
    const screen = await pty.until(/^chat · .*runs in the sandbox/);
    expect(screen.replaceAll(/\s+/g, " ")).toContain("Caches such as node_modules are rebuilt, not undone.");
    expect(there.host.approval).toBe("sandbox");
    using late = attach();
    expect(await late.prompted()).toContain("runs commands in the sandbox without asking");
  });

  test("T45: the first command's question offers the mode; when the mode ends, the reason is shown and commands ask", async () => {
    there.modes.refuse(undefined);
    using pty = attach();
    await pty.prompted();
    pty.enter("test it");
    expect((await pty.asked()).replaceAll(/\s+/g, " ")).toContain(
      `s Yes, and run commands in the sandbox without asking (${REBUILT})`,
    );
    pty.press("s", "Enter");
    await pty.until("I ran npm test.");
    await pty.until(/^chat · .*runs in the sandbox/);
    await pty.prompted();
    await pty.exchange("lint it", "I ran npm run lint.");
    there.modes.lost("The sandbox has ended.");
    await pty.until("The sandbox has ended. Banyan asks before changes and commands again.");
    await pty.until(/^chat · .*asks first/);
    pty.enter("build it");
    await pty.asked();
    expect(ran).toEqual(["npm test", "npm run lint"]);
  });

  test("T39: in plain lines, the choice has a number, and the reason of the end is a line", async () => {
    there.modes.refuse(undefined);
    using pty = attach("--plain");
    await pty.prompted();
    pty.enter("test it");
    const screen = await pty.until(/^Allow this\?\s*(?![\s\S])/);
    const [, number = ""] = /^ *(\d)\W+Yes, and run commands in the sandbox/m.exec(screen) ?? [];
    expect(screen.replaceAll(/\s+/g, " ")).toContain(REBUILT);
    pty.enter(number);
    await pty.until("I ran npm test.");
    await pty.prompted();
    await pty.exchange("lint it", "I ran npm run lint.");
    there.modes.lost("The sandbox has ended.");
    await pty.until("The sandbox has ended. Banyan asks before changes and commands again.");
    expect(there.host.approval).toBe("ask");
  });

  test("T45: a mode that is no longer available is refused with the reason, and the question waits without the choice", async () => {
    there.modes.refuse(undefined);
    using pty = attach();
    await pty.prompted();
    pty.enter("test it");
    await pty.asked();
    there.modes.refusal = "The trial failed.";
    pty.press("s", "Enter");
    await pty.until("Not answered: The trial failed.");
    await pty.asked();
    expect([ran, there.host.approval]).toEqual([[], "ask"]);
    pty.press("y", "Enter");
    await pty.until("I ran npm test.");
  });
});
