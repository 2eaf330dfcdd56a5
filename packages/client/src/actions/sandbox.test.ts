import { expect, test } from "vitest";
import { placeAt } from "./actions.fixture.ts";
import { readSandbox } from "./sandbox.ts";

/** Returns the lines that `/sandbox` shows for the answer of a server. */
function shown(answer: object): unknown {
  const step = readSandbox("", placeAt("terminal"));
  return (
    step.type === "command" &&
    step.result({ state: "In a sandbox.", addresses: [], ports: [], hidden: [], ...answer } as never)
  );
}

test("S39, S42: /sandbox lists the ports that always open, and the hidden paths", () => {
  expect(shown({ ports: [5173], hidden: [".env", "secrets"] })).toMatchObject({
    lines: [
      "In a sandbox.",
      "Port 5173 opens without a question for commands in this folder. /sandbox drop :5173 ends this.",
      "Deny rules hide these paths from commands: .env, secrets",
    ],
  });
  const hidden = Array.from({ length: 30 }, (_, index) => `file-${index}`);
  expect(shown({ hidden })).toMatchObject({ lines: ["In a sandbox.", expect.stringMatching(/file-19, … \(30\)$/)] });
  expect(shown({})).toMatchObject({ lines: ["In a sandbox."] });
});
