import type { AskedInWords } from "./asked.ts";
import type { BrokenTurn } from "./broken-turn.ts";
import type { UserContent } from "./checked/user-content.ts";
import type { Delivery, RunEnd } from "./event.ts";
import { createId } from "./id.ts";
import type { Message, Preview, UserPart } from "./message.ts";
import { type Cost, noUsage, type Usage } from "./usage.ts";

/** A run that has not ended. */
export interface LiveRun {
  readonly id: string;
  readonly agent: string;
  readonly mode: "chat" | "task";
  readonly startedAt: number;
  /** The last message on its path. */
  readonly leaf: string | null;
  /** The call that launched it, when it is the run of a sub-agent. */
  readonly call?: string;
}

/** Something that waits for a person. Each stands at a message: that of the call that asks, or the last one of the run. */
export type OpenQuestion = ApprovalQuestion | TextQuestion | LimitQuestion;

/** A call that may run or not. */
export interface ApprovalQuestion {
  readonly type: "approval";
  readonly id: string;
  readonly message: string;
  readonly call: string;
  readonly pattern?: string;
  /** What the call would do, as it was when the question was asked. */
  readonly preview?: Preview;
  /** The question is closed when its process ends. */
  readonly survives?: false;
}

/** What a running call wants to know, in words. */
export interface TextQuestion extends AskedInWords {
  readonly type: "text";
  readonly id: string;
  readonly message: string;
  readonly call: string;
  /** What becomes of it when its process ends, as `question.asked` says. */
  readonly survives?: boolean;
}

/** What a call asked a user in words, and the answer. A call that runs again receives the answers in this order. */
export interface AskedBefore {
  readonly question: string;
  readonly text: string;
  /** Absent while the question is open. */
  readonly answer?: { readonly text: string } | { readonly declined: string | undefined };
}

/** Whether a run that has reached a limit may go on, with as much again; or, with `offers`, whether what is offered is done. */
export interface LimitQuestion {
  readonly type: "limit";
  readonly id: string;
  readonly message: string | null;
  readonly run: string;
  /** The limit, or the offer, in one sentence. */
  readonly reason: string;
  /** The effect of "allow" when the run is at no limit: `file` stores a message that is too large for the model as a file. */
  readonly offers?: "file";
  /** The question is closed when its process ends. */
  readonly survives?: false;
}

/** A call that listens to what the model says next. */
export interface Following {
  readonly call: string;
  /** The message of the call. */
  readonly message: string;
  readonly run: string;
}

/** What a call began and what has stayed: it runs, or the model has yet to be told of its end. */
export interface StayingProcess {
  /** What people and the model call it: `p1`. */
  readonly id: string;
  /** What it is: one line. */
  readonly title: string;
  readonly message: string;
  readonly call: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** How it ended; absent while it runs. */
  readonly outcome?: string;
}

/** What a person wrote to a run and what has not been delivered. */
export interface WaitingInput {
  /** Becomes the id of the message. */
  readonly id: string;
  readonly parts: readonly UserPart[];
  /** Why its parts cannot be read, in one sentence; they are empty then. */
  readonly unreadable?: string;
  readonly delivery: Delivery;
  /** The run that it is for. */
  readonly run: string | null;
  /** Where the conversation stood when its run ended, or when it was written without one: it is delivered below. */
  readonly at: string | null;
  /** Its run was stopped, or failed, or none was live: it waits until somebody sends it. */
  readonly held: boolean;
}

/** How something that waits is changed. */
export interface InputChange {
  readonly parts?: UserContent;
  readonly delivery?: Delivery;
  /** Puts it before this one; last with `null`. */
  readonly before?: string | null;
  /** The run that it is for, which also sends what was held. */
  readonly run?: string;
}

/** A conversation as the log tells it. Owned and changed in place by one reducer; everybody else reads. */
export interface ConversationState {
  readonly id: string;
  /** What it was opened with. */
  readonly labels: Readonly<Record<string, string>>;
  /** What somebody called it; lists show the beginning of the first message in its place. */
  readonly title: string | undefined;
  /** The model that a person chose for this conversation. */
  readonly model: string | undefined;
  /** Milliseconds since 1970; 0 before the first event. */
  readonly createdAt: number;
  /** The last event that was reduced. */
  readonly seq: number;
  /** Of its writer: each opening has a higher one. */
  readonly epoch: number;
  /** By their ids, oldest first. */
  readonly messages: ReadonlyMap<string, Message>;
  /**
   * The children of each message in the order of their creation; the roots under `null`, and the first message of a
   * sub-agent under the call that launched it.
   */
  readonly children: ReadonlyMap<string | null, readonly string[]>;
  /** Messages whose parents a session's window forgot, each with the nearest message above that it still holds. */
  readonly above: ReadonlyMap<string, string>;
  /** Where the conversation was last written to: where it goes on when nobody says otherwise. */
  readonly leaf: string | null;
  /** The turns that are under way, by their ids. */
  readonly runs: ReadonlyMap<string, LiveRun>;
  /** The runs whose processes ended while a user was asked, by their ids: the next run on their branch continues their turn. */
  readonly waiting: ReadonlyMap<string, LiveRun>;
  /** Runs that waited, each with the run that continues its turn and has its calls now. */
  readonly continuedBy: ReadonlyMap<string, string>;
  /** What waits to be delivered, in order. */
  readonly inbox: readonly WaitingInput[];
  readonly lastRunEnd: RunEnd | undefined;
  /**
   * Turns that did not come to their response, by the message that stood last on their path when they ended; without those of
   * sub-agents, and those that were taken up again at that very message.
   */
  readonly broken: ReadonlyMap<string, BrokenTurn>;
  /** What waits for a person, by the id that `session.answer` takes. */
  readonly questions: ReadonlyMap<string, OpenQuestion>;
  /** What open calls asked in words, by call: for calls that run again when their process has ended. */
  readonly asked: ReadonlyMap<string, readonly AskedBefore[]>;
  /** Calls that listen, by their id. */
  readonly following: ReadonlyMap<string, Following>;
  /** What stays of calls that have their results, by its id: what runs, and what has ended and the model was not told of. */
  readonly processes: ReadonlyMap<string, StayingProcess>;
  /** How many of them there were. */
  readonly processesBegun: number;
  /** How many messages are marked as removed. */
  readonly removals: number;
  /** Counts on with each `memory.dismissed`: when it is another number, the model is told something else of old messages. */
  readonly dismissals: number;
  /**
   * Permission rules that a person allowed for this conversation, as the log tells: to be shown. What holds is
   * `session.allowed`.
   */
  readonly allowed: readonly string[];
  /** The calls that were there when the conversation was brought in: what they did, they did elsewhere. */
  readonly writtenElsewhere: ReadonlySet<string>;
  /** The message in which a call stands, by the call's id. */
  readonly calls: ReadonlyMap<string, string>;
  /** Texts by their digest. */
  readonly contents: ReadonlyMap<string, string>;
  /** The bytes of files that calls brought, in base 64 by their digest: the last 32, and 32 Mi characters. */
  readonly files: ReadonlyMap<string, string>;
  /** Of all model calls, abandoned ones included. */
  readonly usage: Usage;
  readonly cost: Cost;
}

/** What the owner of a state may change. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Collections =
  | "messages"
  | "children"
  | "above"
  | "runs"
  | "waiting"
  | "continuedBy"
  | "inbox"
  | "questions"
  | "asked"
  | "following"
  | "processes"
  | "broken"
  | "allowed"
  | "calls"
  | "contents"
  | "files";
export type MutableState = Mutable<Omit<ConversationState, Collections>> & {
  messages: Map<string, Message>;
  children: Map<string | null, string[]>;
  above: Map<string, string>;
  runs: Map<string, LiveRun>;
  waiting: Map<string, LiveRun>;
  continuedBy: Map<string, string>;
  inbox: WaitingInput[];
  questions: Map<string, OpenQuestion>;
  asked: Map<string, readonly AskedBefore[]>;
  following: Map<string, Following>;
  processes: Map<string, StayingProcess>;
  broken: Map<string, BrokenTurn>;
  allowed: string[];
  calls: Map<string, string>;
  contents: Map<string, string>;
  files: Map<string, string>;
};

/** A conversation before its first event. */
export function emptyConversation(
  id: string = createId(),
  labels: ConversationState["labels"] = {},
): ConversationState {
  return {
    id,
    labels,
    title: undefined,
    model: undefined,
    createdAt: 0,
    seq: 0,
    epoch: 0,
    messages: new Map(),
    children: new Map(),
    above: new Map(),
    leaf: null,
    runs: new Map(),
    waiting: new Map(),
    continuedBy: new Map(),
    inbox: [],
    lastRunEnd: undefined,
    broken: new Map(),
    questions: new Map(),
    asked: new Map(),
    following: new Map(),
    processes: new Map(),
    processesBegun: 0,
    removals: 0,
    dismissals: 0,
    allowed: [],
    writtenElsewhere: new Set(),
    calls: new Map(),
    contents: new Map(),
    files: new Map(),
    usage: noUsage,
    cost: 0,
  };
}
