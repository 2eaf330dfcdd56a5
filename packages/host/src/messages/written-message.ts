import { type Attachments, type AttachOptions, attach } from "../attachments/attach.ts";
import { changesIn } from "../attachments/diff.ts";
import type { Host } from "../host.ts";

/** What a person wrote, as it goes into a conversation. */
export interface WrittenMessage extends Attachments {
  /** Whether something that looks like a secret was taken out of the text. */
  readonly isRedacted: boolean;
}

/**
 * Takes secrets out of what a person wrote (S10), and puts what it names with `@` behind it: files of the workspace, changes in
 * git, pages of the web, resources of MCP servers (B46); with `outside`, files elsewhere on the machine too, and with `folder`, those of a worktree. Rejects as `host.ready()` does, and with the signal's reason.
 */
export async function writtenMessage(
  host: Pick<Host, "ready" | "redact" | "workspace" | "whyNotReadIn" | "env">,
  text: string,
  signal: AbortSignal,
  { outside = false, folder = host.workspace }: Partial<Pick<AttachOptions, "outside" | "folder">> = {},
): Promise<WrittenMessage> {
  const said = host.redact(text);
  const { mcp, keyFiles, confinesIn } = await host.ready();
  const attachments = await attach(said, {
    folder,
    outside,
    whyNotRead: host.whyNotReadIn(folder),
    signal,
    redact: host.redact,
    keyFiles,
    async readPage(url) {
      const { readPage } = await import("@banyan/tools/web");
      // Whoever names an address wants what is there, wherever that has moved to.
      return readPage(url, { signal, mayFollow: async () => true });
    },
    readDiff: async (of) => changesIn(of, { cwd: folder, sandbox: await confinesIn(folder), env: host.env, signal }),
    async readResource(name) {
      const server = name.slice(0, name.indexOf(":"));
      if (!mcp?.states.some((state) => state.name === server)) return undefined;
      const parts = await mcp.read({ server, uri: name.slice(server.length + 1) }, signal);
      return parts.map((part) => (part.type === "text" ? part.text : `(${part.mediaType})`)).join("\n");
    },
  });
  return { ...attachments, isRedacted: said !== text };
}
