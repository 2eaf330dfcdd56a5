import { createHash } from "node:crypto";
import { Client } from "@banyan/client";
import { pathTo } from "@banyan/core/conversation";
import type { Desk, Principal } from "@banyan/desk";
import { PROGRAM } from "@banyan/host";
import type { DoorRequest } from "../door.ts";
import { comparable, lastExchanges } from "./history.ts";
import { type OpenAiTurn, openAiText } from "./words.ts";

/** The number of recent conversations, and of their last turns, that are compared with a side request. */
const RECENT = 8;
const EXCHANGES = 3;

interface SideMarks {
  readonly stream?: boolean | null | undefined;
  readonly tools?: readonly unknown[] | null | undefined;
  readonly metadata?: unknown;
}

/**
 * Returns whether a request is not the next message of a chat, but for the program's own use: a title, tags or
 * suggestions (W89). A program can say this in `X-OpenWebUI-Task` or `metadata.task`. If not, the request must have no
 * tools, not stream, and quote the last turns of a streamed chat in one message: the chat itself streams and sends
 * turns as messages. Text that a user could type does not influence the decision.
 */
export async function isSideRequest(
  desk: Desk,
  context: DoorRequest,
  request: SideMarks,
  messages: readonly OpenAiTurn[],
): Promise<boolean> {
  if (context.req.header("x-openwebui-task")?.trim()) return true;
  const { metadata, stream, tools } = request;
  if (typeof metadata === "object" && metadata !== null && "task" in metadata && metadata.task) return true;
  const said = messages.filter(({ role }) => role !== "system" && role !== "developer");
  const [only] = said;
  if (stream || tools?.length || said.length !== 1 || only?.role !== "user") return false;
  const principal = context.get("principal");
  const chat = chatOf(context, principal);
  return quotesExchange(desk, principal, openAiText(only.content), chat);
}

async function quotesExchange(
  desk: Desk,
  principal: Principal,
  text: string,
  chat: string | undefined,
): Promise<boolean> {
  const compared = comparable(desk.redact(text));
  const listed = await desk.conversations.list({ labels: { [PROGRAM]: "streamed" }, limit: RECENT });
  const ids = chat === undefined ? listed.map(({ id }) => id) : listed.flatMap(({ id }) => (id === chat ? [id] : []));
  const client = new Client(desk.link({ principal }));
  try {
    for (const id of ids) {
      const watched = await client.watch(id).loaded;
      const path = pathTo(watched.state, watched.state.leaf).slice(-4 * EXCHANGES);
      await watched.read(path.map((each) => each.id));
      const exchanges = lastExchanges(pathTo(watched.state, watched.state.leaf), EXCHANGES);
      if (exchanges.some(({ said, answer }) => quotes(compared, said, answer))) return true;
      await client.leave(watched);
    }
    return false;
  } finally {
    client.close();
  }
}

/** Programs omit images from their quotes. */
function quotes(text: string, said: string, answer: string): boolean {
  const plain = (each: string) => comparable(each.replace(/!\[[^\]]*\]\([^)]*\)/g, ""));
  const at = text.indexOf(plain(said));
  return at >= 0 && text.indexOf(plain(answer), at + plain(said).length) >= 0;
}

/** Headers that name a chat: our own, and that of Open WebUI. */
const CHATS = ["x-banyan-chat", "x-openwebui-chat-id"];

/**
 * Returns the conversation id of the chat that a request names. All servers derive the same id. Different users never
 * share a chat.
 */
export function chatOf(context: DoorRequest, { name, user }: Principal): string | undefined {
  const chat = CHATS.map((header) => context.req.header(header)?.trim()).find((value) => value);
  if (chat === undefined) return undefined;
  return `chat-${createHash("sha256")
    .update(JSON.stringify(user === undefined ? [name, chat] : [name, chat, user]))
    .digest("hex")
    .slice(0, 32)}`;
}
