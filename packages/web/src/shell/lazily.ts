import { type ComponentType, lazy } from "react";

/** Milliseconds before each further try. */
const PAUSES = [250, 1_000, 2_000, 4_000];

interface Module<Part> {
  readonly default: Part;
}

/**
 * A part of the page that is loaded when it is first shown, or `ahead` of that: then it is drawn at once, with nothing in its
 * place before. On a bad link it may take several tries until it has come.
 */
// biome-ignore lint/suspicious/noExplicitAny: as `lazy` itself has it, for any properties.
export function lazily<Part extends ComponentType<any>>(load: () => Promise<Module<Part>>) {
  let coming: Promise<Module<Part>> | undefined;
  let there: Module<Part> | undefined;
  const come = async () => {
    there = await patiently(load);
    return there;
  };
  const ahead = () => {
    coming ??= come().catch((error: unknown) => {
      // What did not come ahead of its time may come when it is shown.
      coming = undefined;
      throw error;
    });
    return coming;
  };
  // `lazy` takes what a thenable says in the same tick, which a promise never does.
  // biome-ignore lint/suspicious/noThenProperty: that is what a thenable is.
  const atOnce = (module: Module<Part>) => ({ then: (take: (module: Module<Part>) => void) => take(module) });
  return Object.assign(
    lazy(() => (there ? (atOnce(there) as Promise<Module<Part>>) : ahead())),
    { ahead },
  );
}

async function patiently<T>(load: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await load();
    } catch {
      // The connection was cut, as a rule; the last try tells what else it is.
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return load();
}
