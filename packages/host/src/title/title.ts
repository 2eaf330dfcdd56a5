import { type ModelDriver, type Session, textOf } from "@banyan/core";
import { isUserMessage } from "@banyan/core/conversation";
import { askModel } from "@banyan/core/hosts";
import { cutTo } from "@banyan/core/shown";

const INSTRUCTIONS =
  "You give conversations their titles. Answer with a title of at most seven words in the language of the conversation, and nothing else: no quotes, no full stop.";

/** Maximum characters of each message for the title. */
const SHOWN = 2_000;

const LONGEST = 60;

const PATIENCE = 30_000;

/**
 * Lets a cheap model write a title for a conversation, in the background after its first turn (B54). Ignores failures;
 * lists then show the first line. Disposing the result cancels the work.
 */
export function titleInBackground(session: Session, model: ModelDriver): AsyncDisposable {
  const ended = new AbortController();
  let work = Promise.resolve();
  const leave = session.listen({
    items(items) {
      if (!items.some(({ type }) => type === "run.ended") || session.state.runs.size > 0) return;
      leave();
      if (session.state.title !== undefined || ended.signal.aborted) return;
      work = giveTitle(session, model, AbortSignal.any([ended.signal, AbortSignal.timeout(PATIENCE)])).catch(() => {
        // The conversation stays without a title.
      });
    },
    ended: () => ended.abort(),
  });
  return {
    async [Symbol.asyncDispose]() {
      leave();
      ended.abort();
      await work;
    },
  };
}

async function giveTitle(session: Session, model: ModelDriver, signal: AbortSignal): Promise<void> {
  const said = whatWasSaid(session);
  if (said === "") return;
  const messages = [{ role: "user", parts: [{ type: "text", text: said }] }] as const;
  const { text, usage, cost } = await askModel(model, { instructions: INSTRUCTIONS, messages }, { signal });
  const title = titleIn(text);
  await session.notes.usage({ purpose: "title", model: model.id, usage, cost });
  // A user may have named it meanwhile.
  if (title !== "" && session.state.title === undefined) await session.notes.rename(title);
}

/** The first words of the user and of the answer. */
function whatWasSaid({ state }: Session): string {
  const messages = [...state.messages.values()].filter(({ call }) => call === undefined);
  const user = messages.find(isUserMessage);
  const answer = messages.find((message) => message.role === "assistant" && textOf(message) !== "");
  if (!user || textOf(user).trim() === "") return "";
  const lines = [`The user: ${cutTo(textOf(user), SHOWN, "")}`];
  if (answer) lines.push(`The agent: ${cutTo(textOf(answer), SHOWN, "")}`);
  return lines.join("\n\n");
}

function titleIn(text: string): string {
  const [line = ""] = text.trim().split("\n");
  const title = line.replace(/^["'“”#*\s]+|["'“”*.\s]+$/g, "").replace(/\p{C}/gu, "");
  return title.length <= LONGEST ? title : `${cutTo(title, LONGEST - 1, "").trimEnd()}…`;
}

/** Runs `titleInBackground` as soon as `model` resolves. Disposing `titling` cancels the work. */
export function titleOnceThere(session: Session, model: Promise<ModelDriver>, titling: AsyncDisposableStack): void {
  model.then(
    (driver) => {
      if (!titling.disposed) titling.use(titleInBackground(session, driver));
    },
    () => {
      // Lists show the first line.
    },
  );
}
