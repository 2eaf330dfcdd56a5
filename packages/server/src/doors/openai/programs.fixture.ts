import { expect } from "vitest";
import { TOKEN } from "../../testing/served.fixture.ts";

/** A message as a program sends it. */
interface Sent {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly object[];
}

/** A request of a program: its body, and its headers except the key. */
export interface ProgramRequest {
  readonly body: { readonly stream: boolean; readonly messages: readonly Sent[] } & Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A program's change of a text before the program resends the text. */
type Resent = (text: string) => string;

/** A program's use of `/v1/chat/completions`, made from its published code and docs, not recorded from a running program. */
export interface Program {
  readonly name: string;
  /** Published files that the requests are made after. */
  readonly source: readonly string[];
  /** The system message of a request: some hold the time. */
  readonly system: (turn: number) => string | undefined;
  /** Fields of a user's request besides model and messages. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: (chat: string) => Readonly<Record<string, string>>;
  readonly picture: (url: string) => object;
  /** True if a text without an image is also sent as parts. */
  readonly isParts: boolean;
  readonly resent: Resent;
  /** The program's own requests about the last messages of a chat. */
  readonly side: readonly {
    readonly name: string;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly last: number;
    readonly ask: (history: readonly { readonly role: "user" | "assistant"; readonly text: string }[]) => string;
    /** Only after the first answer. */
    readonly once?: true;
  }[];
}

const quotedBy = (
  user: string,
  assistant: string,
  history: readonly { readonly role: string; readonly text: string }[],
) => history.map(({ role, text }) => `${role === "user" ? user : assistant}: ${text}`).join("\n");

/** Our own words in the form of Open WebUI's templates. */
const openWebUiTask = (task: string) => (history: Parameters<Program["side"][number]["ask"]>[0]) =>
  `### Task:\n${task}\n### Output:\nJSON alone.\n### Chat History:\n<chat_history>\n${quotedBy("USER", "ASSISTANT", history)}\n</chat_history>`;

const OPEN_WEBUI: Program = {
  name: "Open WebUI",
  source: [
    "open-webui/open-webui: backend/open_webui/routers/openai.py (generate_chat_completion takes `metadata` out of what it sends)",
    "open-webui/open-webui: backend/open_webui/routers/tasks.py (title, tags and follow-ups: one user message, not streamed)",
    "open-webui/open-webui: backend/open_webui/utils/middleware.py (assistant texts are stripped before they are sent again)",
  ],
  system: (turn) => `You know trees. The time is 12:${String(turn).padStart(2, "0")}.`,
  fields: { stream: true, stream_options: { include_usage: true } },
  headers: () => ({}),
  picture: (url) => ({ type: "image_url", image_url: { url } }),
  isParts: false,
  resent: (text) => text.trim(),
  side: [
    {
      name: "title",
      last: 2,
      once: true,
      fields: { stream: false, max_completion_tokens: 1000 },
      ask: openWebUiTask("Write a short title for the chat."),
    },
    {
      name: "tags",
      last: 6,
      once: true,
      fields: { stream: false },
      ask: openWebUiTask("Write one to three tags."),
    },
    {
      name: "follow-ups",
      last: 6,
      fields: { stream: false },
      ask: openWebUiTask("Suggest what the user may ask next."),
    },
  ],
};

const LIBRECHAT: Program = {
  name: "LibreChat",
  source: [
    "danny-avila/LibreChat: packages/api/src/endpoints/openai/llm.ts (the fields of a request)",
    "librechat.ai/docs: shared endpoint settings (titleConvo, titlePrompt; that titles are not streamed is assumed)",
    "danny-avila/agents: src/utils/title.ts (a title quotes the exchange as `User: ... AI: ...` in one user message)",
  ],
  system: () => undefined,
  fields: { stream: true, temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, user: "64f0" },
  headers: () => ({}),
  picture: (url) => ({ image_url: { detail: "auto", url }, type: "image_url" }),
  isParts: true,
  // A resent message keeps its text and loses its image.
  resent: (text) => text.replace(/\r\n/g, "\n").trimEnd(),
  side: [
    {
      name: "title",
      last: 2,
      once: true,
      fields: { stream: false, temperature: 0.2 },
      ask: (history) => `Write a title of five words for this.\n\nConversation:\n${quotedBy("User", "AI", history)}`,
    },
  ],
};

/** Open WebUI with the headers that docs/doors.md recommends. */
const OPEN_WEBUI_NAMED: Program = {
  ...OPEN_WEBUI,
  name: "Open WebUI with its headers",
  source: [
    ...OPEN_WEBUI.source,
    "open-webui/open-webui: backend/open_webui/utils/headers.py ({{CHAT_ID}} and {{TASK}} in headers of a connection)",
  ],
  headers: (chat) => ({ "x-openwebui-chat-id": chat }),
};

const LIBRECHAT_NAMED: Program = {
  ...LIBRECHAT,
  name: "LibreChat with a header",
  headers: (chat) => ({ "x-banyan-chat": chat }),
};

export const PROGRAMS: readonly Program[] = [OPEN_WEBUI, LIBRECHAT];
export const NAMED_PROGRAMS: readonly Program[] = [OPEN_WEBUI_NAMED, LIBRECHAT_NAMED];

/** A chat in a program, with the messages that the program keeps. */
export class ProgramChat {
  readonly #program: Program;
  readonly #id: string;
  #turns: { said: string; picture?: string | undefined; answer?: string }[] = [];
  #count = 0;

  constructor(program: Program, id: string) {
    this.#program = program;
    this.#id = id;
  }

  /** The user sends a message. */
  say(said: string, picture?: string): ProgramRequest {
    this.#turns.push({ said, picture });
    return this.#request();
  }

  /** The user regenerates the last answer. */
  regenerate(): ProgramRequest {
    return this.#request();
  }

  /** The user edits the message of a turn: the program drops all later messages. */
  edit(turn: number, said: string): ProgramRequest {
    this.#turns = [...this.#turns.slice(0, turn), { said }];
    return this.#request();
  }

  answered(answer: string): void {
    const last = this.#turns.at(-1);
    if (last) last.answer = answer;
  }

  /** The program's own requests after an answer, by name. */
  side(): readonly (ProgramRequest & { readonly name: string })[] {
    const history = this.#turns.flatMap(({ said, answer = "" }) => [
      { role: "user" as const, text: said },
      { role: "assistant" as const, text: this.#program.resent(answer) },
    ]);
    return this.#program.side
      .filter(({ once }) => !once || this.#turns.length === 1)
      .map(({ name, fields, last, ask }) => ({
        name,
        headers: this.#program.headers(this.#id),
        body: {
          model: "banyan",
          stream: false,
          ...fields,
          messages: [{ role: "user", content: ask(history.slice(-last)) }],
        },
      }));
  }

  #request(): ProgramRequest {
    const { system, fields, headers, picture, isParts, resent } = this.#program;
    const told = system(this.#count++);
    const messages: Sent[] = told === undefined ? [] : [{ role: "system", content: told }];
    for (const [index, turn] of this.#turns.entries()) {
      const isLast = index === this.#turns.length - 1;
      const shown = turn.picture !== undefined && (isLast || !isParts) ? [picture(turn.picture)] : [];
      const text = { type: "text", text: isLast ? turn.said : resent(turn.said) };
      messages.push({ role: "user", content: isParts || shown.length > 0 ? [text, ...shown] : text.text });
      if (!isLast) messages.push({ role: "assistant", content: resent(turn.answer ?? "") });
    }
    return { headers: headers(this.#id), body: { model: "banyan", stream: true, ...fields, messages } };
  }
}

/** Sends a request. Returns the text of the answer, whole or streamed, and its conversation. */
export async function send(
  address: string,
  { body, headers }: ProgramRequest,
): Promise<{ text: string; conversation: string | null }> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const told = await response.text();
  expect(response.status, told).toBe(200);
  const conversation = response.headers.get("x-banyan-conversation");
  if (!body.stream) return { text: JSON.parse(told).choices[0].message.content, conversation };
  const chunks = told.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
  return { text: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), conversation };
}
