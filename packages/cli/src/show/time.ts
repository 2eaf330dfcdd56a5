/** `2026-08-14 09:05`: a moment as the clock on the wall has it. */
export function formatTime(at: number): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
