// A Cloudflare Worker. Each user has a Durable Object with SQLite, which keeps the conversations of this user.
import { Agent, pathTo, Session, type Store, textOf } from "@banyan/core";
import { openaiCompatible } from "@banyan/models/openai-compatible";
import { type DurableStorage, durableObjectStore } from "@banyan/store/durable-object";

interface Env {
  readonly MODEL_ADDRESS: string;
  readonly USERS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class User {
  readonly #store: Store;
  readonly #agent: Agent;

  constructor(ctx: { readonly storage: DurableStorage }, env: Env) {
    this.#store = durableObjectStore(ctx.storage);
    this.#agent = new Agent({ model: openaiCompatible("qwen3", { baseURL: env.MODEL_ADDRESS }) });
  }

  /** `POST /garden` continues the conversation `garden`, and `GET /garden` returns its texts. */
  async fetch(request: Request): Promise<Response> {
    const id = new URL(request.url).pathname.slice(1);
    const session = await Session.open(this.#store, id, { create: true });
    try {
      if (request.method === "POST") await this.#agent.send(await request.text(), { session });
      const { state } = session;
      return Response.json(pathTo(state, state.leaf).map(textOf));
    } finally {
      await session.close();
    }
  }
}

// biome-ignore lint/style/noDefaultExport: Cloudflare calls the default export.
export default {
  fetch(request: Request, env: Env): Promise<Response> {
    // Your own Worker checks here who the user is.
    return env.USERS.getByName(request.headers.get("authorization") ?? "guest").fetch(request);
  },
};
