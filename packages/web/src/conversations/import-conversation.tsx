import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Button } from "../design/button.tsx";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";

/** Makes a conversation of an exported file, and shows it (W46). */
export function ImportConversation() {
  const { connection } = usePage();
  const navigate = useNavigate();
  const chooser = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  if (!useMay()("conversation.import")) return null;
  const read = async (file: File) => {
    const imported = await connection.ask("conversation.import", { text: await file.text() });
    await navigate({ to: "/c/$conversation", params: imported });
  };
  return (
    <>
      <Button isSmall look="quiet" onClick={() => chooser.current?.click()}>
        {t("Import")}
      </Button>
      <input
        ref={chooser}
        type="file"
        accept="application/json,.json"
        aria-label={t("A conversation to import")}
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          target.value = "";
          setProblem(undefined);
          if (file)
            read(file).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
        }}
      />
      {problem !== undefined && (
        <p role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
    </>
  );
}
