import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PromptResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { ClientError, type WatchedConversation } from "@banyan/client";
import { openRun } from "@banyan/client/display";
import { questionText, slashIn } from "@banyan/client/words";
import { createId } from "@banyan/core";
import type { ConversationState, FeedItem, OpenQuestion, TextQuestion } from "@banyan/core/conversation";
import { readClientCommand } from "@banyan/desk/serving";
import type { Command } from "@banyan/protocol";
import { AskedQuestions } from "./asked-questions.ts";
import { EditorBranch } from "./branch.ts";
import { readEditorPrompt } from "./content.ts";
import { type Abilities, EditorUpdates } from "./editor-updates.ts";
import { type Fork, forkedLeaf } from "./fork.ts";
import { configOptionsOf, type KnownModels, modesOf } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { isCancelledByEditor, requestErrorOf, settlePrompt } from "./refusals.ts";
import type { AcpWorkspace, EditorCommandOutcome } from "./workspace.ts";

/** Milliseconds for an editor to return a file's content; after that, the model gets the path. */
const BUFFER = 5_000;

export interface SessionParts {
  readonly sessionId: string;
  readonly workspace: AcpWorkspace;
  readonly models: KnownModels;
  readonly watched: WatchedConversation;
  readonly fork?: Fork | undefined;
  readonly client: AgentContext;
  readonly abilities: Abilities;
}

interface PendingPrompt {
  /** The id of the command. The prompt's message or run gets this id. */
  readonly id: string;
  run: string | undefined;
  readonly answer: PromiseWithResolvers<PromptResponse>;
  readonly cancelling: AbortController;
}

/** A session of an editor: a branch of a conversation, with its prompts and questions. */
export class AcpSession implements Disposable {
  readonly parts: SessionParts;
  readonly branch: EditorBranch;
  readonly #telling: EditorUpdates;
  readonly #outbox: Outbox;
  readonly #unfollow: () => void;
  readonly #prompts = new Map<string, PendingPrompt>();
  readonly #own = new Set<string>();
  readonly #asked: AskedQuestions;
  /** A question that was asked as a message: the next prompt is the answer. */
  #inWords: string | undefined;
  #isTold = false;
  #toldOptions = "";

  constructor(parts: SessionParts) {
    this.parts = parts;
    const { sessionId, workspace, watched, client, abilities, models } = parts;
    this.branch = new EditorBranch(watched.state, forkedLeaf(watched.state, parts.fork), parts.fork?.first);
    this.#asked = new AskedQuestions({
      ...parts,
      branch: this.branch,
      flushed: () => this.#outbox.empty(),
      say: (sentence) => this.#write(sentence),
      inWords: (question) => this.#askInWords(question),
    });
    this.#telling = new EditorUpdates({
      sessionId,
      abilities,
      branch: this.branch,
      workspace: workspace.workspace,
      isOwn: (message) => this.#own.has(message),
      contextSize: (model) => models.contextSize(model),
    });
    this.#outbox = new Outbox((update) => client.notify(methods.client.session.update, update));
    this.#unfollow = watched.follow({
      item: (item) => this.#take(item),
      renewed: (state) => this.#renewed(state),
      stands: (standing) => standing !== "live" && standing !== "loading" && this.lost(watched.problem),
    });
  }

  get conversation(): string {
    return this.parts.watched.id;
  }

  get state(): ConversationState {
    return this.parts.watched.state;
  }

  async replay(): Promise<void> {
    for (const update of this.#telling.replay(this.state)) this.#outbox.push(update);
    await this.#outbox.empty();
  }

  /** Sends commands and notices and asks the open questions, when the editor knows the session. */
  async announce(): Promise<void> {
    this.#isTold = true;
    const { workspace, abilities } = this.parts;
    this.#asked.begin();
    // The next turn reports why there are no commands.
    const listed = await workspace.commands.list().catch(() => []);
    for (const notice of workspace.notices)
      if (abilities.notices) this.tell({ sessionUpdate: "notice", severity: "warning", title: notice });
      else this.#write(notice);
    const availableCommands = listed.map(({ name, description, hint }) => ({
      name,
      description,
      ...(hint === undefined ? {} : { input: { hint } }),
    }));
    this.tell({ sessionUpdate: "available_commands_update", availableCommands });
  }

  tell(update: SessionUpdate): void {
    this.#outbox.push({ sessionId: this.parts.sessionId, update });
  }

  get configOptions() {
    const { workspace, models } = this.parts;
    return configOptionsOf(this.state, workspace.client.welcome.settings, models);
  }

  /** Sends a user's prompt. Resolves when its turn has ended. Rejects with `RequestError`. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const prompt = this.#promptOf(this.#firstId());
    const cancel = () => {
      // An editor that disconnects only leaves: at a server, its turns continue.
      if (isCancelledByEditor(signal.reason)) this.cancel().catch(() => {});
    };
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      this.#begin(prompt, blocks).catch((error: unknown) => prompt.answer.reject(error));
      return await prompt.answer.promise;
    } catch (error) {
      if (prompt.cancelling.signal.aborted) return { stopReason: "cancelled" };
      throw requestErrorOf(error, this.parts.sessionId);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#prompts.delete(prompt.id);
      // No update of the turn may follow its response.
      await this.#outbox.empty();
    }
  }

  /** Sends a message to the running turn. Resolves with whether there was one. */
  async steer(blocks: readonly ContentBlock[]): Promise<boolean> {
    const run = this.branch.liveRun(this.state);
    if (run === undefined) return false;
    const { parts, asIs } = await this.#said(blocks, new AbortController().signal);
    await this.#ask({ type: "turn.say", parts, asIs, run, delivery: "steer" }, this.#ownId());
    return true;
  }

  async cancel(): Promise<void> {
    const prompts = [...this.#prompts.values()];
    for (const { cancelling } of prompts) cancelling.abort();
    const { conversation } = this;
    const { client } = this.parts.workspace;
    const over = prompts.map(({ answer }) => answer.promise.catch(() => {}));
    const waits = prompts.filter(({ id }) => this.state.inbox.some((input) => input.id === id));
    const ends = new Set([this.branch.liveRun(this.state), ...prompts.map(({ run, id }) => run ?? id)]);
    // A cancelled prompt must not stay queued. Another client may have sent or withdrawn it meanwhile.
    for (const { id, answer } of waits) {
      await client.ask("input.withdraw", { conversation, input: id }).catch(() => {});
      answer.resolve({ stopReason: "cancelled" });
      ends.delete(id);
    }
    for (const run of ends)
      if (run !== undefined) await client.ask("run.interrupt", { conversation, run }).catch(() => {});
    for (const prompt of prompts) if (prompt.run === undefined) prompt.answer.reject(new ClientError("cancelled", ""));
    await Promise.all(over);
  }

  lost(problem: ClientError | undefined): void {
    const error = problem ?? new ClientError("failed", "The connection to the conversation was lost.");
    for (const { answer } of this.#prompts.values()) answer.reject(error);
    this.#asked[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#asked[Symbol.dispose]();
  }

  /** The id of the next message: the first message of a fork has a reserved id. */
  #firstId(): string {
    const { fork } = this.parts;
    const isFirst = fork && !this.state.messages.has(fork.first) && !this.#prompts.has(fork.first);
    return isFirst ? fork.first : createId();
  }

  #ownId(): string {
    const id = createId();
    this.#own.add(id);
    return id;
  }

  #promptOf(id: string): PendingPrompt {
    const answer = Promise.withResolvers<PromptResponse>();
    const prompt = { id, run: undefined, answer, cancelling: new AbortController() };
    this.#own.add(id);
    this.#prompts.set(id, prompt);
    return prompt;
  }

  async #begin(prompt: PendingPrompt, blocks: readonly ContentBlock[]): Promise<void> {
    const { signal } = prompt.cancelling;
    const { parts, asIs } = await this.#said(blocks, signal);
    signal.throwIfAborted();
    const [first, ...more] = parts;
    const text = first?.type === "text" ? first.text : "";
    const question = this.state.questions.get(this.#inWords ?? "");
    if (question && text !== "" && more.length === 0) return this.#answerInWords(prompt, question, text);
    const slash = slashIn(text) !== undefined;
    const outcome = slash ? await this.#command(text) : undefined;
    if (outcome?.type === "done") return prompt.answer.resolve({ stopReason: "end_turn" });
    await this.#takeTurn(prompt, outcome ?? { type: "say", parts, asIs, ...(slash && { slash }) });
  }

  #said(blocks: readonly ContentBlock[], cancelled: AbortSignal) {
    const { client, sessionId, abilities } = this.parts;
    return readEditorPrompt(blocks, async (path) => {
      if (!abilities.readTextFile) return undefined;
      const signal = AbortSignal.any([cancelled, AbortSignal.timeout(BUFFER)]);
      const request = client.request(
        methods.client.fs.readTextFile,
        { sessionId, path },
        {
          cancellationSignal: signal,
          stopWaitingOnCancel: true,
        },
      );
      // The agent can read files that the editor cannot return.
      return request.then(
        ({ content }) => content,
        () => undefined,
      );
    });
  }

  async #command(line: string): Promise<EditorCommandOutcome | undefined> {
    const { workspace, watched } = this.parts;
    const written: string[] = [];
    try {
      return await workspace.commands.run(line, {
        client: workspace.client,
        watched,
        leaf: this.branch.leaf,
        run: this.branch.liveRun(this.state),
        write(...lines) {
          written.push(...lines);
        },
        goTo: (leaf) => this.branch.goTo(this.state, leaf),
      });
    } finally {
      // Editors render Markdown, which would join lines that are set in columns.
      const text = written.join("\n");
      if (text !== "") this.#write(text.includes("\n") ? `\`\`\`\n${text}\n\`\`\`` : text);
    }
  }

  async #takeTurn(
    prompt: PendingPrompt,
    { type, at, ...how }: Exclude<EditorCommandOutcome, { type: "done" }>,
  ): Promise<void> {
    const live = this.branch.liveRun(this.state);
    const base = at ?? this.branch.leaf ?? undefined;
    const where = base === undefined ? {} : { at: base };
    if (type === "say") {
      // A prompt during a turn waits for its end, as editors expect; `steer` sends messages at once.
      const to = live === undefined ? where : { run: live, delivery: "queue" };
      await this.#ask({ type: "turn.say", ...how, ...to }, prompt.id);
      return;
    }
    await this.#ask({ type: type === "retry" ? "turn.retry" : "turn.resume", ...how, ...where }, prompt.id);
  }

  async #answerInWords(prompt: PendingPrompt, question: OpenQuestion, text: string): Promise<void> {
    const asking = this.state.messages.get(question.message ?? "");
    prompt.run = asking?.role === "assistant" ? asking.run : undefined;
    this.#inWords = undefined;
    const { conversation } = this;
    const answer = { decision: "answer" as const, text };
    await this.parts.workspace.client.ask("question.answer", { conversation, question: question.id, answer });
  }

  /** Checks the editor's input before sending a command: a server disconnects clients that send malformed commands. */
  async #ask(asked: object, id: string): Promise<void> {
    const { command, error } = readClientCommand({ ...asked, id, conversation: this.conversation });
    if (error) throw new ClientError(error.code, error.message);
    const { type, id: _id, ...input } = command as Command<"turn.say">;
    const result = await this.parts.workspace.client.ask(type, input, id);
    for (const problem of result.problems ?? []) this.#write(problem);
    if (result.redacted) this.#write("Part of your message looked like a secret and was removed.");
  }

  #take(item: FeedItem): void {
    const { state } = this;
    if (this.#prompts.size > 0) this.#follow(item);
    this.#outbox.push(...this.#telling.take(item, state));
    if (item.type === "title.changed") this.tell({ sessionUpdate: "session_info_update", title: item.title });
    if (item.type === "model.changed") this.optionsChanged();
    this.#asked.take(item);
  }

  optionsChanged(): void {
    if (!this.#isTold) return;
    const { configOptions } = this;
    const { currentModeId } = modesOf(this.conversation, this.parts.workspace.client.welcome.settings);
    const current = JSON.stringify([configOptions, currentModeId]);
    if (current === this.#toldOptions) return;
    this.#toldOptions = current;
    this.tell({ sessionUpdate: "config_option_update", configOptions });
    this.tell({ sessionUpdate: "current_mode_update", currentModeId });
  }

  agrees(title: string): Promise<boolean> {
    return this.#asked.agrees(title);
  }

  #follow(item: FeedItem): void {
    if (item.type === "run.started" && item.call === undefined) {
      const { continues } = item;
      // A server restart continues the turn with a new run.
      for (const prompt of this.#prompts.values())
        if (continues !== undefined && prompt.run === continues) prompt.run = item.run;
      const prompt = this.#prompts.get(item.run) ?? this.#prompts.get(item.leaf ?? "");
      if (prompt) {
        prompt.run = item.run;
        this.branch.begin(item.run, item.leaf, this.state);
      }
    }
    if (item.type === "message.added" && item.run !== undefined) {
      const prompt = this.#prompts.get(item.message);
      if (prompt) prompt.run ??= item.run;
    }
    if (item.type !== "run.ended") return;
    for (const prompt of this.#prompts.values())
      if (prompt.run === item.run) settlePrompt(item, this.state, prompt.answer);
  }

  #renewed(state: ConversationState): void {
    const { leaf } = this.branch;
    this.branch.goTo(state, leaf !== null && state.messages.has(leaf) ? leaf : forkedLeaf(state, this.parts.fork));
    const begun = new ClientError(
      "failed",
      "The server restarted and the turn was interrupted. Send your message again.",
    );
    for (const prompt of this.#prompts.values()) {
      const { run, answer } = prompt;
      const open = run === undefined ? undefined : openRun(state, run);
      if (open) prompt.run = open.id;
      else if (run !== undefined) answer.reject(begun);
    }
  }

  /** Asks a question as a message: the user's next message answers it and continues the turn. */
  #askInWords(question: TextQuestion): void {
    this.#inWords = question.id;
    this.#write(questionText(question));
    const asking = this.state.messages.get(question.message);
    for (const { run, answer } of this.#prompts.values())
      if (asking?.role === "assistant" && run === asking.run) answer.resolve({ stopReason: "end_turn" });
  }

  #write(text: string): void {
    this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } });
  }
}
