import { MAX_BATCH_BYTES } from "@attestd/proof";
import { concatBytes } from "@attestd/proof/encoding";
import { isName, NotPdf, type PdfDictionary, PdfLexer, type PdfObject, type PdfValue, scanPdf } from "./objects.ts";

/** Limits that no certificate exceeds, even with a batch's answer inside. They stop the reading of a hostile file. */
const MAX_INFLATED_BYTES = MAX_BATCH_BYTES + 2 ** 20;
const MAX_FILES = 16;
const MAX_OBJECT_STREAMS = 256;
const MAX_NODES = 256;

/** The bytes that may still be inflated. */
type Budget = { left: number };

/**
 * Returns the contents of a PDF's embedded files (ISO 32000-1, 7.11.4), plain or deflated: first those in its name
 * tree, then every other stream of that type. Contents larger than any batch are skipped.
 */
export async function pdfAttachments(bytes: Uint8Array): Promise<Uint8Array[] | "encrypted"> {
  const text = new TextDecoder("latin1").decode(bytes);
  const { objects, trailers } = scanPdf(text);
  if (trailers.some((trailer) => trailer.has("Encrypt"))) return "encrypted";
  const budget: Budget = { left: MAX_INFLATED_BYTES };
  const known = await withPacked(objects, bytes, budget);
  const declared = [...known.values()].filter(
    ({ value, stream }) => stream && value instanceof Map && isName(value.get("Type"), "EmbeddedFile"),
  );
  const streams = [...new Set([...listed(known, trailers), ...declared])].slice(0, MAX_FILES);
  const contents = await Array.fromAsync(streams, (stream) => decoded(stream, bytes, MAX_BATCH_BYTES, budget));
  return contents.filter((content) => content !== undefined);
}

type Known = ReadonlyMap<number, PdfObject>;

/** Returns all objects by number, including those in object streams (7.5.7). */
async function withPacked(objects: readonly PdfObject[], bytes: Uint8Array, budget: Budget): Promise<Known> {
  const known = new Map<number, PdfObject>();
  let unpacked = 0;
  for (const object of objects) {
    known.set(object.number, object);
    const { value } = object;
    if (!object.stream || !(value instanceof Map) || !isName(value.get("Type"), "ObjStm")) continue;
    if (unpacked++ >= MAX_OBJECT_STREAMS) break;
    const content = await decoded(object, bytes, budget.left, budget);
    if (content === undefined) continue;
    for (const packed of unpack(new TextDecoder("latin1").decode(content), value)) known.set(packed.number, packed);
  }
  return known;
}

function* unpack(text: string, dictionary: PdfDictionary): Generator<PdfObject> {
  const [count, first] = [dictionary.get("N"), dictionary.get("First")];
  if (typeof count !== "number" || typeof first !== "number") return;
  const index = new PdfLexer(text, 0);
  let end = first;
  try {
    for (let n = 0; n < count && index.position < first; n++) {
      const [number, offset] = [index.value(), index.value()];
      // Offsets must increase, so that nothing is read twice.
      if (typeof number !== "number" || typeof offset !== "number" || first + offset < end) return;
      const lexer = new PdfLexer(text, first + offset);
      yield { number, value: lexer.value() };
      end = lexer.position;
    }
  } catch (error) {
    if (!(error instanceof NotPdf)) throw error;
  }
}

/** Returns the streams in the catalog's name tree of embedded files. */
function listed(known: Known, trailers: readonly PdfDictionary[]): PdfObject[] {
  const resolved = (value: PdfValue | undefined) => referenced(known, value)?.value ?? value;
  const at = (value: PdfValue | undefined, member: string) => {
    const found = resolved(value);
    return found instanceof Map ? found.get(member) : undefined;
  };
  const root = trailers.findLast((trailer) => trailer.has("Root"))?.get("Root");
  const found: PdfObject[] = [];
  const nodes = [at(at(root, "Names"), "EmbeddedFiles")];
  for (let visited = 0; nodes.length > 0 && visited < MAX_NODES; visited++) {
    const node = nodes.shift();
    const [kids, names] = [resolved(at(node, "Kids")), resolved(at(node, "Names"))];
    if (Array.isArray(kids)) nodes.push(...kids.slice(0, MAX_NODES));
    if (!Array.isArray(names)) continue;
    for (const file of names.slice(0, 2 * MAX_FILES).filter((_, index) => index % 2 === 1)) {
      const embedded = at(file, "EF");
      const stream = referenced(known, at(embedded, "F") ?? at(embedded, "UF"));
      if (stream?.stream) found.push(stream);
    }
  }
  return found;
}

/** Resolves a reference; undefined for any other value. */
function referenced(known: Known, value: PdfValue | undefined): PdfObject | undefined {
  return typeof value === "object" && value !== null && "object" in value ? known.get(value.object) : undefined;
}

/** @returns undefined for a stream that is larger than `largest` or has another encoding */
async function decoded(
  { value, stream }: PdfObject,
  bytes: Uint8Array,
  largest: number,
  budget: Budget,
): Promise<Uint8Array | undefined> {
  if (!(value instanceof Map) || !stream) return undefined;
  const named = value.get("Filter") ?? [];
  const filters = Array.isArray(named) ? named : [named];
  const raw = bytes.subarray(stream.start, stream.end);
  if (filters.length === 0) return raw.length > largest ? undefined : raw;
  const isFlate = filters.length === 1 && isName(filters[0], "FlateDecode");
  // A predictor (7.4.4.4) is used for images and cross-references only.
  const isPlain = (value.get("DecodeParms") ?? null) === null;
  return isFlate && isPlain ? inflate(raw, largest, budget) : undefined;
}

/** @returns undefined for bytes that are not zlib, or inflate beyond the limits */
async function inflate(bytes: Uint8Array, largest: number, budget: Budget): Promise<Uint8Array | undefined> {
  const inflated = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("deflate"));
  const chunks: Uint8Array[] = [];
  const max = Math.min(largest, budget.left);
  let size = 0;
  try {
    const reader = inflated.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
      size += next.value.length;
      budget.left -= next.value.length;
      if (size <= max) continue;
      await reader.cancel();
      return undefined;
    }
  } catch {
    return undefined;
  }
  return concatBytes(...chunks);
}
