import type { ChunkingContext, CodeSplittingGroup } from "rolldown";

/** Finding and opening a module takes Node as long as reading this number of characters. */
const SMALL = 20_000;

type Modules = Pick<ChunkingContext, "getModuleInfo">;

/** A part of a program that loads as a whole: a module, with all modules that it imports. */
interface Moment {
  readonly id: string;
  readonly needs: Set<string>;
}

/** Modules that the same moments need. */
interface Shared {
  readonly users: ReadonlySet<Moment>;
  readonly modules: string[];
}

/**
 * Groups the modules of a program by the moments that need them, so that a moment loads few files, and no code of others
 * except small pieces. The moments are the `entries`, and what the modules `starts` import on demand. What no moment
 * needs loads on demand, in files of its own. `entries` is asked when all modules are known.
 */
export function groupByMoments(entries: () => readonly string[], starts: readonly string[]): CodeSplittingGroup {
  let names: ReadonlyMap<string, string> | undefined;
  return {
    debugName: "moments",
    // A module needs only modules that all its moments need too, so no two groups need each other.
    includeDependenciesRecursively: false,
    name(id, context) {
      names ??= namesOf(momentsOf(entries(), starts, context), context);
      return names.get(id);
    },
  };
}

function momentsOf(entries: readonly string[], starts: readonly string[], context: Modules): Moment[] {
  const onDemand = starts.flatMap((id) => context.getModuleInfo(id)?.dynamicallyImportedIds ?? []);
  return [...new Set([...entries, ...onDemand])].map((id) => ({ id, needs: withImports([id], context) }));
}

/** Returns the name of the group of each module. An entry keeps the code that only itself needs. */
function namesOf(moments: readonly Moment[], context: Modules): Map<string, string> {
  while (joinSmall(moments, context));
  const names = new Map<string, string>();
  for (const [index, { users, modules }] of sharedBy(moments).entries()) {
    const [only, other] = users;
    if (other === undefined && only && context.getModuleInfo(only.id)?.isEntry) continue;
    for (const id of modules) names.set(id, `start~${index}`);
  }
  return names;
}

/** Lets a moment load a small piece that it does not need, if this saves others a file. Returns whether one was found. */
function joinSmall(moments: readonly Moment[], context: Modules): boolean {
  const all = sharedBy(moments);
  for (const { users, modules } of all) {
    if (users.size === 1 || sizeOf(modules, context) >= SMALL) continue;
    const piece = withImports(modules, context);
    const canJoin = all
      .filter((larger) => larger.users.size > users.size && users.isSubsetOf(larger.users))
      .sort((a, b) => a.users.size - b.users.size)
      .find(({ users }) => [...users].every(({ needs }) => sizeOf(piece.difference(needs), context) < SMALL));
    if (!canJoin) continue;
    for (const { needs } of canJoin.users) for (const id of piece) needs.add(id);
    return true;
  }
  return false;
}

function sharedBy(moments: readonly Moment[]): Shared[] {
  const groups = new Map<string, Shared>();
  for (const id of new Set(moments.flatMap(({ needs }) => [...needs]))) {
    const users = new Set(moments.filter(({ needs }) => needs.has(id)));
    const key = [...users].map((user) => user.id).join();
    const group = groups.get(key) ?? { users, modules: [] };
    group.modules.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function sizeOf(modules: Iterable<string>, context: Modules): number {
  return [...modules].reduce((sum, id) => sum + (context.getModuleInfo(id)?.code?.length ?? 0), 0);
}

function withImports(ids: readonly string[], context: Modules): Set<string> {
  const found = new Set(ids);
  // A set also visits what is added meanwhile.
  for (const id of found) for (const other of context.getModuleInfo(id)?.importedIds ?? []) found.add(other);
  return found;
}
