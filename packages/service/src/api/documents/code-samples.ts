import { z } from "zod";
import type { Endpoint } from "../../catalogue/catalogue.ts";

/** A program that calls an operation, for OpenAPI's `x-codeSamples`; renderers show it. */
type CodeSample = { lang: string; label: string; source: string };

/** An example request. `body`: JSON; undefined for the bundle in `BUNDLE_FILE`. */
type Example = { method: Endpoint["method"]; url: string; body: string | undefined };

/** The file that samples send to verifying endpoints. */
const BUNDLE_FILE = "bundle.json";

const LANGUAGES: [lang: string, label: string, write: (example: Example) => string][] = [
  ["Shell", "curl", curl],
  ["Python", "Python", python],
  ["Go", "Go", go],
  ["JavaScript", "JavaScript", javascript],
];

/**
 * Returns programs that call an endpoint using only the standard library. A paid endpoint answers them with its price.
 */
export function codeSamples(endpoint: Endpoint, origin: string): CodeSample[] {
  const { method, tag, body } = endpoint;
  const [example] = Object.values(body?.examples ?? {});
  const url = `${origin}${pathOf(endpoint)}`;
  const sent = tag === "verify" ? undefined : JSON.stringify(example);
  return LANGUAGES.map(([lang, label, write]) => ({ lang, label, source: write({ method, url, body: sent }) }));
}

/** Returns the path with a value for each parameter: an allowed value, or the parameter's name. */
function pathOf({ path, params }: Endpoint): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const schema = params?.shape[name];
    return schema instanceof z.ZodEnum ? encodeURIComponent(String(schema.options[0])) : name.toUpperCase();
  });
}

function curl({ method, url, body }: Example): string {
  if (method === "GET") return `curl -sS ${url}`;
  const data = body === undefined ? `--data-binary @${BUNDLE_FILE}` : `--data '${body}'`;
  return `curl -sS ${url} \\\n  --header 'content-type: application/json' \\\n  ${data}`;
}

function python({ method, url, body }: Example): string {
  const data = body === undefined ? `open("${BUNDLE_FILE}", "rb").read()` : `b'${body}'`;
  const request =
    method === "GET"
      ? `request = urllib.request.Request("${url}")`
      : `request = urllib.request.Request(
    "${url}",
    data=${data},
    headers={"content-type": "application/json"},
)`;
  return `import urllib.error
import urllib.request

${request}
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as problem:  # 402 is an offer, other 4xx and 5xx are problems
    answer = problem
print(answer.status, answer.read().decode())`;
}

function javascript({ method, url, body }: Example): string {
  const isFile = method === "POST" && body === undefined;
  const data = isFile ? `await readFile("${BUNDLE_FILE}")` : `'${body}'`;
  const call =
    method === "GET"
      ? `fetch("${url}")`
      : `fetch("${url}", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: ${data},
})`;
  return `${isFile ? 'import { readFile } from "node:fs/promises";\n\n' : ""}const answer = await ${call};
console.log(answer.status, await answer.text());`;
}

function go({ method, url, body }: Example): string {
  const isFile = method === "POST" && body === undefined;
  const data = isFile ? "bundle" : `strings.NewReader(\`${body}\`)`;
  const call = method === "GET" ? `http.Get("${url}")` : `http.Post("${url}", "application/json", ${data})`;
  const imports = [
    "fmt",
    "io",
    "net/http",
    ...(isFile ? ["os"] : []),
    ...(method === "POST" && !isFile ? ["strings"] : []),
  ];
  const opening = `	bundle, err := os.Open("${BUNDLE_FILE}")
	if err != nil {
		panic(err)
	}
`;
  return `package main

import (
${imports.map((name) => `	"${name}"`).join("\n")}
)

func main() {
${isFile ? opening : ""}	answer, err := ${call}
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.StatusCode, string(text))
}`;
}
