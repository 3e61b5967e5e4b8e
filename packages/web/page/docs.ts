import SwaggerUI, { type Plugin, type System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { h } from "./dom.ts";
import { markView, servedStatus, showConnection } from "./frame.ts";
import { heading } from "./parts.ts";
import { fetchJson } from "./site.ts";
import { openStorage } from "./storage.ts";

/* The document of the API: the contract as Swagger UI renders it, and the examples in it. */

const CONTRACT = "/openapi.json";
const INTRO =
  "Everything that a program can ask of this service. A paid call answers 402 with its price until a signed payment comes with it, so every example below can be run as it is.";
const UNREACHABLE = "The service doesn't answer now, so its API can't be shown. Load this page again later.";

type CodeSample = { label: string; source: string };

/** The operations alone, without what the page says itself; the examples of each before its answers. */
function plugin({ React: { createElement, Fragment }, getComponent }: System): Plugin {
  return {
    components: {
      Bare: () =>
        createElement("div", { className: "swagger-ui" }, createElement(getComponent("operations", true), null)),
    },
    wrapComponents: {
      // The chooser lacks a name for screen readers.
      ExamplesSelect: (original) => (properties) => {
        const name = createElement("span", { className: "unseen" }, "Example");
        return createElement("label", null, name, createElement(original, properties));
      },
      // Nothing is sent from here, so nothing is filled in.
      JsonSchemaForm: () => () => null,
      responses: (original, system) => (properties) => {
        const { path, method } = properties as { path: string; method: string };
        return createElement(Fragment, null, examples(system, path, method), createElement(original, properties));
      },
    },
  };
}

function examples({ React: { createElement }, specSelectors }: System, path: string, method: string): unknown {
  const samples = specSelectors.specJson().getIn(["paths", path, method, "x-codeSamples"])?.toJS() as
    | CodeSample[]
    | undefined;
  if (!samples) return null;
  const one = ({ label, source }: CodeSample) =>
    createElement(
      "details",
      { key: label },
      createElement("summary", null, label),
      createElement("pre", { tabIndex: 0, "aria-label": `Example in ${label}` }, source),
    );
  return createElement("div", { className: "examples" }, ...samples.map(one));
}

// Swagger UI's dark theme is a class of the document. Paper is light.
const dark = matchMedia("screen and (prefers-color-scheme: dark)");
const showTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", showTheme);
showTheme();

markView("/docs");
showConnection();
void openStorage()
  .catch(() => undefined)
  .then(servedStatus);

const main = document.getElementById("main") as HTMLElement;
const place = h("div", { id: "api" });
const link = (href: string, text: string) => h("a", { class: "see", href }, text);
const links = h(
  "p",
  {},
  link(CONTRACT, "OpenAPI 3.1"),
  " · ",
  link("/llms.txt", "As text"),
  " · ",
  link("/problems", "Problems"),
);
main.replaceChildren(heading("API"), h("p", { class: "block" }, INTRO), links, h("h2", {}, "Operations"), place);

const contract = await fetchJson(CONTRACT);
if (contract === undefined) place.replaceChildren(h("p", { class: "notice" }, UNREACHABLE));
else
  SwaggerUI({
    spec: contract,
    domNode: place,
    plugins: [plugin],
    layout: "Bare",
    // Requests are made by the examples; the page itself sends none.
    supportedSubmitMethods: [],
    docExpansion: "list",
    deepLinking: false,
    validatorUrl: null,
    queryConfigEnabled: false,
    syntaxHighlight: { activated: false },
    // Signals to tests that the page is ready.
    onComplete: () => document.documentElement.append(h("template", { id: "ready" })),
  });
