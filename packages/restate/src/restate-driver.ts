import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { refuseUnknown } from "@banyan/core/conversation";
import type { CommandOutcome, DrivenNode, Driver, NodeCommand } from "@banyan/server";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { type AcceptedCommand, CONVERSATION, servicesOf, VERSION } from "./services.ts";
import { DriverError, type RestateSetting } from "./setting.ts";

/** Milliseconds to wait for Restate in total, between two attempts, and for one reply. */
const PATIENCE = 15_000;
const AGAIN = 250;
const ANSWER = 5_000;

/**
 * Options of a {@link RestateDriver}.
 * @example
 * new RestateDriver(readRestate("http://127.0.0.1:8080"), { log: (sentence) => console.error(sentence) });
 */
export interface RestateDriverOptions {
  /** Receives messages for the operator, one sentence each. */
  log?(sentence: string): void;
}

/**
 * Lets Restate run the turns of several servers. Restate stores each command that begins a turn before the database
 * does, and calls one server after another until the turn has ended.
 * @example
 * const database = postgresStore("postgres://me@db.internal/banyan");
 * const driver = new RestateDriver(readRestate("http://127.0.0.1:8080"));
 * await serve({ host, cluster: { shared: database.shared, driver } });
 */
export class RestateDriver implements Driver {
  readonly takesWaiting = false;
  readonly #setting: RestateSetting;
  readonly #log: (sentence: string) => void;
  #node: DrivenNode | undefined;
  #endpoint: Http2Server | undefined;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #ended = new AbortController();
  #registering: Promise<void> | undefined;
  #ingress = 0;

  constructor(setting: RestateSetting, options: RestateDriverOptions = {}) {
    refuseUnknown("a Restate driver", options, { log: true });
    this.#setting = setting;
    this.#log = (sentence) => options.log?.(sentence);
  }

  async begin(node: DrivenNode): Promise<void> {
    this.#node = node;
    const { listen, keys } = this.#setting;
    const handle = createEndpointHandler({
      services: servicesOf(node),
      identityKeys: [...keys],
      logger: ({ level }, message: unknown) => level === "error" && this.#log(`Restate: ${String(message)}`),
    });
    const endpoint = createServer((request, response) => {
      // On these errors Restate tries another server: with the right version, or with free capacity.
      if (!request.url.startsWith(`/v${VERSION}/`)) response.writeHead(404).end();
      else if (node.isDraining && request.url.includes("/invoke/")) response.writeHead(503).end();
      else handle(request, response);
    });
    this.#endpoint = endpoint;
    endpoint.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
    });
    endpoint.listen(listen.port, listen.host);
    try {
      await once(endpoint, "listening");
    } catch (error) {
      throw new DriverError(
        `The server cannot listen at ${listen.host}:${listen.port} for Restate. Name another address with listen=.`,
        { cause: error },
      );
    }
    this.#register();
  }

  async accept(command: NodeCommand): Promise<CommandOutcome> {
    const node = this.#begun();
    await this.leave(command);
    return node.carryOut(command, true);
  }

  async leave(command: NodeCommand): Promise<void> {
    const node = this.#begun();
    // Restate first, so that Restate completes every command in the database, even if a process crashes in between.
    await this.#send(command, { id: command.id, after: await node.last(command.conversation) });
    await node.leave(command);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    for (const session of this.#sessions) session.destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#endpoint?.listening) this.#endpoint.close(() => resolve());
    else resolve();
    await promise;
  }

  #begun(): DrivenNode {
    if (!this.#node) throw new DriverError("Restate can run turns only after the server has started.");
    return this.#node;
  }

  /** Sends a command to the Restate object of its conversation. A second command with the same id has no effect. */
  async #send({ id, conversation }: NodeCommand, accepted: AcceptedCommand): Promise<void> {
    const { ingress } = this.#setting;
    const path = `/${CONVERSATION}/${encodeURIComponent(conversation)}/accept/send`;
    const headers = { "idempotency-key": encodeURIComponent(id) };
    let why = "";
    for (const until = performance.now() + PATIENCE; performance.now() < until; ) {
      const address = ingress[this.#ingress % ingress.length];
      try {
        const answer = await this.#post(`${address}${path}`, accepted, headers);
        if (answer.ok) return;
        why = `${answer.status} ${await answer.text()}`;
        if (answer.status === 404) this.#register();
      } catch (error) {
        why = driverErrorText(error);
      }
      this.#ingress++;
      await sleep(AGAIN);
    }
    throw new DriverError(
      `Restate at ${ingress.join(", ")} accepts no turns now (${why}). Nothing was started. Check that Restate runs, then send your message again.`,
    );
  }

  /** Registers the servers with Restate, and repeats until Restate accepts. Registering twice has no further effect. */
  #register(): void {
    const { admin } = this.#setting;
    if (admin === undefined) return;
    this.#registering ??= this.#registerAt(admin)
      .catch((error: unknown) => this.#log(driverErrorText(error)))
      .finally(() => {
        this.#registering = undefined;
      });
  }

  async #registerAt(admin: string): Promise<void> {
    const { servers } = this.#setting;
    const uri = `${servers}/v${VERSION}`;
    for (let isTold = false; !this.#ended.signal.aborted; await sleep(AGAIN)) {
      let why: string;
      try {
        const answer = await this.#post(`${admin}/deployments`, { uri });
        if (answer.ok || answer.status === 409) return;
        why = `${answer.status} ${await answer.text()}`;
      } catch (error) {
        why = driverErrorText(error);
      }
      if (isTold || this.#ended.signal.aborted) continue;
      isTold = true;
      this.#log(
        `Restate at ${admin} does not accept the server at ${uri} yet (${why}). Trying again until Restate accepts.`,
      );
    }
  }

  #post(address: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER), this.#ended.signal]),
    });
  }
}

function driverErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
