import { describe, expect, test } from "vitest";
import { isPerhapsMisspelt, readArguments } from "./arguments.ts";

function read(...argv: string[]) {
  const wanted = readArguments(argv);
  if (wanted.type !== "run") throw new Error(JSON.stringify(wanted));
  return wanted.arguments;
}

describe("the command line", () => {
  test("no arguments mean a chat in this directory", () => {
    expect(read()).toEqual({
      print: false,
      continue: false,
      output: "text",
      allow: [],
      deny: [],
      network: [],
      color: "auto",
      plain: false,
      quiet: false,
      trust: false,
      numbers: {},
    });
  });

  test.each([
    [["--help"], "banyan", "Chat with an agent"],
    [["run", "--help"], "banyan run", "Let the agent work on a task by itself"],
  ])("%s explains the command", (argv, name, what) => {
    const { type, text } = readArguments(argv) as { type: string; text: string };
    expect({ type, text }).toEqual({
      type: "text",
      text: expect.stringMatching(`^Usage: ${name} \\[options\\] \\[prompt\\.\\.\\.\\]\n\n${what}`),
    });
  });

  test.each([
    ["help", ["--help"]],
    ["help run", ["run", "--help"]],
    ["help conversations", ["conversations", "--help"]],
    ["version", ["--version"]],
  ])("%s is %s", (line, argv) => {
    expect(readArguments(line.split(" "))).toEqual(readArguments(argv));
    expect(readArguments(argv)).toMatchObject({ type: "text" });
  });

  test.each([["rnu", "do it"], ["serv", "--port", "80"], ["model"], ["hello"]])(
    "%s may be a misspelt command",
    (...argv) => expect(isPerhapsMisspelt(argv)).toBe(true),
  );

  test.each([["fix it"], ["change", "the", "colour"], ["run", "it"], ["what is this"], ["Serv"], ["-p", "rnu"]])(
    "%s is no misspelt command",
    (...argv) => expect(isPerhapsMisspelt(argv)).toBe(false),
  );

  test.each([
    [["-p", "- fix this"], "- fix this"],
    [["-p", "--help me"], "--help me"],
    [["--print", "-rename the file\nand more", "-o", "json"], "-rename the file\nand more"],
    [["run", "- one\n- two"], "- one\n- two"],
    [["- one", "-p", "-- two"], "-- two - one"],
    [["--task", "--version of this?"], "--version of this?"],
    [["-p", "--instructions=- be brief", "--memory in words"], "--memory in words"],
  ])("T63, K21: %j is a prompt", (argv, prompt) => {
    expect(read(...argv)).toMatchObject({ prompt });
  });

  test("T63: values with blanks stay values, also of other commands; an option that is unknown is none in words", () => {
    expect(read("-p", "x", "-C/my files", "--instructions", "- be brief")).toMatchObject({
      cwd: "/my files",
      instructions: "- be brief",
      prompt: "x",
    });
    expect(readArguments(["memory", "add", "- the door is red", "--really so"])).toMatchObject({
      arguments: { action: "add", text: "- the door is red --really so" },
    });
    expect(readArguments(["-p", "--hlep"])).toMatchObject({ type: "mistake" });
    expect(readArguments(["-p", "x", "--silence", "- soon"])).toMatchObject({
      type: "mistake",
      message: expect.stringMatching(/'- soon' is not valid/),
    });
  });

  test("takes the prompt at any position", () => {
    expect(read("fix", "the", "bug")).toMatchObject({ print: false, prompt: "fix the bug" });
    expect(read("-p", "fix the bug")).toMatchObject({ print: true, prompt: "fix the bug" });
    expect(read("-p", "fix", "the", "bug")).toMatchObject({ print: true, prompt: "fix the bug" });
    expect(read("fix it", "-p")).toMatchObject({ print: true, prompt: "fix it" });
    expect(read("-p", "--", "--help me")).toMatchObject({ print: true, prompt: "--help me" });
    expect(read("-p").prompt).toBeUndefined();
  });

  test("reads numbers, amounts and times", () => {
    const { numbers } = read(
      "--max-steps",
      "3",
      "--max-cost",
      "$0.50",
      "--timeout",
      "5m",
      "--temperature",
      "0",
      "--top-p",
      "0.9",
      "--seed=7",
      "--max-tokens=100",
    );
    expect(numbers).toEqual({
      limits: { steps: 3, cost: 0.5, time: 300 },
      temperature: 0,
      topP: 0.9,
      seed: 7,
      maxTokens: 100,
    });
    expect(["30", "30s", "1.5s", "250ms", "1h"].map((text) => read("--timeout", text).numbers.limits?.time)).toEqual([
      30, 30, 1.5, 0.25, 3_600,
    ]);
  });

  test("steps are counted by --max-steps, which was called --max-turns and answers to that too", () => {
    expect(read("--max-turns", "4").numbers.limits).toEqual({ steps: 4 });
    expect(read("--max-steps", "3", "--max-turns", "4").numbers.limits).toEqual({ steps: 3 });
    const { text } = readArguments(["--help"]) as { readonly text: string };
    expect(text).toContain("--max-steps");
    expect(text).not.toContain("--max-turns");
  });

  test("collects the rules that are repeated", () => {
    expect(read("--allow", "read", "--deny", "shell", "--allow", "edit(src/**)")).toMatchObject({
      allow: ["read", "edit(src/**)"],
      deny: ["shell"],
    });
  });

  test.each([
    ["--max-steps", "0"],
    ["--max-steps", "1.5"],
    ["--max-turns", "0"],
    ["--max-tokens", "1e3"],
    ["--max-cost", "-1"],
    ["--timeout", "0"],
    ["--timeout", "9999h"],
    ["--temperature", "2.1"],
    ["--top-p", "1.1"],
    ["--seed", "0.5"],
    ["--approval", "none"],
    ["--color", "sometimes"],
  ])("names the flag, the value and what is expected: %s %s", (flag, value) => {
    const wanted = readArguments([flag, value]);
    expect(wanted).toMatchObject({ type: "mistake", output: "text" });
    expect(wanted.type === "mistake" && wanted.message).toMatch(
      new RegExp(`^Option '.*${flag}.*' argument '${value}' is not valid\\. .+\\.$`),
    );
  });

  test("banyan config is read with its own arguments", () => {
    expect(readArguments(["config"])).toMatchObject({ arguments: { action: "get", output: "text" } });
    expect(readArguments(["config", "set", "limits.cost", "1", "-p"])).toEqual({
      type: "config",
      arguments: { action: "set", key: "limits.cost", value: "1", project: true },
    });
    expect(readArguments(["config", "unset", "model"])).toMatchObject({
      arguments: { action: "unset", project: false },
    });
    for (const argv of [["wipe"], ["set", "model"], ["unset"], ["get", "a", "b"], ["check", "--all"]])
      expect(readArguments(["config", ...argv])).toMatchObject({ type: "mistake" });
  });

  test("B37: a task is what stands behind run, --task, or --no-chat-mode; with --chat-mode the chat goes on", () => {
    expect(read("run", "fix", "it")).toMatchObject({ print: true, task: "once", prompt: "fix it" });
    expect(read("--task", "fix it")).toMatchObject({ print: false, task: "once", prompt: "fix it" });
    expect(read("--no-chat-mode", "fix it")).toMatchObject({ print: false, task: "once", prompt: "fix it" });
    expect(read("--task", "fix it", "--chat-mode")).toMatchObject({ task: "first" });
    expect(read("-p", "--task", "fix it")).toMatchObject({ print: true, task: "once", prompt: "fix it" });
    expect(read("please", "run", "it")).toMatchObject({ prompt: "please run it" });
    expect(read("hello").task).toBeUndefined();
    expect(readArguments(["hi", "--output-schema", "a.json"])).toMatchObject({ type: "mistake" });
  });

  test("banyan changes and banyan memory are read with their own arguments", () => {
    expect(readArguments(["changes"])).toEqual({ type: "changes", arguments: { action: "list" } });
    expect(readArguments(["changes", "01abc", "--branch", "#3"])).toMatchObject({
      arguments: { action: "list", conversation: "01abc", branch: "#3" },
    });
    expect(readArguments(["changes", "revert", "a.ts", "--in", "01abc", "-y"])).toMatchObject({
      arguments: { action: "revert", paths: ["a.ts"], all: false, yes: true, conversation: "01abc" },
    });
    expect(readArguments(["memory", "clear", "--in", "01abc"])).toMatchObject({
      arguments: { action: "clear", conversation: "01abc", yes: false },
    });
    for (const argv of [
      ["memory", "remove", "x"],
      ["memory", "wipe"],
      ["memory", "add"],
      ["changes", "a", "b"],
    ])
      expect(readArguments(argv)).toMatchObject({ type: "mistake" });
  });

  test("T33: a mistake knows in which format its result is wanted", () => {
    for (const argv of [
      ["--bad", "--output", "jsonl"],
      ["--output=jsonl", "--bad"],
      ["-o", "jsonl", "--bad"],
    ]) {
      expect(readArguments(argv)).toMatchObject({ type: "mistake", output: "jsonl" });
    }
  });
});
