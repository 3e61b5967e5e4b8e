/**
 * A text without the run of `character` that it ends with. Read once, from its end: the pattern `/c+$/` would be tried
 * anew at each `c` of the text, and take minutes for a megabyte of them.
 * @param character one UTF-16 unit
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
