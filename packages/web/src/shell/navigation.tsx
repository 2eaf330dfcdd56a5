import { createId } from "@banyan/core/conversation";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { navigate, useLocationProperty } from "wouter/use-browser-location";
import { addressOf, type Place, placeIn } from "./address.ts";

/** How one comes to a place. The browser keeps it with the entry of its history, not in the address. */
export interface Arrival {
  /** The leaf is the end of a branch: where the branch has grown since, its new end is shown. */
  readonly end?: boolean | undefined;
  /** A message that has the focus once it is shown. */
  readonly focus?: string | undefined;
}

/** An entry of the browser's history. Those that the browser made itself, as for the first address, have no id. */
interface Entry extends Arrival {
  readonly id?: string | undefined;
}

type Value = string | boolean | undefined;

/** Where the person is now. */
export function here(): Place {
  return placeIn(window.location);
}

function entry(): Entry {
  return (window.history.state as Entry | null) ?? {};
}

/** What is read of the place in view, and again with each navigation. */
export function usePlace<Read extends Value>(read: (place: Place) => Read): Read {
  return useLocationProperty(() => read(here()));
}

/** What is read of the entry of the browser's history in view. */
export function useEntry<Read extends Value>(read: (entry: Entry) => Read): Read {
  return useLocationProperty(() => read(entry()));
}

/** Goes to a place: as a new entry of the browser's history. A panel that is open stays open, unless the place says which. */
export function go(to: Place, { end, focus }: Arrival = {}): void {
  navigate(addressOf(withPanel(to, here().panel)), { state: { id: createId(), end, focus } });
}

/** Says more exactly where the person is, in the entry of the browser's history that is there. */
export function correct(to: Place, { end, focus }: Arrival = entry()): void {
  navigate(addressOf(to), { replace: true, state: { id: entry().id, end, focus } });
}

function withPanel(to: Place, panel: Place["panel"]): Place {
  return "panel" in to ? to : { ...to, panel };
}

/** A link to a place of the page. */
export function PlaceLink({ to, end, focus, ...rest }: PlaceLinkProps) {
  const panel = usePlace((place) => place.panel);
  return (
    <Link
      {...rest}
      href={addressOf(withPanel(to, panel))}
      onClick={(event) => {
        event.preventDefault();
        go(to, { end, focus });
      }}
    />
  );
}

interface PlaceLinkProps extends Arrival {
  readonly to: Place;
  readonly className?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ReactNode;
}
