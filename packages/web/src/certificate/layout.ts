import { encode } from "uqr";
import type { CertificateLine, CertificateRow, CertificateTable } from "./lines.ts";
import { PAPERS, type Paper } from "./making.ts";
import type { CertificateContents } from "./sections.ts";
import {
  type Branch,
  type Font,
  type Leaf,
  type Mark,
  type Node,
  type Run,
  runsWidth,
  type Sheet,
  textWidth,
  wrap,
} from "./sheet.ts";

const MM = 72 / 25.4;
const MARGIN = 18 * MM;
/** Distance of the first baseline from the page's upper edge, below the head of each page. */
const TOP = MARGIN + 30;
/** Height reserved at the foot of each page. */
const FOOT = 22;
const CODE_SIDE = 34 * MM;
/** ISO/IEC 18004: four modules of quiet zone. */
const QUIET = 4;
/**
 * The smallest QR code version. It fits the usual pointer at level M; smaller codes would look different from page to
 * page.
 */
const MIN_VERSION = 8;
const LABEL_WIDTH = 96;
const GAP = 16;
const SIZES = { title: 22, lead: 13, text: 10.5, heading: 11, row: 9.5, small: 8 } as const;
const BEFORE_HEADING = 9;
/** Space between the columns and between the rows of a table. */
const COLUMN_GAP = 6;
const ROW_GAP = 3;
/** Line height, as a multiple of the font size. */
const LEADING = 1.38;

/** Lays out a certificate on as many pages as it needs. Pure: the same contents give the same sheet, for SVG and PDF. */
export function layOut(contents: CertificateContents, paper: Paper): Sheet {
  const { width, height } = PAPERS[paper];
  const right = width - MARGIN;
  const flow = startFlow(right - MARGIN, height - MARGIN - FOOT);
  const kids: Node[] = [];

  // The QR code is next to it.
  const narrow = right - MARGIN - CODE_SIDE - GAP;
  kids.push(flow.paragraph("H1", [bold(contents.heading)], SIZES.title, { width: narrow, after: 10 }));
  kids.push(flow.paragraph("P", [bold(contents.lead)], SIZES.lead, { width: narrow, after: 4 }));
  for (const runs of contents.statement) kids.push(flow.paragraph("P", runs, SIZES.text, { width: narrow, after: 4 }));
  kids.push(codeAt(contents, right - CODE_SIDE));
  flow.below(TOP + CODE_SIDE);

  for (const { heading, rows } of contents.sections) {
    kids.push(flow.heading(heading));
    kids.push({ tag: "Table", kids: rows.map(flow.row) });
  }
  // The block must fit on one page: a separate flow measures its height.
  const trial = startFlow(right - MARGIN, Number.POSITIVE_INFINITY);
  close(trial, contents);
  flow.keep(trial.position() - TOP);
  kids.push(...close(flow, contents));
  if (contents.table) kids.push(flow.heading(contents.table.heading), flow.table(contents.table));

  const artifacts = Array.from({ length: flow.pages() }, (_, page): Mark[] => [
    ...(contents.stamp === undefined ? [] : [stamp(contents.stamp, width, height)]),
    ...flow.artifacts(page),
    { kind: "text", x: MARGIN, y: MARGIN + 8, size: SIZES.row, runs: [bold("attestd")] },
    atRight([sans(`Certificate ${contents.number}`)], right, MARGIN + 8, SIZES.small),
    { kind: "rule", x: MARGIN, y: MARGIN + 13, width: right - MARGIN },
    atRight([sans(`Page ${page + 1} of ${flow.pages()}`)], right, height - MARGIN - 3, SIZES.small),
  ]);
  artifacts[0]?.push(caption("Scan to check", right - CODE_SIDE / 2));
  return { width, height, document: { tag: "Document", kids }, artifacts };
}

type Flow = ReturnType<typeof startFlow>;

function close(flow: Flow, { closing: { heading, intro, steps } }: CertificateContents): Node[] {
  return [
    flow.heading(heading),
    flow.paragraph("P", [sans(intro)], SIZES.row),
    { tag: "L", kids: steps.map(flow.item) },
  ];
}

/** Places blocks one below the other, none of them across two pages. */
function startFlow(full: number, bottom: number) {
  let page = 0;
  let y = TOP;

  const repeated = new Map<number, Mark[]>();

  /** Places a block of this height. @returns its upper edge */
  const place = (height: number) => {
    if (y + height > bottom && y > TOP) {
      page++;
      y = TOP;
    }
    return y;
  };
  const lines = (wrapped: readonly Run[][], x: number, first: number, size: number): Mark[] =>
    wrapped.map((runs, index) => ({ kind: "text", x, y: first + size + index * size * LEADING, size, runs }));

  function paragraph(tag: Leaf["tag"], runs: Run[], size: number, { width = full, after = 4 } = {}): Leaf {
    const wrapped = wrap(runs, size, width);
    const height = wrapped.length * size * LEADING;
    const marks = lines(wrapped, MARGIN, place(height), size);
    y += height + after;
    return { tag, page, marks };
  }

  /** A heading stays on the page of the next two lines. */
  function heading(text: string): Leaf {
    y += y === TOP ? 0 : BEFORE_HEADING;
    place(SIZES.heading * LEADING + 2 * SIZES.row * LEADING);
    return paragraph("H2", [bold(text)], SIZES.heading, { after: 2 });
  }

  /** Places a label, and to its right lines of text, ids or links. */
  function beside(label: Run, indent: number, texts: readonly CertificateLine[]): [label: Mark[], lines: Mark[][]] {
    const wrapped = texts.map((line) => wrap([line], SIZES.row, full - indent));
    const top = place(wrapped.flat().length * SIZES.row * LEADING);
    const placed = wrapped.map((one) => {
      const marks = lines(one, MARGIN + indent, y, SIZES.row);
      y += one.length * SIZES.row * LEADING;
      return marks;
    });
    y += 1.5;
    return [lines(wrap([label], SIZES.row, indent), MARGIN, top, SIZES.row), placed];
  }

  function row({ label, lines: texts }: CertificateRow): Branch {
    const [head, placed] = beside(sans(label), LABEL_WIDTH, texts);
    return { tag: "TR", kids: [{ tag: "TH", page, marks: head }, cell("TD", texts, placed)] };
  }

  /** Places a table. Each further page repeats the column names as decoration. */
  function table({ columns, rows }: CertificateTable): Branch {
    const names = broken(columns.map(({ label }) => [bold(label)]));
    const branches: Branch[] = [
      { tag: "TR", kids: across(names).map((marks): Leaf => ({ tag: "TH", isOfColumn: true, page, marks })) },
    ];
    for (const row of rows) {
      const cells = broken(row);
      const before = page;
      place(heightOf(cells));
      if (page > before) repeated.set(page, across(names).flat());
      branches.push({ tag: "TR", kids: across(cells).map((marks): Leaf => ({ tag: "TD", page, marks })) });
    }
    return { tag: "Table", kids: branches };

    /** Breaks each cell's text into lines of the column's width. */
    function broken(cells: readonly Run[][]): Run[][][] {
      const widths = columns.map(({ share }) => full * share - COLUMN_GAP);
      return cells.map((texts, column) => texts.flatMap((text) => wrap([text], SIZES.small, widths[column] ?? 0)));
    }

    function heightOf(cells: readonly Run[][][]): number {
      return Math.max(...cells.map(({ length }) => length)) * SIZES.small * LEADING + ROW_GAP;
    }

    /** Places a row of cells here, each at its column's left edge. */
    function across(cells: readonly Run[][][]): Mark[][] {
      let x = MARGIN;
      const placed = cells.map((wrapped, column) => {
        const marks = lines(wrapped, x, y, SIZES.small);
        x += full * (columns[column]?.share ?? 0);
        return marks;
      });
      y += heightOf(cells);
      return placed;
    }
  }

  function item(texts: readonly CertificateLine[], index: number): Branch {
    const [number, placed] = beside(sans(`${index + 1}.`), 14, texts);
    return { tag: "LI", kids: [{ tag: "Lbl", page, marks: number }, cell("LBody", texts, placed)] };
  }

  function cell(tag: "TD" | "LBody", texts: readonly CertificateLine[], placed: Mark[][]): Node {
    if (texts.every(({ url }) => url === undefined)) return { tag, page, marks: placed.flat() };
    const leaves = texts.map(({ text, url }, index): Leaf => {
      const marks = placed[index] as Mark[];
      return url === undefined ? { tag: "P", page, marks } : { tag: "Link", page, marks, url, alt: text };
    });
    return { tag, kids: leaves };
  }

  return {
    paragraph,
    heading,
    row,
    item,
    table,
    /** Returns a page's repeated marks, which are only for the eye. */
    artifacts: (of: number) => repeated.get(of) ?? [],
    pages: () => page + 1,
    position: () => y,
    /** Moves to the next page if this one lacks room for a block of this height. */
    keep: (height: number) => void place(height + BEFORE_HEADING),
    /** Continues no higher than this on the first page. */
    below(least: number) {
      if (page === 0) y = Math.max(y, least);
    },
  };
}

function sans(text: string): Run {
  return { text, font: "sans" };
}

function bold(text: string): Run {
  return { text, font: "bold" };
}

function codeAt({ url, codeLabel }: CertificateContents, x: number): Leaf {
  const { data, size } = encode(url, { ecc: "M", minVersion: MIN_VERSION, border: 0 });
  const module = CODE_SIDE / (size + 2 * QUIET);
  const mark: Mark = { kind: "code", x: x + QUIET * module, y: TOP + QUIET * module, module, dark: data };
  return { tag: "Figure", page: 0, marks: [mark], alt: codeLabel };
}

function caption(text: string, middle: number): Mark {
  const half = textWidth(text, "sans", SIZES.small) / 2;
  return { kind: "text", x: middle - half, y: TOP + CODE_SIDE + 6, size: SIZES.small, runs: [sans(text)] };
}

function atRight(runs: Run[], right: number, y: number, size: number): Mark {
  return { kind: "text", x: right - runsWidth(runs, size), y, size, runs };
}

function stamp(text: string, width: number, height: number): Mark {
  const [angle, size, font] = [45, 44, "sans" satisfies Font] as const;
  const half = textWidth(text, font, size) / 2 / Math.SQRT2;
  return { kind: "stamp", x: width / 2 - half, y: height / 2 + half, size, angle, text };
}
