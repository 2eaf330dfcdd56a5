import { type ConversationState, isEnded, newestLeaf } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { hintLine, keyHint, listLine, padLines, rule, wholeParts } from "../overlay/drawn-lines.ts";
import { ListCursor } from "../overlay/list-cursor.ts";
import type { Overlay, OverlayEnd, OverlayView } from "../overlay/overlay.ts";
import { Viewer } from "../overlay/viewer.ts";
import { cutToWidth, padToWidth, textWidth } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { branchPage } from "../transcript/message-lines.ts";
import { type AgentRow, agentFacts, subAgents } from "./agent-list.ts";

/** The live list of a conversation's sub-agents, and the transcript of each (T30). Their questions appear below. */
export class AgentsView implements Overlay<never> {
  readonly isFull = true;
  readonly takesQuestions = true;
  readonly #state: ConversationState;
  readonly #cursor: ListCursor;
  #agents: readonly AgentRow[];
  #transcript: Viewer | undefined;

  /** Selects the last working sub-agent at first. */
  constructor(state: ConversationState) {
    this.#state = state;
    this.#agents = subAgents(state);
    const working = this.#agents.findLastIndex(({ call }) => !isEnded(call.status));
    this.#cursor = new ListCursor(working < 0 ? this.#agents.length - 1 : working);
  }

  view(size: ScreenSize, theme: Theme, isArmed: boolean, keys: KeyBindings): OverlayView {
    this.#agents = subAgents(this.#state);
    return this.#transcript?.view(size, theme, isArmed, keys) ?? this.#list(size, theme, keys);
  }

  key(key: string, keys: KeyBindings): OverlayEnd<never> | undefined {
    if (this.#transcript) {
      if (keys.matches(key, "list-back") || this.#transcript.key(key, keys)) this.#transcript = undefined;
      return undefined;
    }
    if (keys.matches(key, "list-cancel") || keys.matches(key, "list-back")) return {};
    if (keys.matches(key, "list-choose") || keys.matches(key, "list-open")) this.#open();
    else this.#cursor.key(key, keys, this.#agents.length);
    return undefined;
  }

  #open(): void {
    const agent = this.#agents[this.#cursor.index];
    const root = agent?.path[0]?.id;
    if (!agent || root === undefined) return;
    const page = branchPage(agentTitle(agent), this.#state, () => newestLeaf(this.#state, root));
    this.#transcript = new Viewer([page], { atEnd: !isEnded(agent.call.status) });
  }

  #list({ columns, rows }: ScreenSize, theme: Theme, keys: KeyBindings): OverlayView {
    const now = Date.now();
    const facts = this.#agents.map((agent) => agentFacts(agent, now));
    const beside = columns - 4 - Math.max(...facts.map(textWidth));
    const width = Math.min(
      Math.max(16, Math.floor(columns / 3), beside),
      Math.max(...this.#agents.map((agent) => textWidth(agentTitle(agent)))),
    );
    const room = Math.max(1, rows - 2);
    const list = this.#cursor
      .window(
        this.#agents.map((agent, index) => ({ agent, help: facts[index] ?? "" })),
        room,
      )
      .map(({ item: { agent, help }, isCurrent }) => {
        const title = padToWidth(cutToWidth(agentTitle(agent), width), width);
        const paint = agent.status === "asks you" ? theme.warning : theme.dim;
        return listLine(`${title}  ${paint(wholeParts(help, /, /g, columns - width - 4))}`, isCurrent, columns, theme);
      });
    const working = this.#agents.filter(({ call }) => !isEnded(call.status)).length;
    const hints = [
      keyHint(keys, "list-choose", "shows what it does"),
      keyHint(keys, "list-cancel", "goes back"),
      "/agents stop n, tell n text",
    ];
    return {
      lines: [
        rule(theme.bold(counted(this.#agents.length, "sub-agent")), columns, theme, theme.dim(`${working} at work`)),
        ...padLines(list, room),
        theme.dim(hintLine(hints, columns)),
      ],
    };
  }
}

function agentTitle({ number, name, title, depth }: AgentRow): string {
  return `${"  ".repeat(depth)}${number}  ${name === undefined ? "" : `${name}: `}${title}`;
}
