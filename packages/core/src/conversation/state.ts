import type { BrokenTurn } from "./broken-turn.ts";
import type { UserContent } from "./checked/user-content.ts";
import type { AskedGoal, Delivery, LiveGoal, RunEnd, WordQuestion } from "./event.ts";
import { createId } from "./id.ts";
import type { Message, Preview } from "./message.ts";
import { checkArguments } from "./option-names.ts";
import type { UserPart } from "./part.ts";
import { type Cost, noUsage, type Usage } from "./usage.ts";

/** A run that has not ended. See {@link turnWaitingFor}. */
export interface LiveRun {
  readonly id: string;
  readonly agent: string;
  readonly mode: "chat" | "task";
  readonly startedAt: number;
  readonly leaf: string | null;
  /** The launching call, for the run of a sub-agent. */
  readonly call?: string;
  readonly goal?: LiveGoal;
}

/** A goal that a turn began, and that further turns may have continued. See {@link reduce}. */
export interface BegunGoal {
  readonly asked: AskedGoal;
  /** The last message of the branch at the beginning of each of these turns. */
  readonly from: readonly (string | null)[];
  /** The run in which all checks passed. Other turns with the same checks begin a goal of their own. */
  readonly reachedBy?: string;
}

/**
 * An open question to a user. Its message contains the asking call, or is the last message of the run.
 * See {@link noteQuestions}.
 */
export type OpenQuestion = ApprovalQuestion | TextQuestion | LimitQuestion;

/** The question whether a call may run. See {@link noteQuestions}. */
export interface ApprovalQuestion {
  readonly type: "approval";
  readonly id: string;
  readonly message: string;
  readonly call: string;
  readonly pattern?: string;
  readonly preview?: Preview;
  /** Set if the question closes as soon as the process that asks it ends. */
  readonly survives?: false;
}

/** A question of a running call to a user, who answers in words. See {@link askingRuns}. */
export interface TextQuestion extends WordQuestion {
  readonly type: "text";
  readonly id: string;
  readonly message: string;
  readonly call: string;
  /** What happens to the question if the process that asks it ends, as in `question.asked`. */
  readonly survives?: boolean;
}

/**
 * An earlier question of a call, and its answer. A call that runs again after a crash gets these answers, in this
 * order. See {@link reduce}.
 */
export interface EarlierQuestion {
  readonly question: string;
  readonly text: string;
  /** The answer. Absent while the question is open. */
  readonly answer?: { readonly text: string } | { readonly declined: string | undefined };
}

/**
 * The question whether a run may use the amount of its limit once more. With `offers`: the question whether to store a
 * message that is too large for the model as a file. See {@link askingRuns}.
 */
export interface LimitQuestion {
  readonly type: "limit";
  readonly id: string;
  readonly message: string | null;
  readonly run: string;
  /** One sentence about the limit, or about the message that is too large. */
  readonly reason: string;
  /** Set if the question is about a message that is too large. "allow" then stores the message as a file. */
  readonly offers?: "file";
  /** Set if the question closes as soon as the process that asks it ends. */
  readonly survives?: false;
}

/** A running call whose tool reads the model's next text while it streams. See {@link reduce}. */
export interface FollowingCall {
  readonly call: string;
  readonly message: string;
  readonly run: string;
}

/** A background process that is running, or that has ended without the model being told yet. See {@link reduce}. */
export interface StayingProcess {
  /** Name for users and the model: `p1`. */
  readonly id: string;
  readonly title: string;
  readonly message: string;
  readonly call: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** How the process ended. Absent while the process runs. */
  readonly outcome?: string;
}

/** An input from a user that has not been delivered to its run. See {@link reduce}. */
export interface WaitingInput {
  /** Id of the input. The message that the input becomes has the same id. */
  readonly id: string;
  readonly parts: readonly UserPart[];
  /** The reason why the parts cannot be read, in one sentence. The parts are then empty. */
  readonly unreadable?: string;
  readonly delivery: Delivery;
  readonly run: string | null;
  /** The message above the input: the last one of the ended run, or the leaf when the input was written. */
  readonly at: string | null;
  /** True if the input waits until a user sends it, because its run was stopped or failed, or there was no run. */
  readonly held: boolean;
}

/** A change of a waiting input. See {@link Session}. */
export interface InputChange {
  readonly parts?: UserContent;
  readonly delivery?: Delivery;
  /** The input moves to the place before this waiting input. `null`: to the end. */
  readonly before?: string | null;
  /** The new target run. Setting it also sends an input that was held. */
  readonly run?: string;
}

/**
 * The state of a conversation, derived from its log. Only the reducer changes it, in place; everything else only reads.
 * See {@link emptyConversation}.
 */
export interface ConversationState {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The title. Without a title, lists show the beginning of the first message. */
  readonly title: string | undefined;
  /** The model that a user chose for this conversation. */
  readonly model: string | undefined;
  /** Time of the first event in milliseconds since 1970; 0 before the first event. */
  readonly createdAt: number;
  /** Sequence number of the last reduced event. */
  readonly seq: number;
  /** Number of the process that writes the log. Each opening increases it. */
  readonly epoch: number;
  /** By id, oldest first. */
  readonly messages: ReadonlyMap<string, Message>;
  /**
   * Children of each message, in order of creation. Under the key `null` are the roots, and under the id of a call the
   * first message of its sub-agent.
   */
  readonly children: ReadonlyMap<string | null, readonly string[]>;
  /** Messages whose parent was dropped by a session's window, each with the nearest remaining ancestor. */
  readonly above: ReadonlyMap<string, string>;
  /** The newest message. By default, the conversation continues there. */
  readonly leaf: string | null;
  /** Live runs by id. */
  readonly runs: ReadonlyMap<string, LiveRun>;
  /** Runs whose process ended while a question was open, by id. The next run on the branch continues the turn. */
  readonly waiting: ReadonlyMap<string, LiveRun>;
  /** Runs that waited for a user, each with the run that continues its turn and now owns its calls. */
  readonly continuedBy: ReadonlyMap<string, string>;
  /** Waiting inputs, in order of delivery. */
  readonly inbox: readonly WaitingInput[];
  readonly lastRunEnd: RunEnd | undefined;
  /**
   * Turns that ended without a response, by the last message on their path. Leaves out turns of sub-agents, and turns
   * that were continued.
   */
  readonly broken: ReadonlyMap<string, BrokenTurn>;
  /** Goals by id, in the order in which turns began them. Excludes goals of sub-agents. */
  readonly goals: ReadonlyMap<string, BegunGoal>;
  /** Open questions by id, as for `session.answer`. */
  readonly questions: ReadonlyMap<string, OpenQuestion>;
  /** Earlier questions in words, with answers, by call. A call that runs again in another process uses the answers. */
  readonly asked: ReadonlyMap<string, readonly EarlierQuestion[]>;
  readonly following: ReadonlyMap<string, FollowingCall>;
  /** Background processes by name, if they are running or have ended without the model being told. */
  readonly processes: ReadonlyMap<string, StayingProcess>;
  /** Number of background processes that were started so far. */
  readonly processesBegun: number;
  /** Number of messages marked as removed. */
  readonly removals: number;
  /** Number of `memory.dismissed` events. A new number means that the prompt of old messages has changed. */
  readonly dismissals: number;
  /** Permission rules according to the log, only for display. `session.allowed` has the valid rules. */
  readonly allowed: readonly string[];
  /** Calls that existed when the conversation was imported. Their effects happened elsewhere. */
  readonly writtenElsewhere: ReadonlySet<string>;
  /** The message of each call, by id of the call. */
  readonly calls: ReadonlyMap<string, string>;
  /** Texts by digest. */
  readonly contents: ReadonlyMap<string, string>;
  /** Bytes of files from calls in base 64, by digest: the last 32 files, at most 32 Mi characters. */
  readonly files: ReadonlyMap<string, string>;
  /** Usage and cost of all model calls, abandoned ones included. */
  readonly usage: Usage;
  readonly cost: Cost;
}

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
  | "goals"
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
  asked: Map<string, readonly EarlierQuestion[]>;
  following: Map<string, FollowingCall>;
  processes: Map<string, StayingProcess>;
  broken: Map<string, BrokenTurn>;
  goals: Map<string, BegunGoal>;
  allowed: string[];
  calls: Map<string, string>;
  contents: Map<string, string>;
  files: Map<string, string>;
};

/**
 * Returns the state of a conversation before its first event. `JSON.stringify(state)` writes the tree as data:
 * `messages` is a list, the oldest message first, and each message has the `parentId` of its parent.
 * @example
 * const state = emptyConversation();
 * for await (const item of agent.chat(say("Hello"))) reduce(state, item);
 */
export function emptyConversation(
  id: string = createId(),
  labels: ConversationState["labels"] = {},
): ConversationState {
  checkArguments("emptyConversation", { id, labels }, { id: "string", labels: "object" });
  return withJson({
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
    goals: new Map(),
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
  });
}

/** Returns a copy of a state that later events do not change. */
export function copyState(state: ConversationState): ConversationState {
  return withJson(structuredClone(state));
}

/** Hidden from `Object.keys`, because `structuredClone` refuses functions and comparisons need only the data. */
function withJson(state: ConversationState): ConversationState {
  return Object.defineProperty(state, "toJSON", { value: stateAsJson });
}

/** Leaves out indexes, which repeat facts of the messages, the contents of files, which may have many megabytes, and goals. */
function stateAsJson(this: ConversationState) {
  const { children, above, calls, continuedBy, asked, writtenElsewhere, contents, files, goals, ...state } = this;
  return {
    ...state,
    messages: [...state.messages.values()],
    runs: [...state.runs.values()],
    waiting: [...state.waiting.values()],
    questions: [...state.questions.values()],
    following: [...state.following.values()],
    processes: [...state.processes.values()],
    broken: Object.fromEntries(state.broken),
  };
}
