import type { ClientError } from "@banyan/client";
import { KnownModels } from "./options.ts";
import type { AcpWorkspace, AcpWorkspaceOpener, SessionLocation } from "./workspace.ts";

/** The connection for the sessions of one directory, with its models. */
export interface OpenedWorkspace {
  readonly workspace: AcpWorkspace;
  readonly models: KnownModels;
}

export interface WorkspacesEvents {
  /** The choices of sessions may have changed. */
  changed(): void;
  /** The connection to a workspace has ended for good. */
  gone(workspace: AcpWorkspace, error: ClientError): void;
}

/** The workspaces of an editor's sessions: one per directory and set of editor-provided MCP servers. */
export class AcpWorkspaces {
  readonly #open: AcpWorkspaceOpener;
  readonly #events: WorkspacesEvents;
  readonly #opened = new Map<string, Promise<OpenedWorkspace>>();

  constructor(open: AcpWorkspaceOpener, events: WorkspacesEvents) {
    this.#open = open;
    this.#events = events;
  }

  /** Opens a workspace once, and again after a failure. Rejects like `open`. */
  at(where: SessionLocation): Promise<OpenedWorkspace> {
    const key = JSON.stringify([where.cwd, where.servers]);
    const known = this.#opened.get(key);
    if (known) return known;
    const opening = this.#begin(where);
    this.#opened.set(key, opening);
    opening.catch(() => this.#opened.delete(key));
    return opening;
  }

  async #begin(where: SessionLocation): Promise<OpenedWorkspace> {
    let workspace: AcpWorkspace | undefined;
    const opened = await this.#open(where, {
      changed: (state) => {
        if (state.phase === "gone" && workspace) this.#events.gone(workspace, state.error);
        if (state.phase === "open") this.#events.changed();
      },
    });
    workspace = opened;
    const models = new KnownModels(opened.client);
    // Sessions do not wait for the models: they get the list when it is there.
    models.known().then(
      () => this.#events.changed(),
      () => {},
    );
    return { workspace: opened, models };
  }
}
