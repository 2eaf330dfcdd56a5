import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import type { Watched } from "@banyan/client";
import { createId } from "@banyan/core";
import type { FeedItem, OpenQuestion, TextQuestion } from "@banyan/core/conversation";
import type { Branch } from "./branch.ts";
import type { AcpPlace } from "./place.ts";
import { type AskedEditor, agrees, askThere } from "./questions.ts";
import type { Abilities } from "./telling.ts";

/** Whose questions an editor is asked. */
export interface AskedQuestionsParts {
  readonly sessionId: string;
  readonly place: AcpPlace;
  readonly watched: Watched;
  readonly client: AgentContext;
  readonly abilities: Abilities;
  readonly branch: Branch;
  /** Resolves when the editor has been told all that happened so far. */
  told(): Promise<void>;
  /** Tells the person something. */
  say(sentence: string): void;
  /** A question is to be asked as a message. */
  inWords(question: TextQuestion): void;
}

/**
 * The open questions of a branch, each asked in the editor once. Any client can answer: the first answer counts, and what was
 * answered elsewhere is taken back here.
 */
export class AskedQuestions implements Disposable {
  readonly #parts: AskedQuestionsParts;
  readonly #asked = new Map<string, AbortController>();
  /** Those that came before the editor knew of the session. */
  #before: string[] | undefined;

  constructor(parts: AskedQuestionsParts) {
    this.#parts = parts;
    this.#before = [...parts.watched.state.questions.keys()];
  }

  /** The editor knows of the session: it is asked what is open. */
  begin(): void {
    const before = this.#before ?? [];
    this.#before = undefined;
    for (const question of before) this.#ask(question);
  }

  /** Takes note of what happened, which the editor has been told. */
  take(item: FeedItem): void {
    for (const [id, asking] of this.#asked) if (!this.#open.has(id)) this.#close(id, asking);
    // Only now the editor knows what a question is about: the state may say before that it is open.
    if (item.type === "call.approval-requested" || item.type === "question.asked" || item.type === "run.paused")
      this.#ask(item.question);
  }

  /** Whether the editor's person says yes to something that no call asks. Never rejects. */
  agrees(title: string): Promise<boolean> {
    return agrees(this.#asking(new AbortController().signal), createId(), title);
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
      // Somebody else was first, or the conversation is closed: what came of it, the editor is told anyway.
    });
  }

  async #askAndAnswer(question: OpenQuestion, signal: AbortSignal): Promise<void> {
    const { place, watched, told, say, inWords } = this.#parts;
    await told();
    const given = await askThere(question, watched.state, this.#asking(signal));
    if (given === undefined || signal.aborted) return;
    if (given !== "inWords") {
      const { approval, ...answer } = given;
      const said = { conversation: watched.id, question: question.id, answer, ...(approval && { approval }) };
      const { problem } = await place.client.ask("question.answer", said);
      if (problem !== undefined) say(`The rule was not saved for good. ${problem}`);
    } else if (question.type === "text") inWords(question);
  }

  #asking(signal: AbortSignal): AskedEditor {
    const { client, sessionId, place, abilities } = this.#parts;
    return { client, sessionId, workspace: place.workspace, elicitation: abilities.elicitation, signal };
  }

  #isHere(question: OpenQuestion): boolean {
    const { branch } = this.#parts;
    return question.type === "limit" ? branch.hasRun(question.run) : branch.hasMessage(question.message);
  }
}
