import type { Mark, Sheet } from "@attestd/web";
import { codePath } from "@attestd/web";
import { AFRelationship, degrees, grayscale, PDFDocument, type PDFFont, type PDFPage, StandardFonts } from "pdf-lib";

const BLACK = grayscale(0);
const STAMP = grayscale(0.85);
const RULE_HEIGHT = 0.6;

/**
 * A sheet as PDF with the bundle attached as `bundle.json`.
 *
 * @param bundle UTF-8 of the bundle's JSON
 * @param title what a reader's program calls it
 */
export async function toPdf(sheet: Sheet, bundle: Uint8Array, title: string, madeAt: Date): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.setTitle(title, { showInWindowTitleBar: true });
  document.setCreator("attestd");
  document.setLanguage("en");
  document.setCreationDate(madeAt);
  document.setModificationDate(madeAt);
  // Fonts that every reader has, so that none is embedded.
  const fonts = {
    sans: await document.embedFont(StandardFonts.Helvetica),
    mono: await document.embedFont(StandardFonts.Courier),
  };
  const page = document.addPage([sheet.width, sheet.height]);
  for (const mark of sheet.marks) draw(page, mark, fonts);
  await document.attach(bundle, "bundle.json", {
    mimeType: "application/json",
    description: "The bundle: what this certificate is a copy of",
    creationDate: madeAt,
    modificationDate: madeAt,
    afRelationship: AFRelationship.Source,
  });
  return document.save();
}

/** PDF counts from the lower left corner, a sheet from the upper left. */
function draw(page: PDFPage, mark: Mark, fonts: Record<"sans" | "mono", PDFFont>): void {
  const y = page.getHeight() - mark.y;
  switch (mark.kind) {
    case "text":
      page.drawText(mark.text, {
        x: mark.x,
        y,
        size: mark.size,
        font: fonts[mark.font],
        color: BLACK,
      });
      break;
    case "rule":
      page.drawRectangle({ x: mark.x, y: y - RULE_HEIGHT, width: mark.width, height: RULE_HEIGHT, color: BLACK });
      break;
    case "code":
      page.drawSvgPath(codePath(mark), { x: mark.x, y, color: BLACK });
      break;
    case "stamp":
      page.drawText(mark.text, {
        x: mark.x,
        y,
        size: mark.size,
        font: fonts.sans,
        color: STAMP,
        rotate: degrees(mark.angle),
      });
      break;
  }
}
