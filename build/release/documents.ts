import type { Part } from "./parts.ts";

/** CycloneDX 1.6 of what an archive has, without the time and the serial number that would make every build differ. */
export function sbomOf(name: string, version: string, parts: readonly Part[]): string {
  const purl = (name: string, version: string) => `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const own = {
    "bom-ref": `${name}@${version}`,
    type: "application",
    name,
    version,
    licenses: licensesOf("Apache-2.0"),
  };
  const components = parts.map(({ name, version, license, sha512 }) => ({
    "bom-ref": purl(name, version),
    type: "library",
    name,
    version,
    licenses: licensesOf(license),
    purl: purl(name, version),
    hashes: [{ alg: "SHA-512", content: sha512 }],
  }));
  const dependencies = [{ ref: own["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) }];
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: own },
    components,
    dependencies,
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

function licensesOf(license: string) {
  return license.includes(" ") ? [{ expression: license }] : [{ license: { id: license } }];
}

const RULE = "=".repeat(80);

/** The licences of what an archive has. A text is printed once, after all the packages that have it. */
export function thirdParty(parts: readonly Part[]): string {
  const byText = new Map<string, string[]>();
  for (const part of parts) {
    const { name, version, license, texts } = part;
    const text = texts.join("\n\n") || inItsPlace(part);
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const sections = [...byText].map(([text, names]) => `${RULE}\n${names.join("\n")}\n\n${text}\n`);
  return `${HEAD}\n${sections.join("\n")}`;
}

const HEAD = `This archive has code of the following packages, whole or in part, under the licences below.
attestd itself is under the Apache License 2.0: see the file LICENSE.
`;

/** The licence of a package that has no copy of it. @throws Error for one whose words are not here either */
function inItsPlace({ license, author }: Part): string {
  const by = author ? `Copyright (c) ${author}\n\n` : "";
  if (license.endsWith("Apache-2.0")) return `${by}Under the Apache License 2.0, of which the file LICENSE is a copy.`;
  const text = LICENCES[license];
  if (text === undefined) throw new Error(`a package under ${license} has no copy of it`);
  return `${by}${text}`;
}

const LICENCES: Readonly<Record<string, string>> = {
  ISC: `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`,
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR
IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
};
