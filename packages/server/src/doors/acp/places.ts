import type { ClientError } from "@banyan/client";
import { KnownModels } from "./options.ts";
import type { AcpPlace, OpenPlace, SessionLocation } from "./place.ts";

/** The connection for the sessions of one directory, with its models. */
export interface OpenedPlace {
  readonly place: AcpPlace;
  readonly models: KnownModels;
}

export interface PlacesEvents {
  /** The choices of sessions may have changed. */
  changed(): void;
  /** The connection to a place has ended for good. */
  gone(place: AcpPlace, error: ClientError): void;
}

/** The places of an editor's sessions: one per directory and set of editor-provided MCP servers. */
export class OpenPlaces {
  readonly #open: OpenPlace;
  readonly #events: PlacesEvents;
  readonly #opened = new Map<string, Promise<OpenedPlace>>();

  constructor(open: OpenPlace, events: PlacesEvents) {
    this.#open = open;
    this.#events = events;
  }

  /** Opens a place once, and again after a failure. Rejects like `open`. */
  at(where: SessionLocation): Promise<OpenedPlace> {
    const key = JSON.stringify([where.cwd, where.servers]);
    const known = this.#opened.get(key);
    if (known) return known;
    const opening = this.#begin(where);
    this.#opened.set(key, opening);
    opening.catch(() => this.#opened.delete(key));
    return opening;
  }

  async #begin(where: SessionLocation): Promise<OpenedPlace> {
    let place: AcpPlace | undefined;
    const opened = await this.#open(where, {
      changed: (state) => {
        if (state.phase === "gone" && place) this.#events.gone(place, state.error);
        if (state.phase === "open") this.#events.changed();
      },
    });
    place = opened;
    const models = new KnownModels(opened.client);
    // Sessions do not wait for the models: they get the list when it is there.
    models.known().then(
      () => this.#events.changed(),
      () => {},
    );
    return { place: opened, models };
  }
}
