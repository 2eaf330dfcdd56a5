import { sep } from "node:path";

/** Whether a path is this place or lies in it. Both are absolute. */
export function isWithin(place: string, path: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);
}
