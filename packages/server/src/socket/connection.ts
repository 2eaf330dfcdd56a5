import { ID_RULE, isId } from "@banyan/core/conversation";
import {
  type Command,
  type CommandName,
  closeCodes,
  hello,
  isCompatible,
  PROTOCOL,
  type Problem,
  type ServerFrame,
  type Welcome,
} from "@banyan/protocol";
import type { RawData, WebSocket } from "ws";
import type { Principal } from "../auth/principal.ts";
import type { ConnectionCommand, DeskCommand } from "../commands/desk.ts";
import { isOfConnection, type Outcome, type Performer, refusalOf } from "../commands/perform.ts";
import { readCommand } from "../commands/read-command.ts";
import { frameOf } from "../live/feed-frame.ts";
import type { ListWatch } from "../live/list-watch.ts";
import type { LiveConversation } from "../live/live-conversation.ts";
import type { LiveConversations } from "../live/live-conversations.ts";
import type { Subscription } from "../live/subscription.ts";
import { Pace } from "./pace.ts";
import { SocketLine } from "./socket-line.ts";

/** Milliseconds within which a client must say what it is. */
const HELLO_WITHIN = 10_000;

/** What connections work with. */
export interface ConnectionParts {
  readonly conversations: LiveConversations;
  readonly performer: Performer;
  readonly listWatch: ListWatch;
  /** What a client is told first. */
  welcome(principal: Principal): Welcome;
  /** Something that whoever runs the server should see. Holds no secret. */
  log(line: string): void;
}

/** Who connects, by what they showed. */
export interface Caller {
  readonly principal: Principal;
  /** The address that it comes from. */
  readonly from: string;
  /** What a page has to prove before it is somebody; a program has shown its token. */
  readonly proof: { readonly challenge: string; fits(proof: string): boolean } | undefined;
}

/** One client on a WebSocket: what it asks for, and what it watches. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #line: SocketLine;
  readonly #principal: Principal;
  readonly #proof: Caller["proof"];
  readonly #from: string;
  readonly #parts: ConnectionParts;
  readonly #pace = new Pace();
  readonly #watched = new Map<string, { readonly live: LiveConversation; readonly subscription: Subscription }>();
  #greeted = false;
  /** Commands about the connection itself, one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, { principal, from, proof }: Caller, parts: ConnectionParts) {
    this.#socket = socket;
    this.#line = new SocketLine(socket, principal);
    this.#principal = principal;
    this.#proof = proof;
    this.#from = from;
    this.#parts = parts;
    const impatience = setTimeout(() => {
      if (!this.#greeted) this.#refuse("it said nothing", closeCodes.silent);
    }, HELLO_WITHIN).unref();
    socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    // What is wrong with a frame (its size, its encoding) ends the socket by itself.
    socket.on("error", (error) => parts.log(`${from}: ${error.message}`));
    socket.on("close", () => {
      clearTimeout(impatience);
      this.#leave();
    });
    if (proof) this.#say({ type: "challenge", challenge: proof.challenge });
  }

  /** Sends a frame, once the client has been welcomed. */
  send(frame: Buffer): void {
    if (this.#greeted) this.#line.send(frame);
  }

  #say(frame: ServerFrame): void {
    this.#line.send(frameOf(frame));
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const frame = isBinary ? undefined : parsed(String(data));
    if (typeof frame?.type !== "string")
      this.#refuse("a frame that is no JSON object with a type", closeCodes.malformed);
    else if (!this.#greeted) this.#greet(frame);
    else if (!isId(frame.id)) this.#refuse(`a command without an id of ${ID_RULE}`, closeCodes.malformed);
    else this.#ask(frame.id, frame);
  }

  #greet(frame: object): void {
    const { data } = hello.safeParse(frame);
    if (!data) return this.#refuse("a first frame that is no hello", closeCodes.malformed);
    if (!isCompatible(data.protocol)) {
      const message = `This server speaks protocol ${PROTOCOL}, and the client ${data.protocol}. Update the older one; a page is updated by loading it again.`;
      this.#say({ type: "refused", protocol: PROTOCOL, message });
      return this.#refuse(`protocol ${data.protocol}`, closeCodes.version);
    }
    if (this.#proof && !this.#proof.fits(data.proof ?? ""))
      return this.#refuse("a page that did not prove that it signed in", closeCodes.unproven);
    this.#greeted = true;
    this.#say(this.#parts.welcome(this.#principal));
  }

  #ask(id: string, frame: object): void {
    const pace = this.#pace.next();
    if (pace === "hasty") return this.#refuse("too many commands", closeCodes.hasty);
    if (pace === "busy") return this.#fail(id, { code: "busy", message: "Too many commands at once; send it again." });
    const { command, error } = readCommand(frame);
    if (!command) {
      this.#parts.log(`${this.#from}: ${error.message}`);
      return this.#fail(id, error);
    }
    if (isOfConnection(command)) this.#askInOrder(command);
    else void this.#perform(command);
  }

  async #perform(command: Command<DeskCommand>): Promise<void> {
    const outcome = await this.#parts.performer.perform(command, this.#principal);
    // Whoever watches sees what was done before it is told that it was.
    if ("conversation" in command) this.#watched.get(command.conversation ?? "")?.live.flush();
    this.#answer(command.id, outcome);
  }

  #askInOrder(command: Command<ConnectionCommand>): void {
    this.#last = this.#last.then(async () => {
      const refused = refusalOf(command.type as CommandName, this.#principal);
      if (refused) return this.#fail(command.id, refused);
      const outcome = await this.#parts.performer.outcomeOf(() => this.#carryOut(command));
      // A read has been answered at its place among the frames.
      if ("error" in outcome || command.type !== "message.read") this.#answer(command.id, outcome);
    });
  }

  async #carryOut(command: Command<ConnectionCommand>): Promise<object> {
    const { conversations, listWatch } = this.#parts;
    switch (command.type) {
      case "conversation.watch":
        if (command.on) listWatch.add(this);
        else listWatch.remove(this);
        return {};
      case "feed.subscribe": {
        const live = await conversations.open(command.conversation);
        this.#unsubscribe(command.conversation);
        const subscription = await live.subscribe(this.#line, command.from, command.leaf);
        if (this.#socket.readyState === this.#socket.OPEN)
          this.#watched.set(command.conversation, { live, subscription });
        else live.unsubscribe(subscription);
        return {};
      }
      case "feed.unsubscribe":
        this.#unsubscribe(command.conversation);
        return {};
      case "message.read": {
        const live = await conversations.open(command.conversation);
        const subscription = this.#watched.get(command.conversation)?.subscription;
        await live.read(command.messages, subscription, (result) => this.#answer(command.id, { result }));
        return {};
      }
    }
  }

  #unsubscribe(conversation: string): void {
    const watched = this.#watched.get(conversation);
    watched?.live.unsubscribe(watched.subscription);
    this.#watched.delete(conversation);
  }

  #answer(id: string, outcome: Outcome): void {
    if ("error" in outcome) this.#fail(id, outcome.error);
    else this.#say({ type: "done", id, result: outcome.result as Record<string, unknown> });
  }

  #fail(id: string, error: Problem): void {
    this.#say({ type: "failed", id, error });
  }

  /** Ends the connection for something that the client did. */
  #refuse(what: string, code: number): void {
    this.#parts.log(`${this.#from}: refused ${what}`);
    if (code !== closeCodes.version) this.#say({ type: "fault", message: `Refused: ${what}.` });
    this.#socket.close(code, what.slice(0, 100));
  }

  #leave(): void {
    this.#parts.listWatch.remove(this);
    for (const conversation of [...this.#watched.keys()]) this.#unsubscribe(conversation);
  }
}

function parsed(text: string): { readonly type?: unknown; readonly id?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    // Not JSON: whoever sent it is told so.
    return undefined;
  }
}
