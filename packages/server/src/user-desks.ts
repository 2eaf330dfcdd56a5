import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Agent, Store } from "@banyan/core";
import { agentHost, Desk, type Principal } from "@banyan/desk";
import type { Right } from "@banyan/protocol";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { HttpEnvironment } from "./auth/gate.ts";
import { userStore } from "./auth/user-store.ts";
import { addPrograms, internalError } from "./http/app.ts";
import type { RestParts } from "./http/rest.ts";

/** Maximum number of users whose unused desks stay ready. */
const READY_USERS = 200;

export interface UserDesksOptions extends Omit<RestParts, "desk"> {
  readonly agent: Agent;
  readonly store: Store;
  /** The name of the program, for the model. */
  readonly client: string;
  readonly state: string | undefined;
  readonly idle: number | undefined;
  /** Removes the path before the addresses. */
  getPath?(request: Request): string;
  nothingHere(context: Context<HttpEnvironment>): Response;
}

/** The desk of one user, and its HTTP interfaces by the highest right of a request. */
interface UserDesk {
  readonly desk: Desk;
  readonly programs: Map<Right | undefined, Hono<HttpEnvironment>>;
  /** Number of requests without a response, and of sockets. */
  inUse: number;
}

/**
 * A desk (the part that executes commands) for each user, with a store of its own, so that no door can reach the
 * conversations of others.
 */
export class UserDesks {
  readonly #options: UserDesksOptions;
  readonly #desks = new Map<string | undefined, UserDesk>();

  constructor(options: UserDesksOptions) {
    this.#options = options;
  }

  /** Answers a request at the addresses for programs. */
  async answer(context: Context<HttpEnvironment>, principal: Principal): Promise<Response> {
    const own = this.#of(principal.user);
    own.inUse++;
    try {
      return await this.#programsFor(own, principal).fetch(context.req.raw, context.env);
    } finally {
      own.inUse--;
    }
  }

  /** Returns the desk of a user for a connection, until `free` is called. */
  take(user: string | undefined): { readonly desk: Desk; free(): void } {
    const own = this.#of(user);
    own.inUse++;
    return { desk: own.desk, free: () => own.inUse-- };
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#desks.values()].map(({ desk }) => desk.stop()));
  }

  #of(user: string | undefined): UserDesk {
    const known = this.#desks.get(user);
    if (known) return known;
    const { agent, store, client, state, idle, defect } = this.#options;
    if (this.#desks.size >= READY_USERS)
      for (const [other, { desk, inUse }] of this.#desks)
        if (inUse === 0 && desk.conversations.allOpen.length === 0) {
          this.#desks.delete(other);
          desk.stop().catch(defect);
        }
    const host = agentHost(agent, user === undefined ? store : userStore(store, user));
    const folder = state !== undefined && user !== undefined ? join(state, "users", folderName(user)) : state;
    const desk = new Desk({ host, client, state: folder, idle, defect });
    const added: UserDesk = { desk, programs: new Map(), inUse: 0 };
    this.#desks.set(user, added);
    return added;
  }

  #programsFor({ desk, programs }: UserDesk, principal: Principal): Hono<HttpEnvironment> {
    const most = principal.rights.at(-1);
    const known = programs.get(most);
    if (known) return known;
    const { getPath, nothingHere, defect } = this.#options;
    const app = new Hono<HttpEnvironment>(getPath && { getPath });
    const admit: MiddlewareHandler<HttpEnvironment> = (context, next) => {
      context.set("principal", principal);
      return next();
    };
    // All users of a web server may come from one address: the server itself limits their rates.
    const uncached: MiddlewareHandler<HttpEnvironment> = (context, next) => {
      context.header("Cache-Control", "no-store");
      return next();
    };
    addPrograms(app, { ...this.#options, desk }, admit, uncached);
    app.all("*", nothingHere);
    app.onError(internalError(defect));
    programs.set(most, app);
    return app;
  }
}

/** A folder name that is valid everywhere, and different for each user. */
function folderName(user: string): string {
  return createHash("sha256").update(user).digest("hex").slice(0, 32);
}
