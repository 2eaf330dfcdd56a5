import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, ToolContext } from "@banyan/core";
import { openMcpServers } from "../index.ts";

/*
 * The client that the conformance runner starts, with the address of the runner's server as the last argument. The
 * client connects as Banyan does, calls every tool, and answers questions with the proposed values. `fetch` plays the
 * browser of the user who signs in.
 */

const address = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context: { readonly client_id?: string; readonly client_secret?: string } = JSON.parse(
  process.env.MCP_CONFORMANCE_CONTEXT ?? "{}",
);

const folder = mkdtempSync(join(tmpdir(), "banyan-conformance-"));
await using servers = openMcpServers({
  workspace: folder,
  credentials: folder,
  env: process.env,
  servers: { conformance: { url: address, oauth: await oauth() } },
  openAddress: async (page) => {
    const response = await fetch(page);
    if (!response.ok) throw new Error(`${page} answered ${response.status}.`);
  },
});
await servers.settled();
const [state] = servers.states;
if (state?.status !== "ready") throw new Error(JSON.stringify(state));
for (const tool of servers.tools) {
  await tool.execute(argumentsFor(tool.input), person());
}
rmSync(folder, { recursive: true });

/** The settings that a user would have configured. */
async function oauth() {
  const { client_id: clientId, client_secret: clientSecret } = context;
  const known = { ...(clientId && { clientId }), ...(clientSecret && { clientSecret }) };
  if (scenario === "auth/basic-cimd") {
    return { ...known, clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
  }
  if (scenario !== "auth/client-credentials-basic") return known;
  const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", address));
  const [issuer] = ((await metadata.json()) as { authorization_servers: string[] }).authorization_servers;
  return { ...known, issuer, grant: "client_credentials" };
}

/** Answers each requested value with some number. */
function argumentsFor(schema: object): Json {
  const { properties = {} } = schema as { readonly properties?: object };
  return Object.fromEntries(Object.keys(properties).map((name, at) => [name, at + 1]));
}

function person(): ToolContext {
  return {
    signal: new AbortController().signal,
    progress() {},
    ask: async ({ default: proposed, choices: [first = ""] = [] }: Parameters<ToolContext["ask"]>[0]) =>
      proposed ?? first,
  } as unknown as ToolContext;
}
