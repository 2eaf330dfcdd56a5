import { useEffect, useState } from "react";
import { usePage, usePageState } from "../page.ts";

/** Milliseconds without a connection before anybody is told: most losses are over by then (W25: within 5 s). */
const QUIET = 1_500;

/** Says that the connection is lost, or refused; nothing otherwise. */
export function ConnectionBanner() {
  const state = usePageState(({ connection }) => connection);
  const page = usePage();
  const [told, setTold] = useState(false);
  useEffect(() => {
    setTold(false);
    if (state.phase !== "lost") return;
    const timer = setTimeout(() => setTold(true), QUIET);
    return () => clearTimeout(timer);
  }, [state]);
  if (state.phase === "refused") {
    return (
      <p role="alert" className="bg-bad-ground px-4 py-2 text-bad text-sm">
        {state.message}
      </p>
    );
  }
  if (!told) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 bg-warn-ground px-4 py-2 text-sm text-warn">
      <span>The connection to the server is lost. What you write is kept, and is sent when it is back.</span>
      <button type="button" onClick={() => page.connection.retry()} className="rounded border border-warn px-2 py-0.5">
        Try now
      </button>
    </div>
  );
}
