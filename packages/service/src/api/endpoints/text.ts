import type { DeliveredText, Pieces } from "../../calls/bundles.ts";

/** Reads a whole delivered text, for an answer that must be one value. @throws Problem `over_capacity` */
export async function fullText(text: DeliveredText): Promise<string> {
  return typeof text === "string" ? text : text.whole();
}

/**
 * Returns the pieces of a text as a stream of UTF-8. Each piece is read when it is needed.
 * @throws Problem `over_capacity`, before anything was read
 */
export async function streamOf(pieces: Pieces): Promise<ReadableStream<Uint8Array>> {
  let next: Promise<IteratorResult<string, void>> | undefined = pieces.next();
  await next;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await (next ?? pieces.next());
        next = undefined;
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value));
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
}
