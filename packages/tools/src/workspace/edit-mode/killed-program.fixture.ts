// A program that is killed while it changes files: `node killed-program.fixture.ts WHAT ROOT BACKUPS INSTANT`. The program
// applies a message to three files, or settles the changes of a killed process. From the record of the change on, each
// step that changes the disk is an instant. The program kills itself with SIGKILL right before instant INSTANT. The program
// prints the path of each file whose change is in the log, and finally the number of instants.
import { writeSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";

const [what = "", root = "", backups = "", last = ""] = process.argv.slice(2);
let instants = 0;

/** Wraps a function so that each call is an instant. */
function counted<This, Given extends unknown[], Result>(
  step: (this: This, ...given: Given) => Result,
  isFirst = false,
) {
  return function (this: This, ...given: Given): Result {
    if ((isFirst || instants > 0) && ++instants === Number(last)) process.kill(process.pid, "SIGKILL");
    return step.apply(this, given);
  };
}

const { mkdir, rename, rm, unlink } = files;
Object.assign(files, { mkdir: counted(mkdir), rename: counted(rename), rm: counted(rm), unlink: counted(unlink) });
syncBuiltinESMExports();
DatabaseSync.prototype.exec = counted(DatabaseSync.prototype.exec, true);

// Import only now, so that the imported modules use the wrapped functions.
const { openWorkspace } = await import("../files/paths.ts");
if (what === "settle") {
  const { settleIntents } = await import("../changes/settle-intents.ts");
  await settleIntents(openWorkspace(root), backups);
} else {
  const { Agent, Session, say } = await import("@banyan/core");
  const { call, scriptedModel } = await import("@banyan/core/testing");
  const { editModeTool } = await import("./edit-mode.ts");
  const paths = ["a.txt", "b.txt", "new/c.txt"];
  const model = scriptedModel([
    paths.map((file_path) => call("edit_mode", { file_path, mode: "complete", overwrite: true })),
    paths.map((path) => `\`\`\`txt:${path}\nnew\n\`\`\`\n`).join(""),
    "Done.",
  ]);
  const agent = new Agent({ model, tools: [editModeTool(openWorkspace(root), { backups })] });
  for await (const item of agent.chat(say("Go"), { session: Session.inMemory() }))
    if (item.type === "file.changed") writeSync(1, `${item.path}\n`);
}
writeSync(1, `${instants}\n`);
