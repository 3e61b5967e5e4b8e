/** The one spelling of a URL. */
export function urlSpelling(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

/** Whether no URL is there twice, in whatever spelling. */
export function areDistinct(urls: readonly string[]): boolean {
  return new Set(urls.map(urlSpelling)).size === urls.length;
}
