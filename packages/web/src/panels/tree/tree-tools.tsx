import { Button } from "../../parts/design/button.tsx";
import { TextField } from "../../parts/design/field.tsx";
import { useMay } from "../../parts/page/use-may.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";

/** The search field, the filters, and the button that returns from a part of the tree to the whole tree. */
export function TreeTools({
  query,
  onQuery,
  onJump,
  hits,
  isOnlyBranch,
  onOnlyBranch,
  onlyStarred,
  onOnlyStarred,
  onWhole,
}: {
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly onJump: () => void;
  readonly hits: number;
  readonly isOnlyBranch: boolean;
  readonly onOnlyBranch: (isOn: boolean) => void;
  readonly onlyStarred: boolean;
  readonly onOnlyStarred: (isOn: boolean) => void;
  readonly onWhole?: () => void;
}) {
  const may = useMay();
  return (
    // Covers parts of the map that overflow its edge, also for tools that measure distances between targets.
    <search className="relative z-1 flex flex-col gap-1 border-hair border-b p-2 text-sm">
      {may("conversation.search") && (
        <TextField
          type="search"
          value={query}
          onChange={({ target }) => onQuery(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") onJump();
          }}
          placeholder={t("Search this conversation")}
          aria-label={t("Search this conversation")}
        />
      )}
      <p role="status" className={query.trim() === "" ? "sr-only" : "text-soft text-xs"}>
        {query.trim() === ""
          ? ""
          : tCount(hits, "{count} message found; Enter shows the next", "{count} messages found; Enter shows the next")}
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-soft text-xs">
        <Switch name={t("This branch only")} isOn={isOnlyBranch} onChange={onOnlyBranch} />
        <Switch name={t("Starred only")} isOn={onlyStarred} onChange={onOnlyStarred} />
        {onWhole && (
          <Button isSmall onClick={onWhole}>
            {t("Back to the full tree")}
          </Button>
        )}
      </div>
    </search>
  );
}

function Switch({
  name,
  isOn,
  onChange,
}: {
  readonly name: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="flex min-h-6 items-center gap-1">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
        className="size-4 accent-leaf"
      />
      {name}
    </label>
  );
}
