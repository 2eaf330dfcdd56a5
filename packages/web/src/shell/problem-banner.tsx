import { usePage, usePageState } from "../page.ts";

/** Says why what a person asked for did not come about, until they have read it or ask for something else. */
export function ProblemBanner() {
  const { store } = usePage();
  const problem = usePageState((state) => state.problem);
  if (problem === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-bad-ground px-4 py-2 text-bad text-sm">
      <span role="alert">{problem}</span>
      <button
        type="button"
        onClick={() => store.setState({ problem: undefined })}
        className="min-h-6 rounded border border-bad px-2 py-0.5"
      >
        Close
      </button>
    </div>
  );
}
