import type { ClientError } from "@banyan/client";
import { KnownModels } from "./options.ts";
import type { AcpPlace, OpenPlace, Where } from "./place.ts";

/** A place with what is known of its models. */
export interface OpenedPlace {
  readonly place: AcpPlace;
  readonly models: KnownModels;
}

/** What places tell. */
export interface PlacesEvents {
  /** What sessions can choose among may be something else now. */
  changed(): void;
  /** Nobody can be asked there any more. */
  gone(place: AcpPlace, error: ClientError): void;
}

/** The places of an editor's sessions: one for each directory with the servers that the editor brings there. */
export class OpenPlaces {
  readonly #open: OpenPlace;
  readonly #events: PlacesEvents;
  readonly #opened = new Map<string, Promise<OpenedPlace>>();

  constructor(open: OpenPlace, events: PlacesEvents) {
    this.#open = open;
    this.#events = events;
  }

  /** The place, opened once, and again after it failed. Rejects as `open` does. */
  at(where: Where): Promise<OpenedPlace> {
    const key = JSON.stringify([where.cwd, where.servers]);
    const known = this.#opened.get(key);
    if (known) return known;
    const opening = this.#begin(where);
    this.#opened.set(key, opening);
    opening.catch(() => this.#opened.delete(key));
    return opening;
  }

  async #begin(where: Where): Promise<OpenedPlace> {
    let place: AcpPlace | undefined;
    const opened = await this.#open(where, {
      changed: (state) => {
        if (state.phase === "gone" && place) this.#events.gone(place, state.error);
        if (state.phase === "open") this.#events.changed();
      },
    });
    place = opened;
    const models = new KnownModels(opened.client);
    // No session waits for a list: it is told when it is there.
    models.known().then(
      () => this.#events.changed(),
      () => {},
    );
    return { place: opened, models };
  }
}
