import type { Dispatcher } from "undici";

/** The part of undici's dispatchers that `exchange` needs. */
export type Requests = Pick<Dispatcher, "dispatch">;

/** Sends requests through the caller's own `fetch`. The body is a string, as in requests of provider packages. */
export function throughFetch(fetch: typeof globalThis.fetch): Requests {
  return {
    dispatch(request, handler) {
      const flow = new Flow();
      handler.onRequestStart?.(flow, undefined);
      run(fetch, request, handler, flow).catch((error: unknown) => {
        handler.onResponseError?.(flow, error instanceof Error ? error : new Error(String(error)));
      });
      return true;
    },
  };
}

/** Declared as a `Buffer`; any bytes will do. */
type Chunk = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseData"]>>[1];

const decoder = new TextDecoder();

async function run(
  fetch: typeof globalThis.fetch,
  { origin, path, method, headers, body }: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  flow: Flow,
): Promise<void> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: headers as Record<string, string>,
    // A copy: the memory of the body serves the next request too.
    body: typeof body === "string" ? body : decoder.decode(body as Uint8Array),
    redirect: "manual",
    signal: flow.signal,
  });
  const { "content-encoding": _unpackedByFetch, ...received } = Object.fromEntries(response.headers);
  handler.onResponseStart?.(flow, response.status, received, response.statusText);
  // Not every browser iterates over streams.
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    handler.onResponseData?.(flow, read.value as Chunk);
    await flow.resumed;
    // Not every `fetch` obeys its signal.
    if (flow.aborted) return reader?.cancel();
  }
  handler.onResponseEnd?.(flow, {});
}

/** Stops and continues the reading of one response. */
class Flow implements Dispatcher.DispatchController {
  readonly #abort = new AbortController();
  #resumption: PromiseWithResolvers<void> | undefined;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get reason(): Error | null {
    return this.signal.reason ?? null;
  }

  get paused(): boolean {
    return this.#resumption !== undefined;
  }

  /** Resolves when the response may be read on. */
  get resumed(): Promise<void> | undefined {
    return this.#resumption?.promise;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
    this.resume();
  }

  pause(): void {
    this.#resumption ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumption?.resolve();
    this.#resumption = undefined;
  }
}
