// Language servers of the machine report the problems that a change made. They run in the sandbox only.
import { Agent } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { LanguageServers } from "@banyan/tools/language-servers";
import { openSandbox } from "@banyan/tools/sandbox";
import { openWorkspace, workspaceTools } from "@banyan/tools/workspace";

const model = await resolveModel("demo/offline", { env: process.env });
const opening = await openSandbox({ root: "." });
if (!opening.available) throw new Error(opening.reason);
await using sandbox = opening.sandbox;
await using servers = new LanguageServers({ workspace: openWorkspace("."), sandbox });
const agent = new Agent({ model, tools: servers.checked(workspaceTools({ root: ".", sandbox })) });
console.log((await agent.send("What can you do?")).text);
