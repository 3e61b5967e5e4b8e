import { fromBase64, utf8 } from "@attestd/proof/encoding";
import { literal, type PdfFile, type Ref, startPdf } from "./pdf-file.ts";
import {
  COLOUR_PROFILE,
  FONTS,
  type Font,
  fontSize,
  type Leaf,
  type Mark,
  type Node,
  runsWidth,
  type Sheet,
} from "./sheet.ts";
import { type Carried, codeRectangles, round } from "./svg.ts";
import { metadata } from "./xmp.ts";

const EVIDENCE = "The evidence: what shows the record without the attestor and without a node";
const STAMP_GREY = 0.85;
const RULE_HEIGHT = 0.6;
const RESOURCE_NAMES: Readonly<Record<Font, string>> = { sans: "F1", bold: "F2", mono: "F3" };

/**
 * Writes a sheet as PDF/A-3a (ISO 19005-3), with the bundle or batch attached as `bundle.json` or `batch.json`, every
 * font embedded and every line tagged. The same arguments give the same bytes.
 * @param madeAt RFC 3339, UTC, to the second
 */
export function toPdf(sheet: Sheet, carried: Carried, madeAt: string): Uint8Array {
  const file = startPdf();
  const date = literal(`D:${madeAt.replace(/\D/g, "")}Z`);
  const [pages, setPages] = file.later();
  const tagged = tag(sheet, file);
  const fonts = Object.keys(FONTS).map((font) => `/${RESOURCE_NAMES[font as Font]} ${embed(font as Font, file)}`);
  for (const [page, { content, links, set }] of tagged.pages.entries()) {
    const annotations = links.length === 0 ? "" : ` /Annots [${links.join(" ")}]`;
    set(
      `<< /Type /Page /Parent ${pages} /MediaBox [0 0 ${sheet.width} ${sheet.height}] /Resources << /Font << ${fonts.join(" ")} >> >> /Contents ${file.stream("", utf8(content))} /StructParents ${page} /Tabs /S${annotations} >>`,
    );
  }
  const kids = tagged.pages.map(({ ref }) => ref);
  setPages(`<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`);

  const { bundle, kind, evidence, making, title, attestor, sentence } = carried;
  const files: [name: string, relationship: string, what: string, bytes: Uint8Array][] = [
    [`${kind}.json`, "Source", `The ${kind}: what this certificate is a copy of`, bundle],
    ["certificate.json", "Data", "What this certificate says by its maker's word", utf8(making)],
    ...(evidence ? [["evidence.json", "Supplement", EVIDENCE, evidence] satisfies (typeof files)[number]] : []),
  ];
  const attached = files.map(([name, relationship, what, bytes]) => [
    `(${name})`,
    attach(file, name, relationship, what, bytes, date),
  ]);
  const profile = file.stream("/N 3", fromBase64(COLOUR_PROFILE));
  const intent = `<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) /Info (sRGB IEC61966-2.1) /DestOutputProfile ${profile} >>`;
  const xmp = file.stream("/Type /Metadata /Subtype /XML", utf8(metadata(carried, madeAt)));
  const catalog = file.add(
    `<< /Type /Catalog /Pages ${pages} /Lang (en) /MarkInfo << /Marked true >> /StructTreeRoot ${tagged.root} /Metadata ${xmp} /OutputIntents [${intent}] /ViewerPreferences << /DisplayDocTitle true >> /Names << /EmbeddedFiles << /Names [${attached.flat().join(" ")}] >> >> /AF [${attached.map(([, ref]) => ref).join(" ")}] >>`,
  );
  const info = file.add(
    `<< /Title ${literal(title)} /Author ${literal(attestor)} /Subject ${literal(sentence)} /Creator (attestd) /Producer (attestd) /CreationDate ${date} /ModDate ${date} >>`,
  );
  return file.bytes(catalog, info, carried.id);
}

/**
 * Embeds a font (ISO 32000-1, 9.6.3). It is a simple font, because its characters are ASCII, so that text stays text in
 * the file.
 */
function embed(font: Font, file: PdfFile): Ref {
  const { name, widths, box, ascent, descent, capHeight, isFixedPitch, length, deflated } = FONTS[font];
  // The tag says that it is a subset (9.6.4).
  const baseFont = `/ATTSTD+${name}`;
  const program = file.stream(`/Filter /FlateDecode /Length1 ${length}`, fromBase64(deflated));
  const nonsymbolic = 32;
  const descriptor = file.add(
    `<< /Type /FontDescriptor /FontName ${baseFont} /Flags ${nonsymbolic + (isFixedPitch ? 1 : 0)} /FontBBox [${box.join(" ")}] /ItalicAngle 0 /Ascent ${ascent} /Descent ${descent} /CapHeight ${capHeight} /StemV ${font === "bold" ? 140 : 80} /FontFile2 ${program} >>`,
  );
  return file.add(
    `<< /Type /Font /Subtype /TrueType /BaseFont ${baseFont} /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [${widths.join(" ")}] /FontDescriptor ${descriptor} >>`,
  );
}

/** Attaches a JSON file (ISO 19005-3, 6.8). */
function attach(file: PdfFile, name: string, relationship: string, what: string, bytes: Uint8Array, date: string): Ref {
  const params = `/Params << /Size ${bytes.length} /CreationDate ${date} /ModDate ${date} >>`;
  const stream = file.stream(`/Type /EmbeddedFile /Subtype /application#2Fjson ${params}`, bytes);
  return file.add(
    `<< /Type /Filespec /F ${literal(name)} /UF ${literal(name)} /Desc ${literal(what)} /AFRelationship /${relationship} /EF << /F ${stream} /UF ${stream} >> >>`,
  );
}

type TaggedPage = { ref: Ref; set(object: string): void; content: string; links: Ref[]; elements: Ref[] };

/**
 * Writes the structure tree (ISO 32000-1, 14.7) and the pages' contents. Every mark belongs to an element of the tree,
 * or is an artifact.
 */
function tag({ height, document, artifacts }: Sheet, file: PdfFile) {
  const [root, setRoot] = file.later();
  const pages = artifacts.map((marks): TaggedPage => {
    const drawn = marks.map((mark) => operators(mark, height)).join("");
    const [ref, set] = file.later();
    return { ref, set, content: `/Artifact BMC\n${drawn}EMC\n`, links: [], elements: [] };
  });
  /** Elements of annotations. Their keys follow the pages' keys. */
  const annotated: Ref[] = [];

  function element(node: Node, parent: Ref): Ref {
    const [ref, set] = file.later();
    const start = `<< /Type /StructElem /S /${node.tag} /P ${parent}`;
    if ("kids" in node) {
      set(`${start} /K [${node.kids.map((kid) => element(kid, ref)).join(" ")}] >>`);
      return ref;
    }
    const page = pages[node.page] as TaggedPage;
    const number = page.elements.push(ref) - 1;
    const drawn = node.marks.map((mark) => operators(mark, height)).join("");
    page.content += `/${node.tag} << /MCID ${number} >> BDC\n${drawn}EMC\n`;
    const link = node.url === undefined ? "" : ` << /Type /OBJR /Obj ${annotate(node, ref)} >>`;
    set(`${start} /Pg ${page.ref} /K [${number}${link}]${attributesOf(node, height)} >>`);
    return ref;
  }

  function annotate(leaf: Leaf, ref: Ref): Ref {
    const key = pages.length + annotated.push(ref) - 1;
    const box = boxOf(leaf, height).join(" ");
    // Flag 4 prints it with the page. PDF/A requires this of every annotation.
    const annotation = file.add(
      `<< /Type /Annot /Subtype /Link /Rect [${box}] /F 4 /Border [0 0 0] /StructParent ${key} /Contents ${literal(leaf.alt ?? "")} /A << /S /URI /URI ${literal(leaf.url ?? "")} >> >>`,
    );
    pages[leaf.page]?.links.push(annotation);
    return annotation;
  }

  const top = element(document, root);
  const ofPages = pages.map(({ elements }, page) => `${page} [${elements.join(" ")}]`);
  const ofAnnotations = annotated.map((ref, index) => `${pages.length + index} ${ref}`);
  const parents = file.add(`<< /Nums [${[...ofPages, ...ofAnnotations].join(" ")}] >>`);
  setRoot(
    `<< /Type /StructTreeRoot /K ${top} /ParentTree ${parents} /ParentTreeNextKey ${pages.length + annotated.length} >>`,
  );
  return { root, pages };
}

function attributesOf(leaf: Leaf, height: number): string {
  if (leaf.tag === "TH") return ` /A << /O /Table /Scope /${leaf.isOfColumn ? "Column" : "Row"} >>`;
  if (leaf.tag !== "Figure") return "";
  const box = boxOf(leaf, height).join(" ");
  return ` /Alt ${literal(leaf.alt ?? "")} /A << /O /Layout /Placement /Block /BBox [${box}] >>`;
}

/** Returns the rectangle around a leaf's marks. */
function boxOf({ marks }: Leaf, height: number): number[] {
  const boxes = marks.flatMap((mark) => {
    if (mark.kind === "text")
      return [[mark.x, mark.y - mark.size, mark.x + runsWidth(mark.runs, mark.size), mark.y + mark.size / 4]];
    if (mark.kind !== "code") return [];
    const side = mark.module * mark.dark.length;
    return [[mark.x, mark.y, mark.x + side, mark.y + side]];
  }) as [number, number, number, number][];
  const of = (index: 0 | 1 | 2 | 3) => boxes.map((box) => box[index]);
  return [Math.min(...of(0)), height - Math.max(...of(3)), Math.max(...of(2)), height - Math.min(...of(1))].map(round);
}

/** Writes a mark as PDF operators. PDF measures from the lower left corner, a sheet from the upper left. */
function operators(mark: Mark, height: number): string {
  const at = (x: number, y: number) => `${round(x)} ${round(height - y)}`;
  switch (mark.kind) {
    case "text": {
      const shown = mark.runs.map(
        ({ text, font }) => `/${RESOURCE_NAMES[font]} ${round(fontSize(font, mark.size))} Tf ${literal(text)} Tj`,
      );
      return `BT ${at(mark.x, mark.y)} Td ${shown.join(" ")} ET\n`;
    }
    case "rule":
      return `${at(mark.x, mark.y + RULE_HEIGHT)} ${round(mark.width)} ${RULE_HEIGHT} re f\n`;
    case "code": {
      const boxes = codeRectangles(mark).map(
        ([x, y, wide, high]) => `${at(mark.x + x, mark.y + y + high)} ${round(wide)} ${round(high)} re`,
      );
      return `${boxes.join("\n")} f\n`;
    }
    case "stamp": {
      const turn = (mark.angle * Math.PI) / 180;
      const [cos, sin] = [round(Math.cos(turn)), round(Math.sin(turn))];
      return `${STAMP_GREY} g BT /${RESOURCE_NAMES.sans} ${mark.size} Tf ${cos} ${sin} ${-sin} ${cos} ${at(mark.x, mark.y)} Tm ${literal(mark.text)} Tj ET 0 g\n`;
    }
  }
}
