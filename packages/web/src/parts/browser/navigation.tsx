import { createId } from "@banyan/core/conversation";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { navigate, useLocationProperty } from "wouter/use-browser-location";
import { type PageView, pageAddress, readPageAddress } from "./address.ts";

/** How the user came to a view. Stored in the browser's history entry, not in the address. */
export interface Arrival {
  /** True if the leaf was the end of a branch. If the branch has grown since then, the page shows its new end. */
  readonly end?: boolean | undefined;
  readonly focus?: string | undefined;
}

/** An entry of the browser's history. Entries that the browser made, such as the first one, have no id. */
interface HistoryEntry extends Arrival {
  readonly id?: string | undefined;
}

type AddressValue = string | boolean | undefined;

/** Returns the view that the page shows now. */
export function currentView(): PageView {
  return readPageAddress(window.location);
}

function entry(): HistoryEntry {
  return (window.history.state as HistoryEntry | null) ?? {};
}

/** Returns a value from the address, read again with each navigation. */
export function usePageView<Read extends AddressValue>(read: (view: PageView) => Read): Read {
  return useLocationProperty(() => read(currentView()));
}

/** Returns a value of the current history entry. */
export function useEntry<Read extends AddressValue>(read: (entry: HistoryEntry) => Read): Read {
  return useLocationProperty(() => read(entry()));
}

/** Navigates within the page with a new history entry. An open panel stays open, unless `to` names another panel. */
export function goToView(to: PageView, { end, focus }: Arrival = {}): void {
  navigate(pageAddress(withPanel(to, currentView().panel)), { state: { id: createId(), end, focus } });
}

/** Changes the address of the current history entry. */
export function correct(to: PageView, { end, focus }: Arrival = entry()): void {
  navigate(pageAddress(to), { replace: true, state: { id: entry().id, end, focus } });
}

function withPanel(to: PageView, panel: PageView["panel"]): PageView {
  return "panel" in to ? to : { ...to, panel };
}

/** A link within the page. */
export function PageLink({ to, end, focus, ...rest }: PageLinkProps) {
  const panel = usePageView((view) => view.panel);
  return (
    <Link
      {...rest}
      href={pageAddress(withPanel(to, panel))}
      onClick={(event) => {
        event.preventDefault();
        goToView(to, { end, focus });
      }}
    />
  );
}

interface PageLinkProps extends Arrival {
  readonly to: PageView;
  readonly className?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ReactNode;
}
