import { concatBytes, utf8 } from "@attestd/proof/encoding";

/** A reference to an object, as PDF writes it. */
export type Ref = `${number} 0 R`;

export type PdfFile = ReturnType<typeof startPdf>;

/** Starts a PDF 1.7 file (ISO 32000-1, 7.5). The same objects give the same bytes. */
export function startPdf() {
  const objects: (string | Uint8Array)[] = [];
  const refOf = (number: number): Ref => `${number} 0 R`;
  return {
    add(object: string | Uint8Array): Ref {
      return refOf(objects.push(object));
    },
    /**
     * Reserves an object that others refer to before it is made. @returns its reference, and a function that sets it
     */
    later(): [ref: Ref, set: (object: string) => void] {
      const number = objects.push("null");
      return [
        refOf(number),
        (object) => {
          objects[number - 1] = object;
        },
      ];
    },
    stream(entries: string, bytes: Uint8Array): Ref {
      const head = utf8(`<< ${entries} /Length ${bytes.length} >>\nstream\n`);
      return this.add(concatBytes(head, bytes, utf8("\nendstream")));
    },
    /** @param id hex of 16 bytes; differs between documents */
    bytes(catalog: Ref, info: Ref, id: string): Uint8Array {
      // Four bytes that mark the file as binary (7.5.2).
      const parts = [utf8("%PDF-1.7\n%"), Uint8Array.of(0xe2, 0xe3, 0xcf, 0xd3, 0x0a)];
      let size = concatBytes(...parts).length;
      let table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
      for (const [index, object] of objects.entries()) {
        table += `${String(size).padStart(10, "0")} 00000 n \n`;
        const contents = typeof object === "string" ? utf8(object) : object;
        const part = concatBytes(utf8(`${index + 1} 0 obj\n`), contents, utf8("\nendobj\n"));
        parts.push(part);
        size += part.length;
      }
      const body = concatBytes(...parts);
      const trailer = `trailer\n<< /Size ${objects.length + 1} /Root ${catalog} /Info ${info} /ID [<${id}> <${id}>] >>\nstartxref\n${size}\n%%EOF\n`;
      return concatBytes(body, utf8(table + trailer));
    },
  };
}

/** ASCII text as a literal string (7.3.4.2). */
export function literal(ascii: string): string {
  return `(${ascii.replace(/[\\()]/g, "\\$&")})`;
}
