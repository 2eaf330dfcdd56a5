import { isAbsolute, relative, sep } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk/unstable";
import type { Effects, Json } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import type { ToldChange } from "@banyan/tools/workspace";

type Kind = NonNullable<ToolCall["kind"]>;

/** Kinds that are about files, and what they do with them. */
const FILES: Partial<Record<Kind, "read" | "write">> = {
  read: "read",
  search: "read",
  edit: "write",
  delete: "write",
  move: "write",
};

/** Kinds that change nothing. */
const LOOKS: ReadonlySet<Kind> = new Set<Kind>(["read", "search", "think"]);

/** Names of arguments that agents give paths under. */
const PATHS =
  /^(?:(?:abs(?:olute)?|file|notebook|source|destination|old|new|target)_?)?(?:path|file|source|destination)s?$/i;

/** A call as an agent tells of it, piece by piece: what a later piece says takes the place of what an earlier one said. */
export class TheirCall {
  readonly id: string;
  readonly #agent: string;
  /** The folder that its agent works in. */
  readonly folder: string;
  #told: Omit<ToolCallUpdate, "toolCallId"> = {};

  constructor(id: string, agent: string, folder: string) {
    this.id = id;
    this.#agent = agent;
    this.folder = folder;
  }

  take(update: Partial<ToolCallUpdate>): void {
    const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
    this.#told = { ...this.#told, ...Object.fromEntries(said) };
  }

  get status(): NonNullable<ToolCall["status"]> {
    return this.#told.status ?? "pending";
  }

  get title(): string {
    return this.#told.title ?? this.#told.name ?? this.id;
  }

  get #kind(): Kind {
    return this.#told.kind ?? "other";
  }

  /** Whether its arguments are known, or some of what they are about. */
  get isDescribed(): boolean {
    const { rawInput, locations, content } = this.#told;
    return hasEntries(rawInput) || hasEntries(locations) || hasEntries(content);
  }

  /** What rules and people call its tool: `claude_edit`. Never the name of a tool of ours, which a crash could run in its place. */
  get tool(): string {
    const { name } = this.#told;
    const said = this.#kind === "other" && name ? name : this.#kind;
    return `${this.#agent}_${said.replace(/[^\w-]+/g, "_")}`.slice(0, 64);
  }

  get effects(): Effects {
    return LOOKS.has(this.#kind) ? "none" : "external";
  }

  get files(): "read" | "write" | undefined {
    return FILES[this.#kind];
  }

  /** Its arguments; where it tells none, what it is about in words. */
  get input(): Json {
    const { rawInput } = this.#told;
    if (hasEntries(rawInput) && !Array.isArray(rawInput)) return rawInput as Json;
    const paths = this.#paths;
    return {
      title: this.title,
      ...(hasEntries(rawInput) && { input: rawInput as Json }),
      ...(paths.length > 0 && { paths }),
    };
  }

  /** What it is about, for rules and people. */
  get about(): About {
    const { title } = this;
    const command = this.#kind === "execute" ? commandIn(this.#told.rawInput) : undefined;
    if (command !== undefined) return { ...(title !== command && { title }), command };
    const access = this.files;
    const paths = access ? this.#paths.map((path) => ({ path, access })) : [];
    const url = this.#kind === "fetch" ? textAt(this.#told.rawInput, "url") : undefined;
    return { title, ...(paths.length > 0 && { paths }), ...(url !== undefined && { url }) };
  }

  /** Files that it may change. */
  get changing(): readonly string[] {
    return this.files === "write" ? this.#paths : this.diffs.map(({ path }) => path);
  }

  /** What it says that it changes, or has changed. */
  get diffs(): readonly ToldChange[] {
    return this.#content.flatMap((piece) =>
      piece.type === "diff"
        ? [{ path: this.#near(piece.path), oldText: piece.oldText ?? null, newText: piece.newText }]
        : [],
    );
  }

  /** What it has said so far, as its result or on the way to it. */
  get output(): string {
    const said = this.#content.flatMap((piece) => (piece.type === "content" ? [textOf(piece.content)] : []));
    if (said.length > 0) return said.join("\n");
    const { rawOutput } = this.#told;
    if (rawOutput !== undefined) return typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput, null, 2);
    const files = this.diffs.map(({ path }) => path);
    return files.length === 0 ? "" : `Changed ${files.join(", ")}.`;
  }

  get #content(): readonly ToolCallContent[] {
    return this.#told.content ?? [];
  }

  get #paths(): readonly string[] {
    const { locations, rawInput } = this.#told;
    const named = Object.entries(isObject(rawInput) ? rawInput : {}).flatMap(([key, value]) =>
      PATHS.test(key) ? [value].flat().filter((path) => typeof path === "string") : [],
    );
    const all = [...(locations ?? []).map(({ path }) => path), ...this.diffs.map(({ path }) => path), ...named];
    return [...new Set(all.map((path) => this.#near(path)))];
  }

  /** A path as people write it: from the workspace, where it lies there. */
  #near(path: string): string {
    if (!isAbsolute(path)) return path;
    const near = relative(this.folder, path);
    return near === "" || near === ".." || near.startsWith(`..${sep}`) || isAbsolute(near) ? path : near;
  }
}

/** The command of a call: a text, or the words of one, of which a shell's `-c` holds the text. */
function commandIn(input: unknown): string | undefined {
  const command = isObject(input) ? (input.command ?? input.cmd) : undefined;
  if (typeof command === "string") return command.trim() === "" ? undefined : command;
  if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === "string"))
    return undefined;
  const [shell = "", option = "", text] = command as string[];
  if (/(?:^|\/)(?:ba|da|z|k)?sh$/.test(shell) && /^-\w*c$/.test(option) && text !== undefined && command.length === 3) {
    return text;
  }
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

function textOf(content: Extract<ToolCallContent, { type: "content" }>["content"]): string {
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

function textAt(input: unknown, name: string): string | undefined {
  const value = isObject(input) ? input[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function hasEntries(value: unknown): boolean {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
