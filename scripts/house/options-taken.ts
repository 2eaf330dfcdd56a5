import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";
import { exportsOf } from "./exports.ts";

/** Matches the types of arguments with options: by name, or written inline. */
const OPTIONS =
  /^(?:Partial<)?(?:\w*(?:Options|Settings|Limits|Bounds|Callbacks)\b(?!\[)|Pick<\w+Options\b|\{|NonNullable<AgentOptions\["(?:bounds|retry|compaction|memory|hooks|callbacks)"\]>|Omit<Tool\b)/;

/**
 * Arguments that only look like options, each with the reason. Errors take those of the language. Others are data that
 * a program got from our functions, or that our functions pass on.
 */
const NO_OPTIONS: Readonly<Record<string, string>> = {
  "core AgentBuilder.constructor": "Agent.builder() makes it.",
  "core Chat.constructor": "agent.chat() makes it, and passes its options on.",
  "core ModelError.constructor": "An error.",
  "core StoreError.constructor": "An error.",
  "core SessionError.constructor": "An error.",
  "core Session.commit": "For the engine: marked internal.",
  "core Session.begin": "For the engine.",
  "client argumentsText": "How a client shows data.",
  "core callIn": "Data of a conversation.",
  "core pickOptions": "Picks from options that are refused elsewhere.",
  "client shownCall": "How a client shows data.",
  "client failureName": "Data of an event.",
  "client readableParts": "Data of a message.",
  "core toolIn": "Data of an event.",
  "core cleanUsage": "Data of a provider, cleaned by it.",
  "host ConversationDirectory.search": "The search of a store, whose options are checked there.",
  "host Hooks.constructor": "The host makes it.",
  "host Approval.use": "The host's own modes.",
  "host openServers": "Passes its options on to openMcpServers.",
  "host userSettingsFile": "A place: an environment and a home.",
  "host revertBranch": "Data of a conversation.",
  "host redactor": "A place: an environment.",
  "host limitsOf": "Settings of a file, which have a schema.",
  "host TrustRecord.constructor": "A place: an environment and a home.",
  "host SettingsError.constructor": "An error.",
  "host bring": "Whole objects of the host, all of them needed.",
  "host branchHandover": "Data of a call.",
  "host compareBranches": "Data of a conversation.",
  "host WorktreeError.constructor": "An error.",
  "host Worktrees.remove": "The host's own answer to a question.",
  "host writtenMessage": "Passes its options on to attach.",
  "memory MemoryError.constructor": "An error.",
  "protocol approvalIn": "Data of a server.",
  "protocol offersSandbox": "Data of a server.",
  "client ClientError.constructor": "An error.",
  "desk ClientFrame.constructor": "For the server, which makes frames of its own.",
  "desk LiveConversations.constructor": "The desk makes them.",
  "desk LiveConversations.search": "The search of a store, whose options are checked there.",
  "desk refusalOf": "Data of a command.",
  "desk Desk.link": "The server makes the links.",
  "store SharedDatabase.left": "Data of a node.",
  "store searchLogs": "The search of a store, whose options are checked there.",
  "tools Credentials.change": "Data of a file.",
  "tools McpError.constructor": "An error.",
  "tools SandboxError.constructor": "An error.",
  "tools WebError.constructor": "An error.",
  "tools WorkspaceError.constructor": "An error.",
  "tools BackgroundCommands.read": "Arguments of a call, which have a schema.",
  "tools fileChange": "Data of a change.",
  "tools ForeignChanges.constructor": "The host makes it.",
};

/** Returns `package function` or `package Class.method` for each export or public method with options. */
export function optionsTaken(folder: string, name: string): string[] {
  const { exports = {} }: { exports?: Record<string, unknown> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const entries = Object.entries(exports).flatMap(([path, file]) =>
    typeof file === "string" && /\.tsx?$/.test(file) && !path.startsWith("./testing") ? [join(folder, file)] : [],
  );
  const taken = entries.flatMap((entry) =>
    exportsOf(entry).flatMap((exported) => takenBy(declarationOf(entry, exported), exported)),
  );
  return [...new Set(taken)].map((one) => `${name} ${one}`).filter((one) => !Object.hasOwn(NO_OPTIONS, one));
}

type Module = { readonly source: string; readonly body: readonly Node[] };
/** A node of the syntax tree, with the fields that this file reads. */
// biome-ignore lint/suspicious/noExplicitAny: the tree has a type for each kind of node, and this file reads five fields of it.
type Node = any;

const modules = new Map<string, Module>();

function moduleAt(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const source = readFileSync(file, "utf8");
  const read = { source, body: parseSync(file, source).program.body };
  modules.set(file, read);
  return read;
}

function declarationOf(file: string, name: string): { readonly source: string; readonly node: Node } | undefined {
  const { source, body } = moduleAt(file);
  const there = (path: string, other: string) =>
    path.startsWith(".") ? declarationOf(join(dirname(file), path), other) : undefined;
  for (const node of body) {
    const declared = node.declaration ?? node;
    for (const one of declared.declarations ?? [declared]) if (one.id?.name === name) return { source, node: one };
    if (node.type === "ExportAllDeclaration") {
      const found = there(node.source.value, name);
      if (found) return found;
    }
    const passed = node.specifiers?.find((one: Node) => (one.exported ?? one.local)?.name === name);
    if (passed && node.source) return there(node.source.value, (passed.imported ?? passed.local).name);
  }
  return undefined;
}

function takenBy(declared: ReturnType<typeof declarationOf>, name: string): string[] {
  if (!declared) return [];
  const { source, node } = declared;
  const takes = (taker: Node): boolean =>
    taker?.params?.some((parameter: Node) => {
      const { typeAnnotation: type } = (parameter.left ?? parameter.parameter ?? parameter).typeAnnotation ?? {};
      return (
        type && OPTIONS.test(source.slice(type.start, type.end)) && !source.slice(type.start).startsWith("ErrorOptions")
      );
    });
  if (node.type === "ClassDeclaration") {
    return node.body.body.flatMap((member: Node) => {
      const isOpen = member.type === "MethodDefinition" && member.key.type === "Identifier" && !member.accessibility;
      return isOpen && takes(member.value) ? [`${name}.${member.key.name}`] : [];
    });
  }
  return takes(node) || takes(node.init) ? [name] : [];
}
