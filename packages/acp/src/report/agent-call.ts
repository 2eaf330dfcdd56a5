import { isAbsolute, relative, sep } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk/unstable";
import type { Effects, Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { type NamedActs, namedActs } from "@banyan/tools/acts";
import type { ReportedChange } from "@banyan/tools/workspace";

type AcpToolKind = NonNullable<ToolCall["kind"]>;

const FILES: Partial<Record<AcpToolKind, "read" | "write">> = {
  read: "read",
  search: "read",
  edit: "write",
  delete: "write",
  move: "write",
};

const LOOKS: ReadonlySet<AcpToolKind> = new Set<AcpToolKind>(["read", "search", "think"]);

/** A call as its agent reports it, in several updates. Fields of a later update replace those of earlier updates. */
export class AgentCall {
  readonly id: string;
  readonly agent: string;
  readonly folder: string;
  #update: Omit<ToolCallUpdate, "toolCallId"> = {};
  #read: { readonly of: unknown; readonly named: NamedActs } | undefined;

  constructor(id: string, agent: string, folder: string) {
    this.id = id;
    this.agent = agent;
    this.folder = folder;
  }

  take(update: Partial<ToolCallUpdate>): void {
    const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
    this.#update = { ...this.#update, ...Object.fromEntries(said) };
  }

  get status(): NonNullable<ToolCall["status"]> {
    return this.#update.status ?? "pending";
  }

  get title(): string {
    return this.#update.title ?? this.#update.name ?? this.id;
  }

  /** Kind of the call. Arguments or diffs that do more than the reported kind override it (S43). */
  get #kind(): AcpToolKind {
    const kind = this.#update.kind ?? "other";
    const { command, writes } = this.#named;
    if (command !== undefined) return "execute";
    return FILES[kind] !== "write" && (writes || this.diffs.length > 0) ? "edit" : kind;
  }

  get #named(): NamedActs {
    const { rawInput } = this.#update;
    const known = this.#read;
    const named = known && known.of === rawInput ? known.named : namedActs(rawInput, this.folder);
    this.#read = { of: rawInput, named };
    return named;
  }

  get isDescribed(): boolean {
    const { rawInput, locations, content } = this.#update;
    return hasEntries(rawInput) || hasEntries(locations) || hasEntries(content);
  }

  /** Tool name for rules and users. The prefix, as in `claude_edit`, keeps crash recovery from running our own tool. */
  get tool(): string {
    const { name } = this.#update;
    const said = this.#kind === "other" && name ? name : this.#kind;
    return `${this.agent}_${said.replace(/[^\w-]+/g, "_")}`.slice(0, 64);
  }

  get effects(): Effects {
    return LOOKS.has(this.#kind) ? "none" : "external";
  }

  get files(): "read" | "write" | undefined {
    return FILES[this.#kind];
  }

  /** Arguments of the call; its title and paths if the agent reports no arguments. */
  get input(): Json {
    const { rawInput } = this.#update;
    if (hasEntries(rawInput) && !Array.isArray(rawInput)) return rawInput as Json;
    const paths = this.#paths;
    return {
      title: this.title,
      ...(hasEntries(rawInput) && { input: rawInput as Json }),
      ...(paths.length > 0 && { paths }),
    };
  }

  /** Commands, files and URLs of the call, for rules. A call of another kind than files may write to its paths. */
  get about(): About {
    const { title } = this;
    const { command, urls } = this.#named;
    const access = this.files ?? "write";
    const paths = this.#paths.map((path) => ({ path, access }));
    const [url] = urls;
    const untold = this.#untold;
    return {
      ...(title !== command && { title }),
      ...(command !== undefined && { command }),
      ...(paths.length > 0 && { paths }),
      ...(url !== undefined && { url }),
      ...(untold && { untold }),
    };
  }

  /** The property that no rule can know: the command, the files or the act of the call. */
  get #untold(): About["untold"] {
    const kind = this.#update.kind ?? "other";
    const { command, urls } = this.#named;
    if (kind === "execute" && command === undefined) return "command";
    if (this.#paths.length > 0) return undefined;
    if (FILES[kind] !== undefined) return "files";
    return command === undefined && urls.length === 0 ? "act" : undefined;
  }

  get changing(): readonly string[] {
    return this.files === "write" ? this.#paths : this.diffs.map(({ path }) => path);
  }

  get diffs(): readonly ReportedChange[] {
    return this.#content.flatMap((piece) =>
      piece.type === "diff"
        ? [{ path: this.#near(piece.path), oldText: piece.oldText ?? null, newText: piece.newText }]
        : [],
    );
  }

  get output(): string {
    const said = this.#content.flatMap((piece) => (piece.type === "content" ? [agentContentText(piece.content)] : []));
    if (said.length > 0) return said.join("\n");
    const { rawOutput } = this.#update;
    if (rawOutput !== undefined) return typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput, null, 2);
    const files = this.diffs.map(({ path }) => path);
    return files.length === 0 ? "" : `Changed ${files.join(", ")}.`;
  }

  get #content(): readonly ToolCallContent[] {
    return this.#update.content ?? [];
  }

  get #paths(): readonly string[] {
    const located = (this.#update.locations ?? []).map(({ path }) => path);
    const all = [...located, ...this.diffs.map(({ path }) => path), ...this.#named.paths];
    return [...new Set(all.map((path) => this.#near(path)))];
  }

  /** Returns a path relative to the workspace if the path is inside it. */
  #near(path: string): string {
    if (!isAbsolute(path)) return path;
    const near = relative(this.folder, path);
    return near === "" || near === ".." || near.startsWith(`..${sep}`) || isAbsolute(near) ? path : near;
  }
}

/** Returns a tool for an agent's call, for rules and hooks. `run.execute` runs the call after they allowed it. */
export function agentCallTool(agentCall: AgentCall, run: Partial<Tool> & Pick<Tool, "execute">): Tool {
  return {
    name: agentCall.tool,
    description: agentCall.title,
    input: { type: "object" },
    effects: agentCall.effects,
    files: agentCall.files,
    offeredBy: agentCall.agent,
    asAsked: true,
    about: () => agentCall.about,
    folder: () => agentCall.folder,
    ...run,
  };
}

function agentContentText(content: Extract<ToolCallContent, { type: "content" }>["content"]): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "resource":
      return "text" in content.resource ? content.resource.text : `[${content.resource.uri}]`;
    case "resource_link":
      return `[${content.uri}]`;
    default:
      return `[${content.type}]`;
  }
}

function hasEntries(value: unknown): boolean {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null;
}
