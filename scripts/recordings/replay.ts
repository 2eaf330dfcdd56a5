import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { ChatView } from "../../packages/cli/src/chat/views/chat-view.ts";
import { ProgressLines, type ProgressOptions } from "../../packages/cli/src/print/progress.ts";
import { styleFor } from "../../packages/cli/src/show/style.ts";
import { createTheme } from "../../packages/cli/src/terminal/full/theme/theme.ts";
import { LiveView } from "../../packages/cli/src/terminal/full/transcript/live-view.ts";
import { PlainTerminal } from "../../packages/cli/src/terminal/plain-terminal.ts";
import { newestTurn } from "../../packages/client/src/display/index.ts";
import type { LinkEvents } from "../../packages/client/src/index.ts";
import {
  type ConversationState,
  emptyConversation,
  type FeedItem,
  reduce,
} from "../../packages/core/src/conversation/index.ts";
import type { Desk } from "../../packages/desk/src/desk.ts";
import { OWNER } from "../../packages/desk/src/request/principal.ts";
import type { Command } from "../../packages/protocol/src/index.ts";
import { EditorBranch } from "../../packages/server/src/doors/acp/branch.ts";
import { type Abilities, EditorUpdates } from "../../packages/server/src/doors/acp/editor-updates.ts";
import { AgUiTurn } from "../../packages/server/src/doors/ag-ui/turn.ts";
import { chatRequest, chatWords } from "../../packages/server/src/doors/openai/chat.ts";
import { responsesRequest, responsesWords } from "../../packages/server/src/doors/openai/responses.ts";
import { type TurnRequest, type TurnUpdate, takeDoorTurn } from "../../packages/server/src/doors/openai/turn.ts";
import { openAiError, turnFailure } from "../../packages/server/src/doors/openai/words.ts";
import { UiTurn } from "../../packages/server/src/doors/ui-messages/turn.ts";

/** A feed as the engine published it, with readable ids, times and folders. */
export interface Recording {
  readonly name: string;
  readonly items: readonly FeedItem[];
}

export const recordings: readonly Recording[] = readFileSync(new URL("./feeds.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Passes each item of a recording to a client, after the state has the item. Returns one line per frame. */
type Replay = (recording: Recording) => string[] | Promise<string[]>;

function eachItem(
  { items }: Recording,
  see: (item: FeedItem, state: ConversationState) => readonly object[],
): string[] {
  const state = emptyConversation();
  return items.flatMap((item) => {
    reduce(state, item);
    return see(item, state).map((frame) => JSON.stringify(frame));
  });
}

function editor(able: boolean): Replay {
  const abilities: Abilities = {
    notices: able,
    compaction: able,
    subagents: able,
    elicitation: able,
    readTextFile: able,
  };
  return (recording) => {
    const branch = new EditorBranch(emptyConversation(), null);
    const parts = { sessionId: "s", branch, workspace: "/w", abilities, isOwn: () => false, contextSize: () => 1_000 };
    const telling = new EditorUpdates(parts);
    let last: ConversationState | undefined;
    const frames = eachItem(recording, (item, state) => {
      last = state;
      return telling.take(item, state);
    });
    const again = last ? [...new EditorUpdates(parts).replay(last)] : [];
    return [...frames, ...again.map((update) => JSON.stringify({ replayed: update }))];
  };
}

/** Replays a server interface for one turn: from its beginning, and to readers that join at each third item. */
function turns<Piece extends object>(
  open: (state: () => ConversationState) => {
    readonly read: { readonly isOver: boolean; readonly questions: readonly object[] };
    take(item: FeedItem): Piece[];
    takeUp(state: ConversationState, run: string, behind?: string): Piece[];
    pause(): Piece[];
  },
): Replay {
  return (recording) => {
    let now = emptyConversation();
    let turn = open(() => now);
    let place = 0;
    return eachItem(recording, (item, state) => {
      now = state;
      const frames: object[] = turn.take(item);
      if (turn.read.isOver) turn = open(() => now);
      place++;
      const run = newestTurn(state);
      if (place % 3 !== 0 || run === undefined) return frames;
      const behind =
        place % 2 === 0 ? [...state.messages.values()].findLast(({ role }) => role === "assistant")?.id : undefined;
      const joined = open(() => now);
      const late = joined.takeUp(state, run, behind);
      if (joined.read.questions.length > 0) late.push(...joined.pause());
      return [...frames, ...late.map((frame) => ({ joinedAt: place, frame }))];
    });
  };
}

/** A fake desk that answers `turn.say` with the turns of a recording, one per user message. */
function recordedDesk(recording: Recording): Pick<Desk, "link"> {
  let next = 0;
  const state = emptyConversation();
  return {
    link: () => (events: LinkEvents) => {
      queueMicrotask(() => events.up({} as never));
      const play = (command: Extract<Command, { type: "turn.say" }>) => {
        const from = next;
        const isEnd = (item: FeedItem, index: number) =>
          index >= from && item.type === "run.ended" && item.reason !== "waiting" && !isSubAgent(recording, item.run);
        const end = recording.items.findIndex(isEnd);
        next = end < 0 ? recording.items.length : end + 1;
        const items = recording.items.slice(from, next);
        const [begun] = items.flatMap((item) => (item.type === "run.started" && item.call === undefined ? [item] : []));
        for (const item of items) {
          reduce(state, item);
          const asked = item === begun ? { ...item, leaf: command.id } : item;
          events.frame({ type: "feed", conversation: command.conversation, items: [asked] });
        }
      };
      return {
        send(command) {
          queueMicrotask(() => {
            const id = "conversation" in command ? String(command.conversation) : "";
            if (command.type === "feed.subscribe") events.shared({ id, state, interrupted: [], damage: [] });
            events.frame({ type: "done", id: command.id, result: {} } as never);
            if (command.type === "turn.say") play(command);
          });
        },
        retry() {},
        close() {},
      };
    },
  } as Pick<Desk, "link">;
}

function isSubAgent({ items }: Recording, run: string): boolean {
  return items.some((item) => item.type === "run.started" && item.run === run && item.call !== undefined);
}

const openAi =
  (format: "chat" | "responses"): Replay =>
  async (recording) => {
    const asked = recording.items.flatMap((item) =>
      item.type === "run.started" && item.call === undefined ? [item] : [],
    );
    const desk = recordedDesk(recording) as Desk;
    const frames: object[] = [];
    for (const _ of asked.filter(({ continues }) => continues === undefined)) {
      const words =
        format === "chat"
          ? chatWords(
              chatRequest.parse({
                model: "banyan",
                stream: true,
                stream_options: { include_usage: true },
                messages: [{ role: "user", content: "Go." }],
              }),
              { conversation: "c", find: async () => undefined },
            )
          : responsesWords(responsesRequest.parse({ model: "banyan", stream: true, input: "Go." }));
      const heard: TurnUpdate[] = [];
      const asking = { ...((await words.asking()) as TurnRequest), conversation: "c" };
      const signal = new AbortController().signal;
      const turn = await takeDoorTurn(desk, OWNER, asking, { hear: (each) => heard.push(each), signal });
      const taken = await turn.taken;
      const known = { ...turn, message: "asked" };
      const telling = words.streamed(known, (frame) => frames.push(frame));
      for (const each of heard) telling.hear(each);
      if (taken.reason === "failed") telling.fail(openAiError(turnFailure(taken).code, turnFailure(taken).message));
      else telling.end(taken);
      frames.push(words.whole(known, taken));
    }
    return frames.map((frame) =>
      JSON.stringify(frame).replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0'),
    );
  };

const style = styleFor(process.stdout, "never");

function printed(options: Partial<ProgressOptions>): Replay {
  return (recording) => {
    let text = "";
    const progress = new ProgressLines((written) => (text += written), style, 80, options);
    eachItem(recording, (item, state) => {
      progress.item(item, state);
      return [];
    });
    return text.trimEnd().split("\n");
  };
}

const plainLines =
  (advance: (milliseconds: number) => void): Replay =>
  (recording) => {
    const output = new PassThrough({ encoding: "utf8" });
    const view = new ChatView(
      new PlainTerminal({
        input: new PassThrough() as never,
        output: output as never,
        style,
        env: {},
        onTyped: () => true,
        onInterrupt() {},
      }),
    );
    eachItem(recording, (item, state) => {
      view.show(item, state);
      // Every second call runs so long that its line appears before its end.
      if (item.type === "call.executing" && state.calls.size % 2 === 0) advance(500);
      return [];
    });
    return String(output.read() ?? "")
      .trimEnd()
      .split("\n");
  };

const transcript: Replay = (recording) => {
  const view = new LiveView(() => {});
  const theme = createTheme(1, "dark");
  const look = { theme, links: false, width: 80, room: 1_000, now: Date.now(), openKey: "Ctrl-O" };
  const lines: string[] = [];
  let open = "";
  let doing = "";
  const see = () => {
    const shown = view.lines({ ...look, now: Date.now() });
    lines.push(...shown.finished.map((line) => `| ${line}`));
    const [nowOpen, nowDoing] = [shown.open.join("\n"), JSON.stringify(view.doing ?? null)];
    if (nowOpen !== open) lines.push(...shown.open.map((line) => `? ${line}`));
    if (nowDoing !== doing) lines.push(`! ${nowDoing}`);
    [open, doing] = [nowOpen, nowDoing];
  };
  eachItem(recording, (item, state) => {
    view.show(item, state);
    see();
    return [];
  });
  lines.push(...view.pages.map(({ title }) => `page: ${title}`));
  return lines;
};

/** Returns the replays of all server interfaces and clients, by the name of their file of frames. */
export function replays(advance: (milliseconds: number) => void): Readonly<Record<string, Replay>> {
  return {
    acp: editor(true),
    "acp-plain": editor(false),
    "ag-ui": turns((state) => new AgUiTurn({ threadId: "t", runId: "r" }, state)),
    "ui-stream": turns(() => new UiTurn()),
    "v1-chat": openAi("chat"),
    "v1-responses": openAi("responses"),
    print: printed({}),
    "print-live": printed({ said: "nothing" }),
    "print-whole": printed({ said: "whole" }),
    plain: plainLines(advance),
    transcript,
  };
}
