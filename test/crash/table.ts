/** A table in Markdown, its columns as wide as their widest cell. */
export function aligned(head: readonly string[], lines: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((cells) => (cells[i] as string).length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, i) => text.padEnd(widths[i] as number)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...lines.map(line)];
}
