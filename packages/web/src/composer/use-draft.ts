import { type Dispatch, type SetStateAction, useEffect, useState } from "react";

/** What a person has begun to write in a conversation; it is there again after a reload (W43). */
export function useDraft(conversation: string): readonly [string, Dispatch<SetStateAction<string>>] {
  const key = `draft ${conversation}`;
  const [text, setText] = useState(() => localStorage.getItem(key) ?? "");
  useEffect(() => {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  }, [key, text]);
  return [text, setText];
}
