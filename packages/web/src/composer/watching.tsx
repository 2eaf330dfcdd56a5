import { TurnWait, useTurnWait } from "./turn-wait.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** What stands where one would write, for whoever may only watch. */
export function Watching() {
  return (
    <section aria-label="You are watching" className="border-hair border-t bg-ground py-3">
      <div className="mx-auto flex max-w-3xl flex-col gap-2 px-4 text-soft text-sm">
        <TurnWait waiting={useTurnWait()} />
        <WaitingList run={undefined} />
        <p>You are watching: you see what happens here, and others write and decide.</p>
      </div>
    </section>
  );
}
