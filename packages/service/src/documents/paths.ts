/** A path of the catalogue (`/bundles/:id`) as documents write it (`/bundles/{id}`; RFC 6570, and OpenAPI's paths). */
export function uriTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}
