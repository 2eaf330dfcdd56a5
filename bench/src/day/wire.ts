import { LLMock } from "@copilotkit/aimock";

/** The user's messages; they determine the model's actions. */
export const ASK = "What is a banyan?";
export const ASK_HERON = "What is a heron?";
export const ASK_KITE = "What is a kite?";
export const EDIT = "Change the greeting.";
export const RUN = "Make the mark.";
export const FAIL = "Run the tests.";
export const WORK = "Count to three.";
export const STORY = "Tell a long story.";

const TEXTS: Readonly<Record<string, string>> = {
  [ASK]: "A fig tree whose branches put down roots.",
  [ASK_HERON]: "A grey bird that waits in shallow water.",
  [ASK_KITE]: "A bird of prey that hangs in the wind.",
};

/** The model's text after the calls. */
export const ENDS: Readonly<Record<string, string>> = {
  [EDIT]: "The greeting is changed.",
  [RUN]: "The mark is made.",
  [FAIL]: "The tests have failed.",
  [WORK]: "That was three.",
};

const STORY_TEXT = Array.from({ length: 400 }, (_, index) => `Chapter ${index + 1} goes on.\n\n`).join("");

/** A tool call of one program. */
export interface Call {
  readonly name: string;
  readonly input: object;
}

/** A program's tool calls for the model's actions. */
export interface Tools {
  /** Replaces "Good morning" by "Good evening" in `greeting.txt`. */
  readonly edit: Call;
  run(command: string): Call;
}

/** The commands that the model runs for each message, in order. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  [RUN]: ["node mark.cjs"],
  [FAIL]: ['seq -f "case %g" 1 300; exit 3'],
  [WORK]: ["sleep 1; echo one", "sleep 1; echo two", "sleep 1; echo three"],
};

/** A provider that supports every program's format, and maps user messages to the model's actions. */
export class Wire implements AsyncDisposable {
  readonly url: string;
  readonly #mock: LLMock;

  private constructor(mock: LLMock, url: string) {
    this.#mock = mock;
    this.url = url;
  }

  static async start(tools: Tools): Promise<Wire> {
    const mock = new LLMock({ port: 0, logLevel: "silent" });
    mock.on({ userMessage: STORY }, { content: STORY_TEXT }, { latency: 30, chunkSize: 12 });
    mock.on({ predicate: () => true }, ({ messages, tools: offered = [] }) => {
      const isSaid = (text: string) =>
        messages.findLastIndex((message) => message.role === "user" && has(message, text));
      const said = [...Object.keys(TEXTS), ...Object.keys(ENDS)].map((text) => ({ text, at: isSaid(text) }));
      const last = said.reduce((later, one) => (one.at > later.at ? one : later), { text: "", at: -1 });
      const results = messages.slice(last.at + 1).filter(({ role }) => role === "tool").length;
      const calls =
        last.text === EDIT ? [tools.edit] : (COMMANDS[last.text] ?? []).map((command) => tools.run(command));
      const call = offered.length === 0 ? undefined : calls[results];
      if (call) return { toolCalls: [{ name: call.name, arguments: JSON.stringify(call.input) }] };
      // A request without tools asks for a title.
      if (offered.length === 0) return { content: last.text };
      return { content: TEXTS[last.text] ?? ENDS[last.text] ?? "Yes." };
    });
    // Makes the mock list these models.
    for (const model of ["first", "second"]) mock.on({ model, userMessage: "never said" }, { content: "" });
    return new Wire(mock, await mock.start());
  }

  /** The bodies of all requests so far. */
  get requests(): readonly string[] {
    return this.#mock.getRequests().map(({ body }) => JSON.stringify(body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mock.stop();
  }
}

function has({ content }: { readonly content: unknown }, text: string): boolean {
  return JSON.stringify(content ?? "").includes(text);
}
