/** Milliseconds that two clocks may differ and count as the same: answers of a database take their time. */
const AGREED = 1_000;

/**
 * The time by which all machines stamp what they write to one database: each its own clock, as long as that agrees with the
 * database's, and the database's otherwise. A machine whose clock is an hour off would else have its conversations at the head of
 * every list for an hour, or at the end of it, and the events of one that moves to another machine would go back in time.
 *
 * The database is asked anyway, with each renewal of the lease. Its clock was read between the question and the answer, and when is
 * not known: with a busy network, or a process that slept meanwhile, that is seconds. So only a difference that no delay explains counts.
 */
export class SharedClock {
  /** Milliseconds by which this machine's clock is behind. */
  #behind = 0;

  /** In milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#behind;
  }

  /** The database said what time it has, between `asked` and `answered` by the clock of this machine. */
  compare(database: number, asked: number, answered = Date.now()): void {
    const [least, most] = [database - answered, database - asked];
    const fits = (behind: number) => least - AGREED <= behind && behind <= most + AGREED;
    if (!fits(this.#behind)) this.#behind = fits(0) ? 0 : Math.round((least + most) / 2);
  }
}
