// A goal: the turn is done only when the checks pass, whatever the model says.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { workspaceGoal } from "@banyan/host";
import { workspaceTools } from "@banyan/tools/workspace";

const directory = mkdtempSync(join(tmpdir(), "goal-"));
// The model claims to be done, and does the work only after the failed check.
const model = scriptedModel([
  "The change is described.",
  [call("write", { path: "CHANGES.md", content: "1.2: the parser is mended.\n" })],
  "Now the change is described.",
]);
const goal = workspaceGoal({
  checks: [{ command: "test -e CHANGES.md" }, { file: "CHANGES.md", contains: "1.2" }],
  directory,
  copies: mkdtempSync(join(tmpdir(), "goal-copies-")),
});
const agent = new Agent({ model, tools: workspaceTools({ root: directory }), goal });
const turn = await agent.send("Describe the change.");

console.log(`${turn.reason} after ${model.requests.length} requests: ${turn.text}`);
console.log(readFileSync(join(directory, "CHANGES.md"), "utf8").trim());
