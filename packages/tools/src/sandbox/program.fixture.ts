import { emptyConversation } from "@banyan/core";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call } from "../workspace/test-folder.fixture.ts";
import { openSandbox } from "./index.ts";

// A program with a sandbox around its working folder. Runs the commands of its parent in one conversation, and ends with
// the parent.

const conversation = emptyConversation();
const opening = await openSandbox({ root: process.cwd(), home: process.env.HOME ?? "" });
const tool = opening.available && shellTool(openWorkspace(process.cwd()), { sandbox: opening.sandbox });

process.on("message", async ({ id, command }: { readonly id: number; readonly command: string }) => {
  const said = tool ? call(tool, { command }, { conversation }) : Promise.reject(new Error("It has no sandbox."));
  const answer = await said.catch((error: Error) => `refused: ${error.message}`);
  if (process.connected) process.send?.({ id, said: answer });
});
process.once("disconnect", async () => {
  if (opening.available) await opening.sandbox[Symbol.asyncDispose]();
  process.exit();
});
process.send?.({ id: 0, said: opening.available ? "" : opening.reason });
