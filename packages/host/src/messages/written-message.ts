import { type AttachOptions, attachNamedFiles, type MessageWithAttachments } from "../attachments/attach.ts";
import { namedDiff } from "../attachments/diff.ts";
import type { Host } from "../host/host.ts";

/** A user's message, ready for a conversation. */
export interface WrittenMessage extends MessageWithAttachments {
  /** True if a possible secret was removed from the text. */
  readonly isRedacted: boolean;
}

/**
 * Removes secrets from a user's text (S10), and attaches the sources that the text names with `@` (B46). `outside`: the
 * text can name any file. `folder`: the files of a worktree. Rejects as `host.ready()` does, or with the signal's
 * reason.
 */
export async function writtenMessage(
  host: Pick<Host, "ready" | "redact" | "workspace" | "whyNotReadIn" | "env">,
  text: string,
  signal: AbortSignal,
  { outside = false, folder = host.workspace }: Partial<Pick<AttachOptions, "outside" | "folder">> = {},
): Promise<WrittenMessage> {
  const said = host.redact(text);
  const { mcp, keyFiles, confinesIn } = await host.ready();
  const attachments = await attachNamedFiles(said, {
    folder,
    outside,
    whyNotRead: host.whyNotReadIn(folder),
    signal,
    redact: host.redact,
    keyFiles,
    async readPage(url) {
      const { readPage } = await import("@banyan/tools/web");
      // A user who names an address wants its content, also after a redirect.
      return readPage(url, { signal, mayFollow: async () => true });
    },
    readDiff: async (of) => namedDiff(of, { cwd: folder, sandbox: await confinesIn(folder), env: host.env, signal }),
    async readResource(name) {
      const server = name.slice(0, name.indexOf(":"));
      if (!mcp?.states.some((state) => state.name === server)) return undefined;
      const parts = await mcp.read({ server, uri: name.slice(server.length + 1) }, signal);
      return parts.map((part) => (part.type === "text" ? part.text : `(${part.mediaType})`)).join("\n");
    },
  });
  return { ...attachments, isRedacted: said !== text };
}
