// The model opens a file in edit mode and writes blocks in its next message. Then the change is undone.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { changedFiles, openWorkspace, revertFile, workspaceTools } from "@banyan/tools/workspace";

const folder = mkdtempSync(join(tmpdir(), "edit-mode-"));
const [root, backups] = [join(folder, "work"), join(folder, "backups")];
mkdirSync(root);
const file = join(root, "list.txt");
writeFileSync(file, "milk\nbread\nsalt\n");

const model = scriptedModel([
  [call("edit_mode", { file_path: "list.txt" })],
  [text("Oat milk, and no salt:\n\n```txt:1", ":2\noat mi", "lk\n``", "`\n```txt:3:4\n```\n")],
  "Done.",
]);
const session = Session.inMemory();
const agent = new Agent({ model, tools: workspaceTools({ root, backups }) });
for await (const item of agent.chat(say("I drink oat milk, and there is salt."), { session })) {
  if (item.type === "call.draft.delta")
    console.log(`draft of lines ${item.start} to ${item.end}: ${JSON.stringify(item.text)}`);
  if (item.type === "file.changed") console.log(item.diff);
  if (item.type === "message.added" && item.author === "tool")
    for (const part of item.parts) if (part.type === "text") console.log(part.text);
}

for (const changed of changedFiles(session.state)) await revertFile(openWorkspace(root), backups, changed);
console.log(`\nReverted: ${readFileSync(file, "utf8").replaceAll("\n", " ")}`);
rmSync(folder, { recursive: true });
