import type { AskedInWords } from "./asked.ts";
import type {
  About,
  Author,
  BroughtFile,
  CheckpointPart,
  CompactionResult,
  FileChange,
  Finish,
  Json,
  KeptMessage,
  Part,
  Preview,
  ProcessEvent,
  Recalled,
  SeenFile,
  SummaryMessage,
  TextPart,
  UserPart,
} from "./message.ts";
import type { Cost, Spent, SpentBefore, Usage } from "./usage.ts";

/**
 * The facts of a conversation. The log is a sequence of them; nothing else is ever stored, and `reduce` is the only way
 * from them to a state. The union is flat and closed; a log of a newer version may hold others, which are kept and
 * passed over.
 */
export type EventBody =
  | { readonly type: "conversation.created"; readonly id: string; readonly labels: Readonly<Record<string, string>> }
  /** All before it was written elsewhere: what was open there has ended, and nothing that was allowed there holds here. */
  | { readonly type: "conversation.brought-in"; readonly how: "import" | "file" }
  /** A text that others refer to by its digest: runs to instructions and tool schemas, calls to files that they brought. */
  | {
      readonly type: "content.stored";
      readonly digest: string;
      readonly text: string;
      /** Of a file, whose bytes the text is in base 64: a call that ends refers to it. */
      readonly mediaType?: string;
    }
  | MessageAdded
  /** Memory put these in front of the model, with the user message `message`. */
  | { readonly type: "memory.recalled"; readonly message: string; readonly items: readonly Recalled[] }
  /** A person does not want the model told an entry that was recalled, the first being 0; or wants it again. */
  | { readonly type: "memory.dismissed"; readonly message: string; readonly item: number; readonly dismissed: boolean }
  | {
      readonly type: "message.started";
      readonly message: string;
      readonly parentId: string | null;
      readonly run: string;
      readonly model: string;
    }
  /** The text that came since the checkpoint before, by part. */
  | { readonly type: "message.checkpoint"; readonly message: string; readonly parts: readonly CheckpointPart[] }
  /** The response as it stands: authoritative over every delta and checkpoint before. */
  | {
      readonly type: "message.completed";
      readonly message: string;
      readonly parts: readonly Part[];
      /** As for a message that was added. */
      readonly unreadable?: string;
      readonly finish: Finish;
      readonly usage: Usage;
      readonly cost?: Cost;
      readonly error?: string;
    }
  /** A response that nobody acted on and that is asked for anew, or that never had a first word. */
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
      /** The tool that the model called instead, which forwards to this one: with `{ tool, input }`. */
      readonly via?: string;
      /** As checked, where it was; said again when a later check makes something else of it. */
      readonly input?: Json;
      readonly about?: About;
    }
  | {
      readonly type: "call.approval-requested";
      readonly message: string;
      readonly call: string;
      readonly tool?: string;
      /** What will run if a person allows it. */
      readonly input?: Json;
      /** Names the question; `session.answer` takes it. */
      readonly question: string;
      /** What an answer "always" would allow, as a permission rule. */
      readonly pattern?: string;
      /** What the call would do, as far as its tool can tell. */
      readonly preview?: Preview;
      /** Nobody can go on with the call when its process ends, as with one of another program's agent. */
      readonly survives?: false;
    }
  | {
      readonly type: "call.approval-resolved";
      readonly message: string;
      readonly call: string;
      readonly question: string;
      readonly allowed: boolean;
      /** Allow everything that this rule covers, for the conversation or for good. */
      readonly remember?: { readonly pattern: string; readonly scope: "conversation" | "always" };
      /** The arguments as a person changed them. */
      readonly input?: Json;
      /** A rule or a hook decided the call before a user did. */
      readonly byRule?: true;
    }
  /** Written before the tool starts. */
  | {
      readonly type: "call.executing";
      readonly message: string;
      readonly call: string;
      readonly tool?: string;
      readonly attempt: number;
      /** The same for every attempt of one call. */
      readonly key: string;
      /** What it is about now, when a person changed its arguments. */
      readonly about?: About;
    }
  | CallEnded<"call.completed">
  | CallEnded<"call.failed">
  | CallEnded<"call.denied">
  | CallEnded<"call.cancelled">
  /** The call listens to what the model says next. */
  | { readonly type: "call.following"; readonly message: string; readonly call: string; readonly run: string }
  /** It listens no more. `completed`: the response ended cleanly, and what the call did with it is done. */
  | {
      readonly type: "call.followed";
      readonly message: string;
      readonly call: string;
      readonly outcome: "completed" | "dropped";
      /** Why it was dropped. */
      readonly reason?: string;
    }
  | ({ readonly type: "file.changed"; readonly message: string; readonly call: string } & FileChange)
  /** A tool asks a person. */
  | ({
      readonly type: "question.asked";
      readonly message: string;
      readonly call: string;
      readonly question: string;
      /**
       * What becomes of the question when its process ends. `true`: the call runs again and receives the answer. `false`: the
       * outcome of the call is unknown, and the question waits until a user has seen that. Absent: the question is closed.
       */
      readonly survives?: boolean;
    } & AskedInWords)
  | {
      readonly type: "question.answered";
      readonly question: string;
      /** Absent when the user declined, and when the question was withdrawn. */
      readonly text?: string;
      /** Why the user declined. */
      readonly reason?: string;
      /** Nobody waits for an answer any more. */
      readonly withdrawn?: true;
    }
  | {
      readonly type: "run.started";
      readonly run: string;
      readonly agent: string;
      readonly model: string;
      /** As the agent had them. */
      readonly settings: object;
      readonly limits: object;
      readonly mode: "chat" | "task";
      /** Digest of the instructions. */
      readonly instructions: string;
      /** Digest of the tool schemas. */
      readonly tools: string;
      /** Where the run starts: the last message on its path. */
      readonly leaf: string | null;
      /** The call that launched it: the run of a sub-agent. */
      readonly call?: string;
      /** Processes of whose end the message tells with which it begins. */
      readonly processes?: readonly string[];
      /** The run that ended as `waiting` and whose turn this run continues. */
      readonly continues?: string;
      /** Usage of the earlier turns whose limits this turn shares: a hook added this turn, and no user asked for it. */
      readonly before?: SpentBefore;
    }
  /** The run waits for a user: at a limit, or with the offer to store a message that is too large as a file. */
  | {
      readonly type: "run.paused";
      readonly run: string;
      readonly question: string;
      readonly reason: string;
      /** The effect of "allow" when the run is at no limit: `file` stores a message as a file. */
      readonly offers?: "file";
      /** Nobody can go on with the run when its process ends, as with one of another program's agent. */
      readonly survives?: false;
    }
  | {
      readonly type: "run.continued";
      readonly run: string;
      readonly question: string;
      readonly allowed: boolean;
      /** As in the question. */
      readonly offers?: "file";
    }
  | {
      readonly type: "run.ended";
      readonly run: string;
      readonly reason: RunEnd;
      /** The message that stands last on the path of the run. */
      readonly leaf: string | null;
      readonly error?: { readonly code: string; readonly message: string };
      /** The limit that ended it, in words, when `reason` is `limit`. */
      readonly limit?: string;
      /**
       * Usage of the turn, with its sub-agents and with the runs that this run continues or shares limits with; absent when nobody knows, as of a run
       * whose process stopped.
       */
      readonly spent?: Spent;
    }
  /** A person wrote to a run; it waits until it is delivered. Its id becomes that of the message. */
  | {
      readonly type: "input.queued";
      readonly input: string;
      readonly parts: readonly UserPart[];
      /** As for a message that was added. */
      readonly unreadable?: string;
      readonly delivery: Delivery;
      /** The run that it is for; `null` when none was live. */
      readonly run: string | null;
    }
  | {
      readonly type: "input.edited";
      readonly input: string;
      readonly parts?: readonly UserPart[];
      /** As for a message that was added. */
      readonly unreadable?: string;
      readonly delivery?: Delivery;
      /** Now stands before this one; last with `null`. */
      readonly before?: string | null;
      /** Now is for this run. */
      readonly run?: string;
    }
  | { readonly type: "input.withdrawn"; readonly input: string }
  /** Comes together with the message. */
  | { readonly type: "input.delivered"; readonly input: string }
  | { readonly type: "message.labelled"; readonly message: string; readonly label: string | null }
  | { readonly type: "message.starred"; readonly message: string; readonly starred: boolean }
  /** The message and all below it are out of sight, until `message.restored`. */
  | { readonly type: "message.removed"; readonly message: string }
  | { readonly type: "message.restored"; readonly message: string }
  | { readonly type: "title.changed"; readonly title: string }
  | { readonly type: "model.changed"; readonly model: string }
  | ProcessEvent
  /** A permission rule that was allowed for this conversation holds no more. */
  | { readonly type: "rule.revoked"; readonly pattern: string }
  /** A model was asked for something that is not a message of the tree: a title, or a summary that failed. */
  | {
      readonly type: "usage.counted";
      readonly purpose: "title" | "summary";
      readonly model: string;
      readonly usage: Usage;
      readonly cost?: Cost;
    };

/** A user message or a summary, whole. */
export interface MessageAdded {
  readonly type: "message.added";
  readonly message: string;
  readonly parentId: string | null;
  readonly role: "user" | "summary";
  readonly author?: Author;
  readonly parts: readonly (UserPart | TextPart)[];
  /** Why its parts could not be read where they were written before, in one sentence; `parts` is empty then. */
  readonly unreadable?: string;
  /** For the first message of a sub-agent: the call that launched it. */
  readonly call?: string;
  /** The live run that put it at the end of its branch; absent where it stands before the run, or beside it. */
  readonly run?: string;
  /** For a user message: the name of the worktree in which all below it works. */
  readonly worktree?: string;
  /** For a summary: the last message that it covers. One without it and with `shortened` covers nothing. */
  readonly covers?: string;
  /** For a summary: the covered user messages whose words the model is still shown, in the order of the path. */
  readonly kept?: readonly KeptMessage[];
  /** For a summary: the number of covered user messages whose words the model is not shown. */
  readonly leftOut?: number;
  /** For a summary: what the program knew of the branch at that moment, in words for the model. */
  readonly state?: string;
  /** For a summary: what it made of the next request, for users. */
  readonly compaction?: CompactionResult;
  /** For a summary: that the work continues, and how the model reads what is covered, in words for the model. */
  readonly note?: string;
  /** For a summary: as in `SummaryMessage`. */
  readonly shortened?: SummaryMessage["shortened"];
  /** For a summary: of the model call that wrote it. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** A call has its result. */
export interface CallEnded<Type extends string> {
  readonly type: Type;
  readonly message: string;
  readonly call: string;
  /** Absent, as `input` is, only in logs from before events of calls said it. */
  readonly tool?: string;
  /** What ran, or was to run; absent too when the model wrote no JSON. */
  readonly input?: Json;
  /** What the model is told. */
  readonly output: string;
  /** What it is shown besides, each by the digest of a `content.stored` before. */
  readonly files?: readonly Omit<BroughtFile, "type" | "data" | "url">[];
  /** Files that it read, or found changed by what it ran. */
  readonly seen?: readonly SeenFile[];
}

/**
 * How a user message reaches a running turn. `steer`: before the next model call, when the calls of the step under way
 * have their results. `queue`: when the turn has ended. `interrupt`: the turn is interrupted, and then it is delivered.
 */
export type Delivery = "steer" | "queue" | "interrupt";

/**
 * Why a run ended. `answered`: control goes back to the user. `finished`: a task's end. `limit`: a limit ended it.
 * `failed`: the model could not respond. `interrupted`: by a user, or because its process ended. `waiting`: its process ended
 * while a user was asked; the turn goes on with another run (`continues`) once somebody answers or resumes.
 */
export type RunEnd = "answered" | "finished" | "limit" | "failed" | "interrupted" | "waiting";

/** Where an event stands in its log. */
export interface LogPosition {
  /** 1 for the first event; without gaps. */
  readonly seq: number;
  /** Counts the writers that the log has had; a stale one is refused. */
  readonly epoch: number;
  /** Milliseconds since 1970, by the writer's clock. */
  readonly at: number;
}

/** A fact in the log. */
export type Event = EventBody & LogPosition;

/** What can be a fact. */
export type EventType = EventBody["type"];
