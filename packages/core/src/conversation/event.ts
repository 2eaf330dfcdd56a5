import type {
  About,
  Author,
  CheckpointPart,
  CompactionResult,
  FileChange,
  Finish,
  KeptMessage,
  Preview,
  ProcessEvent,
  RecalledMemory,
  SeenFile,
  SummaryMessage,
} from "./message.ts";
import type { BroughtFile, Json, Part, TextPart, UserPart } from "./part.ts";
import type { CacheMiss, Cost, EarlierUsage, TurnUsage, Usage } from "./usage.ts";

/**
 * An event of a conversation. The log stores only events, and only `reduce` turns them into a state. Unknown events of
 * newer versions are kept and skipped. See {@link isEvent}.
 */
export type EventBody =
  | { readonly type: "conversation.created"; readonly id: string; readonly labels: Readonly<Record<string, string>> }
  /** The conversation was imported. Its earlier open work has ended, and its earlier permissions are not valid. */
  | { readonly type: "conversation.brought-in"; readonly how: "import" | "file" }
  /** A text that other events refer to by its digest: instructions, tool schemas, or a file of a call. */
  | {
      readonly type: "content.stored";
      readonly digest: string;
      readonly text: string;
      /** For a file: its media type. `text` then has the file's bytes in base 64. Absent for other contents. */
      readonly mediaType?: string;
    }
  | MessageAdded
  /** Memory added these entries to the user message `message`, for the model. */
  | { readonly type: "memory.recalled"; readonly message: string; readonly items: readonly RecalledMemory[] }
  /** A user hid a recalled entry from the model, or showed it again. `item`: index from 0. */
  | { readonly type: "memory.dismissed"; readonly message: string; readonly item: number; readonly dismissed: boolean }
  | {
      readonly type: "message.started";
      readonly message: string;
      readonly parentId: string | null;
      readonly run: string;
      readonly model: string;
    }
  /** The text since the last checkpoint, by part. */
  | { readonly type: "message.checkpoint"; readonly message: string; readonly parts: readonly CheckpointPart[] }
  /** The complete response. It overrides all earlier deltas and checkpoints. */
  | {
      readonly type: "message.completed";
      readonly message: string;
      readonly parts: readonly Part[];
      readonly unreadable?: string;
      readonly finish: Finish;
      readonly usage: Usage;
      readonly cost?: Cost;
      readonly error?: string;
      /** The cache miss of the request. Absent if there was none, or if the provider reports no cache. */
      readonly cacheMiss?: CacheMiss;
    }
  /** The response is requested again, or ended before its first word. Nothing has acted on it. */
  | {
      readonly type: "message.abandoned";
      readonly message: string;
      readonly reason: string;
      readonly usage?: Usage;
      readonly cost?: Cost;
    }
  | {
      readonly type: "call.pending";
      readonly message: string;
      readonly call: string;
      readonly tool: string;
      readonly inputText: string;
      /** The tool that the model called with `{ tool, input }`, if it forwarded the call. */
      readonly via?: string;
      /** The checked arguments. Written again if a later check changes them. */
      readonly input?: Json;
      readonly about?: About;
    }
  | {
      readonly type: "call.approval-requested";
      readonly message: string;
      readonly call: string;
      readonly tool?: string;
      /** The arguments that will run if a user allows the call. */
      readonly input?: Json;
      readonly question: string;
      /** The permission rule that the answer "always" would add. */
      readonly pattern?: string;
      readonly preview?: Preview;
      /** Set if no process can continue the call after this process ends, as for an agent of another program. */
      readonly survives?: false;
    }
  | {
      readonly type: "call.approval-resolved";
      readonly message: string;
      readonly call: string;
      readonly question: string;
      readonly allowed: boolean;
      /** Set if the user also allowed all calls that this rule covers, for the conversation or permanently. */
      readonly remember?: { readonly pattern: string; readonly scope: "conversation" | "always" };
      /** The arguments as a user changed them. */
      readonly input?: Json;
      /** Set if a rule or a hook made the decision, not a user. */
      readonly byRule?: true;
    }
  /** Written before the tool starts. */
  | {
      readonly type: "call.executing";
      readonly message: string;
      readonly call: string;
      readonly tool?: string;
      readonly attempt: number;
      /** A key that stays the same in every attempt of one call. */
      readonly key: string;
      /** The subject of the call after a user has changed the arguments. */
      readonly about?: About;
    }
  | CallEnded<"call.completed">
  | CallEnded<"call.failed">
  | CallEnded<"call.denied">
  | CallEnded<"call.cancelled">
  /** The call follows the next text of the model. */
  | { readonly type: "call.following"; readonly message: string; readonly call: string; readonly run: string }
  /** The call no longer follows. `completed`: the response ended cleanly, and the call has acted on it. */
  | {
      readonly type: "call.followed";
      readonly message: string;
      readonly call: string;
      readonly outcome: "completed" | "dropped";
      readonly reason?: string;
    }
  | ({ readonly type: "file.changed"; readonly message: string; readonly call: string } & FileChange)
  /** A tool asks a user. */
  | ({
      readonly type: "question.asked";
      readonly message: string;
      readonly call: string;
      readonly question: string;
      /**
       * What happens to the question if the process that asks it ends. `true`: the call runs again and gets the answer.
       * `false`: the question stays until a user has seen it, and the outcome of the call is unknown. Absent: the
       * question is closed.
       */
      readonly survives?: boolean;
    } & WordQuestion)
  | {
      readonly type: "question.answered";
      readonly question: string;
      /** The answer. Absent if the user declined, or if the question was withdrawn. */
      readonly text?: string;
      readonly reason?: string;
      readonly withdrawn?: true;
    }
  | {
      readonly type: "run.started";
      readonly run: string;
      readonly agent: string;
      readonly model: string;
      readonly settings: object;
      readonly limits: object;
      readonly mode: "chat" | "task";
      readonly instructions: string;
      readonly tools: string;
      /** The last message on the path at the start of the run. */
      readonly leaf: string | null;
      /** The launching call, for the run of a sub-agent. */
      readonly call?: string;
      /** Ended processes whose end the first message of the run reports. */
      readonly processes?: readonly string[];
      /** An earlier run that ended as `waiting`. This run continues the earlier run's turn. */
      readonly continues?: string;
      /** Usage of the earlier turns whose limits this turn shares: a hook added this turn, not a user. */
      readonly before?: EarlierUsage;
      readonly goal?: AskedGoal;
    }
  /** The checks of the run's goal have run. `failed`: the goal ends without being done. */
  | {
      readonly type: "goal.checked";
      readonly run: string;
      readonly outcome: "done" | "open" | "failed";
      readonly results: readonly GoalResult[];
      /** How many times in a row the checks have failed in the same way. */
      readonly times: number;
    }
  /** The run waits for a user: at a limit, or with the offer to store a too large message as a file. */
  | {
      readonly type: "run.paused";
      readonly run: string;
      readonly question: string;
      readonly reason: string;
      /** Set if the question is about a message that is too large. "allow" then stores the message as a file. */
      readonly offers?: "file";
      readonly survives?: false;
    }
  | {
      readonly type: "run.continued";
      readonly run: string;
      readonly question: string;
      readonly allowed: boolean;
      readonly offers?: "file";
    }
  | {
      readonly type: "run.ended";
      readonly run: string;
      readonly reason: RunEnd;
      readonly leaf: string | null;
      readonly error?: { readonly code: string; readonly message: string };
      readonly limit?: string;
      /**
       * Usage of the turn, with its sub-agents and with runs that it continues or shares limits with. Absent: unknown,
       * as for a run whose process stopped.
       */
      readonly spent?: TurnUsage;
    }
  /** A user sent an input to a run. It waits until delivery; its message will have the same id. */
  | {
      readonly type: "input.queued";
      readonly input: string;
      readonly parts: readonly UserPart[];
      readonly unreadable?: string;
      readonly delivery: Delivery;
      /** The target run; `null` if no run was live. */
      readonly run: string | null;
    }
  | {
      readonly type: "input.edited";
      readonly input: string;
      readonly parts?: readonly UserPart[];
      readonly unreadable?: string;
      readonly delivery?: Delivery;
      /** The input moves to the place before this waiting input. `null`: to the end. */
      readonly before?: string | null;
      readonly run?: string;
    }
  | { readonly type: "input.withdrawn"; readonly input: string }
  /** Written together with the input's message. */
  | { readonly type: "input.delivered"; readonly input: string }
  | { readonly type: "message.labelled"; readonly message: string; readonly label: string | null }
  | { readonly type: "message.starred"; readonly message: string; readonly starred: boolean }
  /** The message and all messages below it are hidden, until `message.restored`. */
  | { readonly type: "message.removed"; readonly message: string }
  | { readonly type: "message.restored"; readonly message: string }
  | { readonly type: "title.changed"; readonly title: string }
  | { readonly type: "model.changed"; readonly model: string }
  | ProcessEvent
  | { readonly type: "rule.revoked"; readonly pattern: string }
  /** A model call that is no message of the tree: a title, or a summary that failed. */
  | {
      readonly type: "usage.counted";
      readonly purpose: "title" | "summary" | "judge";
      readonly model: string;
      readonly usage: Usage;
      readonly cost?: Cost;
    };

/** The goal of a run, with its conditions in words. See {@link isEvent}. */
export interface AskedGoal {
  /** Id of the goal. All runs that pursue the goal have the same id here. */
  readonly id: string;
  readonly checks: readonly string[];
  /** The goal in the words of the user. */
  readonly asked?: Json;
}

/** The goal of a run, with the results of its last checks. See {@link reduce}. */
export interface LiveGoal extends AskedGoal {
  /** The results of the checks. Absent before the first checks. */
  readonly results?: readonly GoalResult[];
  readonly times?: number;
}

/** The result of one check of a goal, whose condition is `what`. See {@link isEvent}. */
export interface GoalResult {
  readonly what: string;
  readonly passed: boolean;
  /** The reason, such as the exit code and the end of a command's output. */
  readonly why?: string;
  /** Files that have changed since the goal began, if they are tests or decide how the tests run. */
  readonly changed?: readonly string[];
}

/** A complete user message or summary. See {@link isEvent}. */
export interface MessageAdded {
  readonly type: "message.added";
  readonly message: string;
  readonly parentId: string | null;
  readonly role: "user" | "summary";
  readonly author?: Author;
  readonly parts: readonly (UserPart | TextPart)[];
  /** The reason why the parts of an imported log could not be read, in one sentence. `parts` is then empty. */
  readonly unreadable?: string;
  /** The launching call, for the first message of a sub-agent. */
  readonly call?: string;
  /** The live run that appended the message to its branch. Absent: no live run did, or the message precedes the run. */
  readonly run?: string;
  /** For a user message: name of a worktree. All messages below this message use it. */
  readonly worktree?: string;
  /** For a summary: the last covered message. Absent with `shortened`: the summary covers nothing. */
  readonly covers?: string;
  /** Only for a summary. `SummaryMessage` describes this field and the fields below. */
  readonly kept?: readonly KeptMessage[];
  readonly leftOut?: number;
  readonly state?: string;
  readonly compaction?: CompactionResult;
  readonly note?: string;
  readonly shortened?: SummaryMessage["shortened"];
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** The event that ends a call, with its result. See {@link isEvent}. */
export interface CallEnded<Type extends string> {
  readonly type: Type;
  readonly message: string;
  readonly call: string;
  /** The tool of the call. Absent, like `input`, only in logs of older versions. */
  readonly tool?: string;
  /** The arguments that ran or were to run. Also absent if the model wrote no JSON. */
  readonly input?: Json | undefined;
  /** The result for users and the model. */
  readonly output: string;
  /** The result for models, if it differs. */
  readonly modelOutput?: string;
  /** Files of the result, each by the digest of an earlier `content.stored`. */
  readonly files?: readonly Omit<BroughtFile, "type" | "data" | "url">[];
  /** Files that the call read, or that its command changed. */
  readonly seen?: readonly SeenFile[];
  /** Number of changed files without a `file.changed` event, such as files that a command changed. */
  readonly changedFiles?: number;
}

/**
 * The time at which a user message reaches a running turn. `steer`: before the next model call, after the calls of the
 * current step. `queue`: after the end of the turn. `interrupt`: at once; the turn is interrupted first.
 * See {@link SayOptions}.
 */
export type Delivery = "steer" | "queue" | "interrupt";

/**
 * Reason for the end of a run. `answered`: the response is complete. `finished`: the task is done. `limit`: a limit
 * ended the run. `failed`: the model could not respond. `interrupted`: a user interrupted the run, or its process
 * ended. `waiting`: another run continues the turn. Either the process of the run ended while a question to a user was
 * open, or the model handed over to another agent. See {@link describeBrokenTurn}.
 */
export type RunEnd = "answered" | "finished" | "limit" | "failed" | "interrupted" | "waiting";

/** Position of an event in its log. See {@link isEvent}. */
export interface LogPosition {
  /** Number of the event in its log: 1 for the first event, without gaps. */
  readonly seq: number;
  /** Number of the process that writes the log. A later writer has a higher number; earlier writers are refused. */
  readonly epoch: number;
  /** Time of the event in milliseconds since 1970, by the writer's clock. */
  readonly at: number;
}

/** An event in the log, with its position. See {@link isEvent}. */
export type Event = EventBody & LogPosition;

/**
 * The type of an event.
 * @example const wanted: readonly EventType[] = ["run.started", "run.ended"];
 */
export type EventType = EventBody["type"];

/** A choice that a user may pick as the answer to a question. See {@link Question}. */
export interface QuestionChoice {
  /** Label of the choice: one line of at most 100 characters, unique among the choices of the field. */
  readonly label: string;
  /** Description of the choice: one line of at most 500 characters. */
  readonly description?: string;
}

/**
 * One field of a question with choices. A user may add words to the choices, or write words instead of choices.
 * See {@link Question}.
 */
export interface QuestionField {
  /** Heading of the field: one line of at most 40 characters, unique among the fields of the question. */
  readonly heading: string;
  /** The question of this field: at most 2,000 characters. */
  readonly text: string;
  /** 2 to 12 choices. */
  readonly choices: readonly QuestionChoice[];
  /** True if the user may choose several choices. Default: one choice. */
  readonly several?: boolean;
}

/** A question of a tool to a user. The answer is always a text. See {@link questionText}. */
export interface WordQuestion {
  readonly text: string;
  /** Suggested answers; any other answer is accepted too. */
  readonly choices?: readonly string[];
  /** Fields that are asked together. The answer is the `filledText` of the filled fields, or any other text. */
  readonly fields?: readonly QuestionField[];
  readonly default?: string;
}
