import type { ModelDriver } from "@banyan/core";
import { isTooDeep, modelErrorFromResponse } from "@banyan/core/drivers";
import type { Dispatcher } from "undici";
import { type AnswerEnd, EmptyChoices, FrameEnd, findAnswerEnd, type PackageFormat } from "./answer-end.ts";
import { STREAM_FACTOR, type WireBounds, wireBounds } from "./bounds.ts";
import { encodeText, NOTHING } from "./bytes.ts";
import { errorOfDepth, errorOfLine, errorOfRedirect, errorOfSize, errorOfType } from "./errors.ts";
import { EventStreamDecoder } from "./event-stream.ts";
import { isNode, openUndici, type PoolOptions } from "./pool.ts";

/** Options of a provider package's requests. */
export interface PackageFetchOptions extends PoolOptions {
  /** The wire format of answers; absent if the endpoint is no language model. */
  readonly format?: PackageFormat | undefined;
  readonly bounds?: WireBounds | undefined;
}

/** Reports progress to the driver of a request, which its signal identifies. */
const waiting = new WeakMap<AbortSignal, () => void>();

/**
 * Wraps the driver of a package that uses `modelFetch`. All received data then counts as a sign of life of the model.
 */
export function withLife(driver: ModelDriver): ModelDriver {
  return {
    ...driver,
    async stream(request, sink, signal) {
      let over = false;
      const alive = () => {
        if (!over) sink.push([]);
      };
      // Its own signal: other requests may have the signal of the caller too.
      const own = AbortSignal.any([signal]);
      waiting.set(own, alive);
      try {
        await driver.stream(request, sink, own);
      } finally {
        over = true;
      }
    },
  };
}

/** Maximum bytes that are read of an error body. */
const ERROR_BODY = 65_536;

/** Creates a `fetch` for provider packages. Reports received bytes as progress; rejects long answers and redirects. */
export function modelFetch({ proxy, dispatcher, fetch: own, format, bounds }: PackageFetchOptions): typeof fetch {
  const most = wireBounds(bounds);
  let pool: Promise<Dispatcher> | undefined = dispatcher && Promise.resolve(dispatcher);
  const pooled = async (address: string, init: RequestInit): Promise<Response> => {
    pool ??= openUndici(proxy);
    const { fetch } = await import("undici");
    // The package and the web declare the same types separately.
    const through = { ...init, dispatcher: await pool } as Parameters<typeof fetch>[1];
    return (await fetch(address, through)) as unknown as Response;
  };
  return async (address, init) => {
    const alive = (init?.signal && waiting.get(init.signal)) ?? (() => {});
    const response = await (own ?? (dispatcher || isNode() ? pooled : fetch))(String(address), {
      ...init,
      redirect: "manual",
    });
    alive();
    const { status, statusText, headers, body, ok } = response;
    const place = originAndPath(String(address));
    const location = headers.get("location");
    if (status >= 300 && status < 400 && location !== null) {
      await body?.cancel();
      throw errorOfRedirect(place, status, location);
    }
    const type = headers.get("content-type") ?? "";
    if (ok && type.includes("html")) {
      await body?.cancel();
      throw errorOfType({ address: place, format: "model's" }, type);
    }
    if (!body) return response;
    const watch = ok ? new AnswerWatch(place, type, format, most) : undefined;
    return new Response(watchBody(body, watch, alive, most.linger), { status, statusText, headers: [...headers] });
  };
}

function originAndPath(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

const MESSAGE_STOP = encodeText('\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n');

/**
 * Inspects the bytes of an answer on their way to the package. Throws `ModelError` if an answer is too large or too
 * deep.
 */
class AnswerWatch {
  end: AnswerEnd;
  readonly #events: EventStreamDecoder | undefined;
  readonly #frames: FrameEnd | undefined;
  readonly #most: number;
  readonly #place: string;
  readonly #format: PackageFormat | undefined;
  readonly #choices: EmptyChoices | undefined;
  #size = 0;

  constructor(
    place: string,
    type: string,
    format: PackageFormat | undefined,
    { line, answer }: ReturnType<typeof wireBounds>,
  ) {
    this.#place = place;
    this.#format = format;
    const streams = type.includes("event-stream") || type.includes("eventstream");
    this.#most = answer * (streams ? STREAM_FACTOR : 1);
    if (format === undefined) return;
    if (format === "converse") this.#frames = new FrameEnd();
    else if (streams) {
      if (format === "chat") this.#choices = new EmptyChoices();
      this.#events = new EventStreamDecoder(
        (data) => {
          if (isTooDeep(data)) throw errorOfDepth(place);
          this.end = findAnswerEnd(format, data) ?? this.end;
        },
        { most: line, tooLong: () => errorOfLine(place, line) },
        (body) => {
          throw modelErrorFromResponse({ body, address: place });
        },
      );
    }
  }

  /** The end mark that a server omitted after a whole answer (F53). */
  get missing(): Uint8Array {
    return this.#format === "messages" && this.end === "answered" ? MESSAGE_STOP : (this.#choices?.rest ?? NOTHING);
  }

  /** Returns the bytes in a form that the package accepts. */
  see(bytes: Uint8Array): Uint8Array {
    this.#size += bytes.length;
    if (this.#size > this.#most) throw errorOfSize(this.#place, this.#most);
    this.#events?.push(bytes);
    this.end = this.#frames?.see(bytes) ?? this.end;
    return this.#choices?.read(bytes) ?? bytes;
  }
}

/** Ends the body where the answer ends. Drains the rest of an error for a moment, to reuse the connection. */
function watchBody(
  body: ReadableStream<Uint8Array>,
  watch: AnswerWatch | undefined,
  alive: () => void,
  linger: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const late = Promise.withResolvers<ReadableStreamReadResult<Uint8Array>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let read = 0;
  const leave = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearTimeout(timer);
    const missing = watch?.missing ?? NOTHING;
    if (missing.length > 0) controller.enqueue(missing);
    controller.close();
    // The answer is complete, so errors of the connection no longer matter.
    release(reader).catch(() => {});
  };
  const wait = () => {
    timer ??= setTimeout(() => late.resolve({ done: true, value: undefined }), linger);
  };
  if (!watch) wait();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = reader.read().catch((error: unknown) => {
        if (watch?.end === undefined) throw error;
        return { done: true, value: undefined } as const;
      });
      const { done, value } = await (timer ? Promise.race([next, late.promise]) : next);
      if (done) return leave(controller);
      alive();
      read += value.length;
      try {
        controller.enqueue(watch?.see(value) ?? value);
      } catch (error) {
        reader.cancel(error).catch(() => {});
        throw error;
      }
      if (watch?.end === "answered") wait();
      if (watch?.end === "over" || (!watch && read > ERROR_BODY)) leave(controller);
    },
    cancel(reason) {
      clearTimeout(timer);
      return reader.cancel(reason);
    },
  });
}

/** Milliseconds that a server may take to end a response after its end mark. */
const RELEASE = 1_000;

async function release(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), RELEASE);
  timer.unref?.();
  try {
    while (!(await reader.read()).done);
  } finally {
    clearTimeout(timer);
  }
}
