import type { Follower, Question, Tool, ToolContext } from "@banyan/core";
import type { Preview } from "@banyan/core/conversation";
import { NotExecutedError } from "@banyan/core/hosts";
import type { Redact } from "./redactor.ts";
import { placeholderProblem } from "./span.ts";

/**
 * Wraps tools to remove secrets from results, live output, questions and errors. If the arguments of a tool with
 * effects contain a placeholder, the tool does not run, because the placeholder would overwrite the secret.
 * @example new Agent({ model, tools: redactedTools(tools, redactor({ env: process.env })) });
 */
export function redactedTools(tools: readonly Tool[], redact: Redact): readonly Tool[] {
  return tools.map((tool) => ({
    ...tool,
    ...(tool.preview && {
      async preview(input, context) {
        try {
          return redactedPreview(await tool.preview?.(input, context), redact);
        } catch (error) {
          throw redactedError(error, redact);
        }
      },
    }),
    async execute(input, context) {
      const refusal = tool.effects === "none" ? undefined : placeholderProblem(JSON.stringify(input) ?? "");
      if (refusal !== undefined) throw new NotExecutedError(refusal);
      using shown = new RedactedProgress(context, redact);
      try {
        return redactedValue(await tool.execute(input, shown.context), redact);
      } catch (error) {
        throw redactedError(error, redact);
      }
    },
  }));
}

function redactedPreview(preview: Preview | undefined, redact: Redact): Preview {
  const { changes, notes, confinement } = preview ?? {};
  return {
    ...(changes && { changes: changes.map((change) => ({ ...change, diff: redact(change.diff) })) }),
    ...(notes && { notes: notes.map((note) => redact(note)) }),
    ...(confinement !== undefined && { confinement: redact(confinement) }),
  };
}

class RedactedProgress implements Disposable {
  readonly context: ToolContext;
  readonly #rest: () => void;

  constructor(context: ToolContext, redact: Redact) {
    const progress = redact.stream();
    const show = (text: string) => {
      if (text !== "") context.progress(text);
    };
    this.#rest = () => show(progress.end());
    this.context = {
      ...context,
      progress: (text) => show(progress.push(text)),
      interject: (text) => context.interject(redact(text)),
      follow: (follower) => context.follow(redactedFollower(follower, redact)),
      changed: (change) => context.changed({ ...change, diff: redact(change.diff) }),
      ask: async (question) => redact(await context.ask(redactedQuestion(question, redact))),
      stay: (staying) =>
        context.stay({
          title: redact(staying.title),
          over: staying.over.then(({ outcome, ...until }) => ({ ...until, outcome: redact(outcome) })),
          end: () => staying.end(),
        }),
    };
  }

  [Symbol.dispose](): void {
    this.#rest();
  }
}

function redactedQuestion(question: Question, redact: Redact): Question {
  const { text, fields } = question;
  return {
    ...question,
    text: redact(text),
    ...(fields && {
      fields: fields.map((field) => ({
        ...field,
        heading: redact(field.heading),
        text: redact(field.text),
        choices: field.choices.map(({ label, description }) => ({
          label: redact(label),
          ...(description !== undefined && { description: redact(description) }),
        })),
      })),
    }),
  };
}

/** The model's text needs no redaction, but a tool's reply does. */
function redactedFollower(follower: Follower, redact: Redact): Follower {
  return {
    text: (delta, kind) => follower.text?.(delta, kind),
    restarted: () => follower.restarted?.(),
    async completed(message) {
      const followed = await follower.completed?.(message);
      return followed?.say === undefined ? followed : { ...followed, say: redact(followed.say) };
    },
    dropped(reason) {
      const reply = follower.dropped?.(reason);
      return typeof reply === "string" ? redact(reply) : undefined;
    },
  };
}

/** JSON has names next to values, which redaction needs. */
function redactedValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  const text = JSON.stringify(value);
  if (text === undefined) return value;
  const redacted = redact(text);
  return redacted === text ? value : redacted;
}

function redactedError(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error) : error;
  const message = redact(error.message);
  if (message === error.message) return error;
  const Redacted = error instanceof NotExecutedError ? NotExecutedError : Error;
  return new Redacted(message, { cause: error });
}
