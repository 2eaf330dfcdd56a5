import type { ModelPart, ModelSink } from "@banyan/core/drivers";
import type { Dispatcher } from "undici";
import { WIRE_BOUNDS } from "./bounds.ts";
import type { ResponseHeaders } from "./errors.ts";
import type { Requests } from "./own-fetch.ts";
import { Unpacker } from "./unpacker.ts";

/** Decodes one response. If one of these functions throws, `exchange` rejects with that error. */
export interface ResponseReader {
  head(status: number, headers: ResponseHeaders): void;
  /** Decoded parts wait for `take`. */
  body(bytes: Uint8Array): void;
  /** The content codings of the body, innermost first. Set by `head`. */
  readonly codings: readonly string[];
  end(): void;
  take(): readonly ModelPart[];
  /** True if the answer is complete, even if the connection stays open. `answered` is then also true. */
  readonly done: boolean;
  /** True if the model has answered. The connection can then end; if it stays open, it is closed after `linger`. */
  readonly answered: boolean;
  /** Makes the error of a failed connection. `sent`: the request was written to a socket. */
  failed(cause: unknown, sent: boolean): Error;
}

/** Runs callbacks after the current code. `queueMicrotask` would make a resource per call. */
const THROUGH = Promise.resolve();

/** Milliseconds that a server may take to end a complete response. */
const LINGER = 1000;

/**
 * Sends a request and passes decoded parts to the sink, one batch per network read. While the sink is full, the socket
 * is not read. Resolves after the last batch. After an error of the reader or the connection, rejects once all decoded
 * parts are passed on. If `signal` aborts, rejects at once with its reason.
 */
export function exchange(
  dispatcher: Requests,
  request: Dispatcher.DispatchOptions,
  reader: ResponseReader,
  sink: ModelSink,
  signal: AbortSignal,
  linger = WIRE_BOUNDS.linger,
): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(reader, sink, signal, linger, resolve, reject));
  });
}

/**
 * ```
 * reading ──▶ ended ──▶ settled
 *   ▲ │ sink full         ▲
 *   │ ▼                   │ abort
 *  waiting ───────────────╯
 * ```
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #reader: ResponseReader;
  readonly #sink: ModelSink;
  readonly #signal: AbortSignal;
  readonly #linger: number;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #unpacker: Unpacker | undefined;
  #flushing = false;
  #waiting = false;
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #settled = false;
  #lingering: ReturnType<typeof setTimeout> | undefined;
  /** The connection's error, while earlier data is still being unpacked. */
  #broken: Error | undefined;

  constructor(
    reader: ResponseReader,
    sink: ModelSink,
    signal: AbortSignal,
    linger: number,
    resolve: () => void,
    reject: (reason: unknown) => void,
  ) {
    this.#reader = reader;
    this.#sink = sink;
    this.#signal = signal;
    this.#linger = linger;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) this.#hangUp();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#ended) return;
    this.#soon();
    if (status < 200) return;
    try {
      this.#reader.head(status, headers);
    } catch (reason) {
      this.#fail(reason);
      return;
    }
    const { codings } = this.#reader;
    if (codings.length === 0) return;
    this.#unpacker = new Unpacker(codings, {
      data: (bytes) => {
        this.#read(bytes);
        this.#soon();
      },
      end: () => this.#over(),
      failed: (cause) => this.#break(this.#broken ?? cause),
      room: () => {
        if (!this.#waiting) this.#controller?.resume();
      },
    });
  }

  // One read can hold many HTTP chunks. Decode each at once, and pass all parts on together after the read.
  onResponseData(controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.#ended) return;
    if (this.#unpacker === undefined) this.#read(bytes);
    else if (!this.#unpacker.write(bytes)) controller.pause();
    if (this.#flushing) return;
    this.#flushing = true;
    // biome-ignore lint/nursery/noFloatingPromises: `#flush` stores its error for the caller, and `.catch` would cost a promise per read.
    THROUGH.then(this.#flush);
  }

  onResponseEnd(): void {
    if (this.#ended) clearTimeout(this.#lingering);
    if (this.#unpacker) this.#unpacker.end();
    else this.#over();
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    if (this.#ended) return clearTimeout(this.#lingering);
    if (!this.#unpacker) return this.#break(cause);
    this.#broken = cause;
    this.#unpacker.end();
  }

  #over(): void {
    if (this.#broken) this.#break(this.#broken);
    else this.#end();
  }

  #break(cause: Error): void {
    if (this.#ended) return;
    if (this.#reader.answered) this.#end();
    else this.#fail(this.#reader.failed(cause, this.#controller !== undefined));
  }

  #read(bytes: Uint8Array): void {
    if (this.#ended) return;
    try {
      this.#reader.body(bytes);
    } catch (reason) {
      this.#fail(reason);
    }
  }

  #soon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    // biome-ignore lint/nursery/noFloatingPromises: `#flush` stores its error for the caller, and `.catch` would cost a promise per read.
    THROUGH.then(this.#flush);
  }

  readonly #abort = (): void => {
    if (this.#settled) return;
    clearTimeout(this.#lingering);
    this.#ended = true;
    this.#failure = { reason: this.#signal.reason };
    this.#settle();
    this.#hangUp();
  };

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#settled || this.#waiting) return;
    const answered = !this.#ended && this.#reader.answered;
    if (answered && this.#reader.done) {
      clearTimeout(this.#lingering);
      this.#lingering = setTimeout(() => this.#hangUp(), LINGER);
      this.#lingering.unref?.();
      this.#end();
      return;
    }
    try {
      const parts = this.#reader.take();
      // Push even an empty batch: received data of any kind is progress.
      const room = (this.#ended && parts.length === 0) || this.#sink.push(parts);
      if (!this.#ended) this.#awaitEnd(answered, parts.length > 0);
      if (this.#ended) this.#settle();
      else if (!room) this.#wait();
    } catch (reason) {
      this.#ended = true;
      this.#failure = { reason };
      this.#settle();
      this.#hangUp();
    }
  };

  #wait(): void {
    this.#waiting = true;
    this.#controller?.pause();
    this.#unpacker?.pause();
    const goOn = () => {
      this.#waiting = false;
      this.#flush();
      if (this.#waiting) return;
      this.#controller?.resume();
      this.#unpacker?.resume();
    };
    this.#sink.ready().then(goOn, (reason: unknown) => {
      this.#waiting = false;
      this.#fail(reason);
    });
  }

  /** Waits for the end of an answered response. Each part begins the wait again: some servers call each part the last. */
  #awaitEnd(answered: boolean, hasParts: boolean): void {
    if (this.#lingering !== undefined && (hasParts || !answered)) {
      clearTimeout(this.#lingering);
      this.#lingering = undefined;
    }
    if (answered) this.#lingering ??= setTimeout(() => this.#leave(), this.#linger);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      this.#reader.end();
    } catch (reason) {
      this.#failure = { reason };
    }
    this.#flush();
  }

  /** Closes the connection of a server that does not end its response. */
  #leave(): void {
    this.#end();
    this.#hangUp();
  }

  #fail(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = { reason };
    this.#flush();
    this.#hangUp();
  }

  #settle(): void {
    this.#settled = true;
    this.#unpacker?.destroy();
    this.#signal.removeEventListener("abort", this.#abort);
    if (this.#failure) this.#reject(this.#failure.reason);
    else this.#resolve();
  }

  #hangUp(): void {
    this.#controller?.abort(new Error("The caller does not need the answer any more."));
  }
}
