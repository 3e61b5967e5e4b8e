import { ServiceError } from "../lib/errors.ts";
import { createPlaces } from "../lib/waiters.ts";
import type { BatchItemEvidence, BatchItems, Evidence } from "../subjects/product.ts";
import { APART, type Call, evidenceOf } from "./call.ts";
import type { Journal } from "./journal.ts";

/** Evidence while it is used. */
export type HeldEvidence = Disposable & { readonly evidence: Evidence };
/** The evidence that a bundle is made of, with the items of a batch. */
type HeldWhole = HeldEvidence & { readonly items: BatchItems };

/** Calls whose large evidence, or the bundle of it, is in memory at a time. */
const LARGE_AT_A_TIME = 2;
/** Bytes of items that are read at once. */
const PIECE = 64 * 1024;

/**
 * The evidence of calls for their effects. What stands apart from the row is read when it is needed, for a few calls at a time, and
 * the items of a batch one piece after the other: a hundred batches that are carried on after a restart would otherwise fill the memory.
 */
export function createEvidence(journal: Pick<Journal, "evidenceOf" | "evidenceItemsOf">) {
  const places = createPlaces(LARGE_AT_A_TIME);

  async function* itemsOf(key: string, size: number): AsyncGenerator<BatchItemEvidence> {
    for (let place = 0; place < size; ) {
      const items = await journal.evidenceItemsOf(key, place, PIECE);
      if (items.length === 0) throw lacking(key);
      yield* items;
      place += items.length;
    }
  }

  async function apart(key: string): Promise<Evidence> {
    const evidence = await journal.evidenceOf(key);
    if (!evidence) throw lacking(key);
    return evidence;
  }

  /** Holds a place until it is disposed of. */
  async function held<T extends object>(stop: AbortSignal, read: () => Promise<T>): Promise<T & Disposable> {
    const leave = await places.enter(stop);
    let isOver = false;
    const end = () => {
      if (!isOver) leave();
      isOver = true;
    };
    try {
      return { ...(await read()), [Symbol.dispose]: end };
    } catch (error) {
      end();
      throw error;
    }
  }

  async function of(call: Call, stop: AbortSignal): Promise<HeldEvidence> {
    if (call.evidence === APART) return held(stop, async () => ({ evidence: await apart(call.key) }));
    return { evidence: evidenceOf(call), [Symbol.dispose]: () => undefined };
  }

  return {
    /** What a note needs. @returns to be disposed of when nothing of it is in use. @throws call_held_up for a call that is final */
    of,

    /** As `of`, with the items of a batch. */
    async wholeOf(call: Call, stop: AbortSignal): Promise<HeldWhole> {
      const { key, evidence } = call;
      if (evidence && evidence !== APART && evidence.kind === "batch") {
        const { size, items } = evidence;
        if (items) return { evidence, items, [Symbol.dispose]: () => undefined };
        return held(stop, async () => ({ evidence, items: { [Symbol.asyncIterator]: () => itemsOf(key, size) } }));
      }
      return { items: [], ...(await of(call, stop)) };
    },
  };
}

function lacking(key: string): ServiceError {
  return new ServiceError("call_held_up", `the journal has no evidence of ${key}`);
}
