import { currentContext } from "../observe/tracing/context.ts";
import { AFTER_ITEMS, beforeItem, withHead } from "../subjects/batch-answer.ts";
import type { KeptBundle } from "./call.ts";
import type { Journal } from "./journal.ts";
import type { UnderWay } from "./under-way.ts";

export type Pieces = AsyncGenerator<string, void, undefined>;

/** A text that is read piece by piece. */
export type LongText = {
  /** The id of the bundle. */
  id: string;
  bytes: number;
  /** The whole text, one piece after the other; each is read when it is asked for. MUST be read to its end or returned. */
  pieces(): Pieces;
  /** Of a batch: each item with its head, as bundles that need no other. */
  items?(): Pieces;
  /** All of it, which counts as under way until the request of the context is answered. @throws Problem `over_capacity` */
  whole(): Promise<string>;
};

/** What was delivered: at hand, or too long for that. */
export type DeliveredText = string | LongText;

/** A delivered bundle that was found, and not read yet. */
export type FoundBundle = { id: string; bytes: number; open(): Promise<DeliveredText> };

/** Bytes that are read at once, and that such a piece may take: one item may be longer. */
const PIECE = 64 * 1024;
const MAX_PIECE = 4 * PIECE;
/** How often a text is in memory that becomes part of a message: as text, as values, and as the message in several forms. */
const COPIES = 8;

export type Bundles = ReturnType<typeof createBundles>;

/** Reads delivered bundles for those who ask for them. */
export function createBundles(journal: Pick<Journal, "stored" | "bodyOf" | "partsOf">, underWay: UnderWay) {
  return {
    /** Finds a bundle by its id, or by that of a batch's item, without reading it. */
    async find(id: string): Promise<FoundBundle | undefined> {
      const found = await journal.stored(id);
      if (!found) return undefined;
      const { bundleId, bytes, place, parts } = found;
      return {
        id,
        bytes,
        async open() {
          if (place !== null) return longText(id, bytes, (isHeld) => itemAt(bundleId, place, isHeld));
          const body = await journal.bodyOf(bundleId);
          return of({ id, ...(body !== undefined && { body }), ...(parts > 0 && { apart: { parts, bytes } }) });
        },
      };
    },
    of,
  };

  /** The text of a bundle as its row has it. */
  function of({ id, body, apart }: KeptBundle): DeliveredText {
    if (!apart) {
      if (body === undefined) throw new Error(`the row of the bundle ${id} has neither text nor parts`);
      return body;
    }
    const { parts, bytes } = apart;
    if (body === undefined) return longText(id, bytes, (isHeld) => joined(id, parts, isHeld));
    return { ...longText(id, bytes, (isHeld) => answer(id, body, parts, isHeld)), items: () => items(id, body, parts) };
  }

  /** @param read `isHeld`: whether all of it counts as under way already */
  function longText(id: string, bytes: number, read: (isHeld: boolean) => Pieces): LongText {
    return {
      id,
      bytes,
      pieces: () => read(false),
      async whole() {
        const held = await underWay.enter(bytes * COPIES);
        try {
          return (await Array.fromAsync(read(true))).join("");
        } finally {
          const { answer } = currentContext() ?? {};
          if (answer) answer.held = held;
          if (answer) answer.ended(() => held[Symbol.dispose]());
          else held[Symbol.dispose]();
        }
      },
    };
  }

  async function* itemAt(bundleId: string, place: number, isHeld: boolean): Pieces {
    using _ = isHeld ? undefined : await underWay.enter(MAX_PIECE);
    const [head, [item]] = await Promise.all([journal.bodyOf(bundleId), journal.partsOf(bundleId, place, 0)]);
    if (head === undefined || item === undefined) throw missing(bundleId, place);
    yield withHead(head, item);
  }

  async function* joined(id: string, parts: number, isHeld: boolean): Pieces {
    for await (const texts of parted(id, parts, isHeld)) yield texts.map(({ text }) => text).join("");
  }

  async function* answer(id: string, head: string, parts: number, isHeld: boolean): Pieces {
    for await (const texts of parted(id, parts, isHeld)) {
      const isLast = texts.at(-1)?.place === parts - 1;
      yield texts.map(({ text, place }) => beforeItem(head, place) + text).join("") + (isLast ? AFTER_ITEMS : "");
    }
  }

  async function* items(id: string, head: string, parts: number): Pieces {
    for await (const texts of parted(id, parts, false)) for (const { text } of texts) yield withHead(head, text);
  }

  /** The parts of a bundle, some at a time, which count as under way until the next ones are asked for. */
  async function* parted(
    id: string,
    parts: number,
    isHeld: boolean,
  ): AsyncGenerator<{ text: string; place: number }[]> {
    for (let place = 0; place < parts; ) {
      using _ = isHeld ? undefined : await underWay.enter(MAX_PIECE, place > 0);
      const texts = await journal.partsOf(id, place, PIECE);
      if (texts.length === 0) throw missing(id, place);
      const first = place;
      place += texts.length;
      yield texts.map((text, i) => ({ text, place: first + i }));
    }
  }
}

function missing(id: string, place: number): Error {
  return new Error(`the journal has no part ${place} of the bundle ${id}`);
}
