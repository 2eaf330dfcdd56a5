import type { Tool, ToolContext } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";
import type { CallToolResult, Tool as ListedTool, Progress } from "@modelcontextprotocol/client";
import { namedActs } from "../acts/named-acts.ts";
import { ProgressPace } from "../workspace/commands/progress-pace.ts";
import { stripControls } from "../workspace/files/plain-text.ts";
import { inputSchema } from "./connection/input-schema.ts";
import { McpError } from "./entries/error.ts";
import { mcpResultText } from "./output.ts";

/** Returns the span of a call as the `traceparent` of W3C's Trace Context; undefined if the call is not traced. */
export type TraceparentOf = (call: Pick<ToolContext, "call" | "conversation">) => string | undefined;

/** Calls a tool of an MCP server. Rejects with an `McpError`, or with the signal's reason. */
export type CallTool = (
  tool: string,
  input: Readonly<Record<string, unknown>>,
  call: Pick<ToolContext, "signal" | "ask" | "call" | "conversation"> & {
    readonly onProgress: (progress: Progress) => void;
  },
) => Promise<CallToolResult>;

/** Maximum characters of a description, because it is part of every request to the model. */
const LONGEST_DESCRIPTION = 4096;

/**
 * Converts a tool of an MCP server to a tool of an agent. A tool that the server declares read-only may run in
 * parallel, and again after a crash. Its effects are never `none`, because the declaration may be false and such a tool
 * would run without approval (B63).
 */
export function agentTool(server: string, name: string, listed: ListedTool, callTool: CallTool): Tool {
  const { title = listed.annotations?.title, annotations = {} } = listed;
  const description = stripControls([title, listed.description].filter(Boolean).join(". "));
  return {
    name,
    description: cutTo(description || `The tool ${listed.name} of the MCP server ${server}.`, LONGEST_DESCRIPTION, ""),
    input: inputSchema(listed.inputSchema).schema,
    effects: annotations.readOnlyHint || annotations.idempotentHint ? "idempotent" : "external",
    offeredBy: server,
    offeredAs: listed.name,
    about: (input) => aboutServerCall(input, annotations.readOnlyHint === true),
    ...(annotations.readOnlyHint && { parallel: true }),
    async execute(input, context) {
      using progress = new ProgressPace((text) => context.progress(text));
      const result = await callTool(listed.name, input as Readonly<Record<string, unknown>>, {
        signal: context.signal,
        call: context.call,
        conversation: context.conversation,
        ask: (question) => context.ask(question),
        onProgress: (step) => progress.push(progressText(step)),
      });
      const text = mcpResultText(server, result, result.isError ? undefined : (file) => context.attach(file));
      if (result.isError) throw new McpError("refused", text || `The tool ${listed.name} failed and gave no reason.`);
      return text;
    },
  };
}

/**
 * Describes a call by the names of its arguments, because what the server does with a file is unknown. So the tool has
 * no `files`, and each path counts as written unless the server declares the tool read-only.
 */
function aboutServerCall(input: unknown, isReader: boolean): About {
  const texts = (input ?? {}) as Readonly<Record<string, unknown>>;
  const { command, paths, urls, writes } = namedActs(input);
  const [url] = urls;
  const first = (...names: readonly string[]) =>
    names.map((name) => texts[name]).find((value) => typeof value === "string");
  const title = first("command", "pattern", "path", "file_path", "url", "summary");
  const access = isReader && !writes ? "read" : "write";
  return {
    ...(title !== undefined && title !== command && { title }),
    ...(command !== undefined && { command }),
    ...(paths.length > 0 && { paths: paths.map((path) => ({ path, access }) as const) }),
    ...(url !== undefined && { url }),
  };
}

function progressText({ progress, total, message }: Progress): string {
  const amount = total === undefined ? String(progress) : `${progress} of ${total}`;
  return stripControls(`${message === undefined ? amount : `${message} (${amount})`}\n`);
}
