type Entry<T> = { at: number; order: number; item: T };

/** What is due at a time, soonest first; of the same time, what came first (a binary heap). */
export class Timers<T> {
  readonly #heap: Entry<T>[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** The time of the soonest; Infinity when there is none. */
  get soonest(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, item: T): void {
    const heap = this.#heap;
    const entry = { at, order: this.#order++, item };
    let place = heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above] as Entry<T>;
      if (!isSooner(entry, parent)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = entry;
  }

  /** Takes the soonest out. */
  take(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (first !== last) this.#sink(last);
    return first.item;
  }

  #sink(entry: Entry<T>): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isSooner(heap[below + 1] as Entry<T>, heap[below] as Entry<T>)) below += 1;
      const child = heap[below] as Entry<T>;
      if (!isSooner(child, entry)) break;
      heap[place] = child;
      place = below;
    }
    heap[place] = entry;
  }
}

function isSooner<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
