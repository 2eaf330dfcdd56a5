import { type ComponentType, lazy } from "react";

const PAUSES = [250, 1_000, 2_000, 4_000];

interface Module<Part> {
  readonly default: Part;
}

/**
 * Returns a part of the page that loads when it is first shown, or earlier by `ahead`. A loaded part renders at once,
 * without a placeholder. On a bad network, loading takes several attempts.
 */
// biome-ignore lint/suspicious/noExplicitAny: any properties, as in the type of `lazy`.
export function lazily<Part extends ComponentType<any>>(load: () => Promise<Module<Part>>) {
  let coming: Promise<Module<Part>> | undefined;
  let there: Module<Part> | undefined;
  const come = async () => {
    there = await patiently(load);
    return there;
  };
  const ahead = () => {
    coming ??= come().catch((error: unknown) => {
      // A failed preload is tried again when the part is shown.
      coming = undefined;
      throw error;
    });
    return coming;
  };
  // `lazy` reads a thenable in the same tick; a promise resolves later.
  // biome-ignore lint/suspicious/noThenProperty: this object must be a thenable.
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
      // Usually a lost connection; the last attempt reports any other error.
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return load();
}
