import type { Call } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { toolCallOf } from "./calls.ts";

test("T67, T66: an editor gets a command with an exit code as failed, and the number of files that the command changed", () => {
  const call: Call = {
    id: "c",
    tool: "shell",
    inputText: "{}",
    input: { command: "make" },
    about: { command: "make" },
    status: "completed",
    attempt: 1,
    progress: "",
    startedAt: 1,
    endedAt: 2,
    output: "no rule\nexit code 2",
    changedFiles: 2,
  };
  const { status, content } = toolCallOf(call, "/workspace");
  expect(status).toBe("failed");
  expect(JSON.stringify(content)).toContain("2 files changed");
  expect(toolCallOf({ ...call, output: "built" }, "/workspace").status).toBe("completed");
});
