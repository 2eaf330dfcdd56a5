import { Fragment, type ReactNode } from "react";
import { t } from "./phrases.ts";

/** Translates a phrase whose placeholders are elements, in the order of the language. */
export function tParts(phrase: string, parts: Readonly<Record<string, ReactNode>>): ReactNode {
  const [first, ...rest] = t(phrase).split(/\{(\w+)\}/);
  return (
    <>
      {first}
      {rest.map((piece, index) => (index % 2 === 0 ? <Fragment key={piece}>{parts[piece]}</Fragment> : piece))}
    </>
  );
}
