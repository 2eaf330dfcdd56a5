import { nearest } from "@banyan/core/shown";

// Tool names in rules, matchers of hooks and lists of tools. Names of Claude Code and codex are translated.

/** The names of all tools of Banyan. */
export const ownTools = [
  "shell",
  "processes",
  "process_input",
  "read",
  "list",
  "search",
  "edit",
  "edit_mode",
  "write",
  "bring_over",
  "diagnostics",
  "symbol",
  "fetch",
  "web_search",
  "launch_agent",
  "ask_client",
  "update_plan",
  "shorten_conversation",
  "finish_task",
  "skill",
  "remember",
  "forget",
  "find_tools",
  "call_tool",
] as const;

/** A tool of Banyan. */
export type OwnTool = (typeof ownTools)[number];

/** A tool of another program, with Banyan's tools for the same purpose. */
export interface ForeignTool {
  /** Likeliest first. */
  readonly tools: readonly OwnTool[];
  /** The kind of text that patterns in rules for this tool match. Absent: the same as for Banyan's tool. */
  readonly pattern?: "command" | "edited path" | "path" | "domain";
}

const command: ForeignTool = { tools: ["shell"], pattern: "command" };
const launch: ForeignTool = { tools: ["launch_agent"] };

const foreignTools: ReadonlyMap<string, ForeignTool> = new Map(
  Object.entries({
    // Claude Code
    Bash: command,
    Read: { tools: ["read"], pattern: "path" },
    Edit: { tools: ["edit", "edit_mode"], pattern: "edited path" },
    MultiEdit: { tools: ["edit", "edit_mode"], pattern: "edited path" },
    Write: { tools: ["write"], pattern: "path" },
    Glob: { tools: ["list", "search"], pattern: "path" },
    Grep: { tools: ["search"], pattern: "path" },
    LS: { tools: ["list"], pattern: "path" },
    WebFetch: { tools: ["fetch"], pattern: "domain" },
    WebSearch: { tools: ["web_search"] },
    Task: launch,
    Agent: launch,
    TodoWrite: { tools: ["update_plan"] },
    AskUserQuestion: { tools: ["ask_client"] },
    Skill: { tools: ["skill"] },
    BashOutput: { tools: ["processes"] },
    KillShell: { tools: ["processes"] },
    ToolSearch: { tools: ["find_tools"] },
    // codex
    local_shell: command,
    shell_command: command,
    exec_command: command,
    unified_exec: command,
    write_stdin: { tools: ["process_input"] },
    apply_patch: { tools: ["edit", "edit_mode", "write"], pattern: "edited path" },
    read_file: { tools: ["read"], pattern: "path" },
    view_image: { tools: ["read"], pattern: "path" },
    list_dir: { tools: ["list"], pattern: "path" },
    grep_files: { tools: ["search"], pattern: "path" },
    spawn_agent: launch,
    request_user_input: { tools: ["ask_client"] },
  } satisfies Record<string, ForeignTool>),
);

/** Tools of Claude Code and codex that Banyan does not have. Rules on them have no effect but a notice. */
const absentTools: ReadonlySet<string> = new Set(
  "NotebookEdit NotebookRead PowerShell SlashCommand ExitPlanMode EnterPlanMode EnterWorktree ExitWorktree ListMcpResourcesTool ReadMcpResourceTool LSP Monitor TaskOutput TaskStop TaskCreate TaskGet TaskList TaskUpdate TodoRead SendMessage CronCreate CronDelete CronList Workflow close_agent send_input resume_agent wait_agent list_mcp_resources list_mcp_resource_templates read_mcp_resource request_permissions js_repl".split(
    " ",
  ),
);

/** Calls of other programs' agents have tool names such as `claude_edit`. */
const AGENTS_CALL =
  /_(?:read|edit|delete|move|search|execute|think|fetch|switch_mode|other)$|^(?:claude|codex|gemini)_/;

/** Returns the tool that has this name in another program. */
export function foreignTool(name: string): ForeignTool | undefined {
  return foreignTools.get(name);
}

/** Returns whether another program has a tool of this name that Banyan does not have. */
export function isAbsentTool(name: string): boolean {
  return absentTools.has(name);
}

/** Returns the names that one of Banyan's tools has in other programs. */
export function foreignNames(own: string): readonly string[] {
  return [...foreignTools].flatMap(([name, { tools }]) => (tools.some((tool) => tool === own) ? [name] : []));
}

/** The names that rules, matchers and lists can have, except for MCP tools. */
export const knownNames: readonly string[] = [...ownTools, ...foreignTools.keys()];

/** Returns whether a tool of Banyan, another program or an MCP server can have this name. */
export function isToolName(name: string): boolean {
  return (
    knownNames.includes(name) || absentTools.has(name) || /^mcp_[^*]|^mcp__?\*$/.test(name) || AGENTS_CALL.test(name)
  );
}

/** Returns the names nearest to an unknown name, as the end of a sentence. */
export function adviceOnName(name: string, others: readonly string[] = []): string {
  const all = [...knownNames, ...others];
  const candidates = [nearest(name, [...ownTools, ...others]), nearest(name, foreignTools.keys())];
  const same = all.filter((known) => known.toLowerCase() === name.toLowerCase());
  const near = same.length > 0 ? same : (candidates.find((names) => names.length > 0) ?? []);
  if (near.length === 0) return `the tools are ${[...new Set([...ownTools, ...others])].join(", ")}`;
  return `you may mean ${near.map((known) => `'${known}'`).join(" or ")}`;
}
