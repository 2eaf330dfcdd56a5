import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import type { WatchedConversation } from "@banyan/client";
import { createId } from "@banyan/core";
import type { FeedItem, OpenQuestion, TextQuestion } from "@banyan/core/conversation";
import { offersSandbox } from "@banyan/protocol";
import type { EditorBranch } from "./branch.ts";
import type { Abilities } from "./editor-updates.ts";
import { askEditor, askEditorForConsent, type EditorQuestion } from "./questions.ts";
import type { AcpWorkspace } from "./workspace.ts";

/** The session whose questions an editor shows, and how to reach its user. */
export interface AskedQuestionsParts {
  readonly sessionId: string;
  readonly workspace: AcpWorkspace;
  readonly watched: WatchedConversation;
  readonly client: AgentContext;
  readonly abilities: Abilities;
  readonly branch: EditorBranch;
  /** Resolves when the editor has received everything so far. */
  flushed(): Promise<void>;
  say(sentence: string): void;
  /** Asks a question as a message, which the user's next message answers. */
  inWords(question: TextQuestion): void;
}

/**
 * The open questions of a branch. The editor shows each question once. Any client can answer. Only the first answer has
 * an effect; the editor then removes the question.
 */
export class AskedQuestions implements Disposable {
  readonly #parts: AskedQuestionsParts;
  readonly #asked = new Map<string, AbortController>();
  /** Questions from before the editor knew the session. */
  #before: string[] | undefined;

  constructor(parts: AskedQuestionsParts) {
    this.#parts = parts;
    this.#before = [...parts.watched.state.questions.keys()];
  }

  /** Asks the open questions, when the editor knows the session. */
  begin(): void {
    const before = this.#before ?? [];
    this.#before = undefined;
    for (const question of before) this.#ask(question);
  }

  take(item: FeedItem): void {
    for (const [id, asking] of this.#asked) if (!this.#open.has(id)) this.#close(id, asking);
    // Ask only now: the state may list a question before the editor has the call that it is about.
    if (item.type === "call.approval-requested" || item.type === "question.asked" || item.type === "run.paused")
      this.#ask(item.question);
  }

  agrees(title: string): Promise<boolean> {
    return askEditorForConsent(this.#asking(new AbortController().signal), createId(), title);
  }

  [Symbol.dispose](): void {
    for (const [id, asking] of this.#asked) this.#close(id, asking);
  }

  get #open() {
    return this.#parts.watched.state.questions;
  }

  #close(id: string, asking: AbortController): void {
    this.#asked.delete(id);
    asking.abort();
  }

  #ask(id: string): void {
    this.#before?.push(id);
    const question = this.#open.get(id);
    if (!question || this.#before || this.#asked.has(id) || !this.#isHere(question)) return;
    const asking = new AbortController();
    this.#asked.set(id, asking);
    this.#askAndAnswer(question, asking.signal).catch(() => {
      // Another client answered first, or the conversation closed: the feed informs the editor.
    });
  }

  async #askAndAnswer(question: OpenQuestion, signal: AbortSignal): Promise<void> {
    const { workspace, watched, flushed, say, inWords } = this.#parts;
    await flushed();
    const reply = await askEditor(question, watched.state, this.#asking(signal));
    if (reply === undefined || signal.aborted) return;
    if (reply !== "inWords") {
      const { approval, ...answer } = reply;
      const said = { conversation: watched.id, question: question.id, answer, ...(approval && { approval }) };
      const { problem } = await workspace.client.ask("question.answer", said);
      if (problem !== undefined) say(`The rule was not saved permanently. ${problem}`);
    } else if (question.type === "text") inWords(question);
  }

  #asking(signal: AbortSignal): EditorQuestion {
    const { client, sessionId, workspace, watched, abilities } = this.#parts;
    return {
      client,
      sessionId,
      workspace: workspace.workspace,
      elicitation: abilities.elicitation,
      offersSandbox: (call, preview) => offersSandbox(workspace.client.welcome.settings, watched.id, call, preview),
      signal,
    };
  }

  #isHere(question: OpenQuestion): boolean {
    const { branch } = this.#parts;
    return question.type === "limit" ? branch.hasRun(question.run) : branch.hasMessage(question.message);
  }
}
