import type { Database } from "./database.ts";
import { Doorbell, type DoorbellListener } from "./doorbell.ts";
import type { StoreNode } from "./node.ts";
import type { Columns, Statement } from "./statement.ts";

/** Maximum resumptions of a conversation whose owners died. */
const DRIVES = 3;

/** A node of a shared database, for lists. See {@link SharedDatabase}. */
export interface NodeEntry {
  readonly id: string;
  readonly program: string;
  readonly process: number;
  readonly host: string;
  readonly address: string | undefined;
  readonly machine: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds left of the lease by the database's clock; negative after its end. */
  readonly lease: number;
  /** Number of open conversations. */
  readonly conversations: number;
}

/** A conversation that a node has open, for lists. See {@link SharedDatabase}. */
export interface LeasedConversation {
  readonly id: string;
  readonly title: string;
}

/** The living node that has a conversation open. See {@link SharedDatabase}. */
export interface ConversationOwner {
  readonly node: string;
  /** True if the owner is this node. */
  readonly isHere: boolean;
  readonly address: string | undefined;
}

/** The number of runs of a conversation, with sub-agents, and of questions that wait for a user. */
export interface StoredActivity {
  readonly running: number;
  readonly waiting: number;
}

/** A request from another node that waits for the owner of a conversation. See {@link SharedDatabase}. */
export interface ForwardedCommand {
  readonly id: string;
  readonly conversation: string;
  readonly body: string;
}

/**
 * Communication between the nodes of a shared database. All methods reject with a `StoreError`.
 * @example
 * const { shared } = await postgresStore("postgres://127.0.0.1/banyan");
 * await shared.begin("http://10.0.0.7:4870");
 * const owner = await shared.ownerOf("garden");
 */
export class SharedDatabase {
  readonly #database: Database;
  readonly #node: StoreNode;
  readonly #machine: string | null;
  readonly #doorbell: Doorbell;
  readonly #hearers = new Set<DoorbellListener>();

  /** `machine`: the label of conversations that only this machine may open. */
  constructor(database: Database, node: StoreNode, machine: string | null) {
    this.#database = database;
    this.#node = node;
    this.#machine = machine;
    this.#doorbell = new Doorbell(database, {
      node: node.id,
      hearing: (conversations) => {
        for (const hearer of this.#hearers) hearer(conversations);
      },
    });
  }

  /** Publishes this node with its address. */
  begin(address: string): Promise<void> {
    return this.#node.reachedAt(address);
  }

  /** Calls `hearing` with conversations that may have new events or requests. Returns a function that unsubscribes. */
  listen(hearing: DoorbellListener): () => void {
    this.#hearers.add(hearing);
    return () => this.#hearers.delete(hearing);
  }

  /** Notifies other nodes that a conversation has new events. */
  ring(conversation: string): void {
    this.#doorbell.ring(conversation);
  }

  async ownerOf(conversation: string): Promise<ConversationOwner | undefined> {
    const [row] = await this.#database.ask(OWNER, [conversation]);
    if (!row) return undefined;
    const [node, address] = row;
    return { node: String(node), isHere: node === this.#node.id, address: textOrNothing(address) };
  }

  /** Publishes the activity of an open conversation, for lists on other nodes. */
  async tell(conversation: string, { running, waiting }: StoredActivity): Promise<void> {
    await this.#database.ask(TELL, [conversation, this.#node.id, running, waiting]);
    this.ring(conversation);
  }

  /** Returns the activity of conversations on other nodes, without inactive ones. */
  async activities(): Promise<ReadonlyMap<string, StoredActivity>> {
    const rows = await this.#database.ask(ACTIVITIES, [this.#node.id]);
    return new Map(
      rows.map(([id, running, waiting]) => [String(id), { running: Number(running), waiting: Number(waiting) }]),
    );
  }

  /** Ends the leases of a node that does not answer. A living node renews the leases of untaken conversations. */
  async ends(node: string): Promise<void> {
    await this.#database.ask(ENDS, [node]);
  }

  /** Returns the conversations that another node took from this node. */
  async overtaken(conversations: readonly string[]): Promise<string[]> {
    if (conversations.length === 0) return [];
    const rows = await this.#database.ask(OVERTAKEN, [conversations, this.#node.id]);
    return rows.map(([conversation]) => String(conversation));
  }

  /** Sends a request to the owner of a conversation. A repeated id has no effect. */
  async ask(id: string, conversation: string, body: string): Promise<void> {
    await this.#database.ask(ASK, [id, conversation, body]);
    this.ring(conversation);
  }

  /** Returns the outcome of a request; undefined while it waits. */
  async outcomeOf(id: string): Promise<string | undefined> {
    const [row] = await this.#database.ask(OUTCOME, [id]);
    return textOrNothing(row?.[0]);
  }

  /** Returns the requests for these conversations, oldest first. */
  async waiting(conversations: readonly string[]): Promise<ForwardedCommand[]> {
    if (conversations.length === 0) return [];
    const rows = await this.#database.ask(WAITING, [conversations]);
    return rows.map(([id, conversation, body]) => {
      return { id: String(id), conversation: String(conversation), body: String(body) };
    });
  }

  /** Stores the outcome of a request. A second outcome has no effect. */
  async answer(id: string, conversation: string, outcome: string): Promise<void> {
    await this.#database.ask(ANSWER, [id, outcome]);
    this.ring(conversation);
  }

  /** Conversations for this machine whose owner died; with `takesWaiting`, also those with requests and no owner. */
  async left(
    limit: number,
    { takesWaiting, except }: { readonly takesWaiting: boolean; readonly except: readonly string[] },
  ): Promise<string[]> {
    const rows = await this.#database.ask(LEFT, [this.#machine, DRIVES, limit, except, takesWaiting]);
    return rows.map(([conversation]) => String(conversation));
  }

  /** Counts a resumption of a conversation. Returns false after several dead owners: then a user must decide. */
  async drive(conversation: string): Promise<boolean> {
    return (await this.#database.ask(DRIVE, [conversation, DRIVES])).length > 0;
  }

  /** Returns the nodes that were seen within a day, living nodes first. */
  async nodes(): Promise<NodeEntry[]> {
    return (await this.#database.ask(NODES)).map(nodeEntry);
  }

  /** Returns the open conversations of a node, last written first. */
  async openAt(node: string): Promise<LeasedConversation[]> {
    const open = await this.#database.ask(OPEN_AT, [node]);
    return open.map(([id, title]) => ({ id: String(id), title: String(title) }));
  }

  /** Returns whether the database answers now, without waiting. */
  async isReady(): Promise<boolean> {
    try {
      await this.#database.once({ text: "SELECT 1" });
      return true;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    this.#hearers.clear();
    return this.#doorbell.close();
  }
}

function nodeEntry([id, program, process, host, address, machine, since, lease, conversations]: Columns): NodeEntry {
  return {
    id: String(id),
    program: String(program),
    process: Number(process),
    host: String(host),
    address: textOrNothing(address),
    machine: textOrNothing(machine),
    since: Number(since),
    lease: Number(lease),
    conversations: Number(conversations),
  };
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

const OWNER: Statement = {
  name: "owner",
  text: `
  SELECT n.id, n.address FROM banyan.conversations AS c JOIN banyan.nodes AS n ON n.id = c.owner
  WHERE c.id = $1 AND n.lease_until > now()`,
};

const TELL: Statement = {
  name: "tell",
  text: "UPDATE banyan.conversations SET running = $3, waiting = $4 WHERE id = $1 AND owner = $2",
};

const ACTIVITIES: Statement = {
  name: "activities",
  text: `
  SELECT c.id, c.running, c.waiting FROM banyan.conversations AS c JOIN banyan.nodes AS n ON n.id = c.owner
  WHERE n.id <> $1 AND n.lease_until > now() AND (c.running > 0 OR c.waiting > 0)`,
};

const ENDS: Statement = { text: "UPDATE banyan.nodes SET lease_until = now() WHERE id = $1 AND lease_until > now()" };

const OVERTAKEN: Statement = {
  name: "overtaken",
  text: "SELECT id FROM banyan.conversations WHERE id = ANY($1::text[]) AND owner <> $2",
};

/** Also removes outcomes older than an hour, for which no requester waits. */
const ASK: Statement = {
  text: `
  WITH forgotten AS (
    DELETE FROM banyan.inbox WHERE outcome IS NOT NULL AND at < now() - interval '1 hour'
  )
  INSERT INTO banyan.inbox (id, conversation, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
};

const OUTCOME: Statement = { name: "outcome", text: "SELECT outcome FROM banyan.inbox WHERE id = $1" };

const WAITING: Statement = {
  name: "waiting",
  text: "SELECT id, conversation, body FROM banyan.inbox WHERE conversation = ANY($1::text[]) AND outcome IS NULL ORDER BY number",
};

const ANSWER: Statement = {
  text: "UPDATE banyan.inbox SET outcome = $2, at = now() WHERE id = $1 AND outcome IS NULL",
};

const LEFT: Statement = {
  text: `
  SELECT c.id FROM banyan.conversations AS c
  WHERE (c.owner IS NOT NULL OR $5::boolean AND EXISTS (
      SELECT FROM banyan.inbox AS i WHERE i.conversation = c.id AND i.outcome IS NULL))
    AND NOT EXISTS (SELECT FROM banyan.nodes AS n WHERE n.id = c.owner AND n.lease_until > now())
    AND ($1::text IS NULL OR c.labels @> ARRAY[$1::text]
      OR NOT EXISTS (SELECT FROM unnest(c.labels) AS label WHERE label LIKE '["machine",%'))
    AND c.drives < $2 AND c.id <> ALL($4::text[])
  ORDER BY c.updated LIMIT $3`,
};

const DRIVE: Statement = {
  text: "UPDATE banyan.conversations SET drives = drives + 1 WHERE id = $1 AND drives < $2 RETURNING drives",
};

const OPEN_AT: Statement = {
  text: "SELECT id, title FROM banyan.conversations WHERE owner = $1 ORDER BY updated DESC, number DESC",
};

const NODES: Statement = {
  text: `
  SELECT n.id, n.program, n.process, n.host, n.address, n.machine, (extract(epoch FROM n.since) * 1000)::bigint,
    (extract(epoch FROM n.lease_until - now()) * 1000)::bigint,
    (SELECT count(*) FROM banyan.conversations AS c WHERE c.owner = n.id)
  FROM banyan.nodes AS n ORDER BY n.lease_until < now(), n.since, n.id`,
};
