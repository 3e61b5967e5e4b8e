/*
 * Which file may import which. dependency-cruiser follows every import that TypeScript sees, type-only ones included, so
 * that a rule here also keeps concepts apart, not only code. `npm run check` runs it; docs/architecture.md shows the floors.
 */
import { COMMAND_FLOORS, FLOORS } from "./build/floors.ts";

const TRANSPORTS = ["api/http", "api/mcp", "api/a2a"];

/** Which packages a package may import, in tests too. */
const PACKAGES = {
  proof: [],
  service: ["proof"],
  sandbox: ["proof"],
  client: ["proof"],
  web: ["client", "proof"],
  attestd: ["client", "proof", "sandbox", "service", "web"],
};

const TEST = String.raw`\.test\.ts$`;
/** Tests, what only they use, and the build of the page, whose example is made with it. */
const FURNITURE = [TEST, "/(test|simulation|fixtures)/", "^(test|bench|docs)/", "^packages/web/(build|example)\\.ts$"];

const attestd = (names) => `^packages/attestd/src/(${names.join("|")})(/|\\.ts$)`;
const service = (names) => `^packages/service/src/(${names.map(withoutParts).join("|")})(/|\\.ts$)`;

/** The pattern of a folder, without those of its parts that have a floor of their own. */
function withoutParts(name) {
  const parts = FLOORS.flatMap(Object.keys).filter((part) => part.startsWith(`${name}/`));
  return parts.length === 0 ? name : `${name}(?!/(${parts.map((part) => part.slice(name.length + 1)).join("|")})/)`;
}

/** Each part of a folder has a floor, and imports none of a floor above. @param within makes the pattern of parts */
function floorRules(prefix, folder, within, list, floors) {
  return [
    {
      name: `${prefix}floors-complete`,
      comment: `Everything in ${folder} has its floor in ${list}.`,
      severity: "error",
      from: {},
      to: { path: `^${folder}/`, pathNot: within(floors.flatMap(Object.keys)) },
    },
    ...floors.slice(1).map((floor, index) => ({
      name: `${prefix}floor-${Object.keys(floor)[0]}`,
      comment: `${Object.keys(floor).join(", ")}: no import of a floor above (${list}).`,
      severity: "error",
      from: { path: within(Object.keys(floor)), pathNot: TEST },
      to: { path: within(floors.slice(0, index + 1).flatMap(Object.keys)) },
    })),
  ];
}

export default {
  forbidden: [
    { name: "no-circle", severity: "error", from: {}, to: { circular: true } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "sources-without-tests",
      comment: "What ships imports no test, no test furniture and no bench.",
      severity: "error",
      from: { path: "^packages/", pathNot: FURNITURE },
      to: { path: FURNITURE },
    },
    ...Object.entries(PACKAGES).map(([name, allowed]) => ({
      name: `packages-of-${name}`,
      comment: `${name} imports itself${allowed.map((one) => `, ${one}`).join("")} and no other package of this project.`,
      severity: "error",
      from: { path: `^packages/${name}/` },
      to: { path: "^packages/", pathNot: `^packages/(${[name, ...allowed].join("|")})/` },
    })),
    {
      name: "packages-by-name",
      comment: "A package is imported by its name, and so by what its exports offer.",
      severity: "error",
      from: { path: "^packages/([^/]+)/", pathNot: FURNITURE },
      to: { path: "^packages/", pathNot: "^packages/$1/", dependencyTypesNot: ["aliased-workspace"] },
    },
    {
      name: "proof-pure",
      comment: "proof imports noble and itself: it runs in browsers, and what it trusts can be read.",
      severity: "error",
      from: { path: "^packages/proof/src/", pathNot: TEST },
      to: { pathNot: ["^packages/proof/src/", "^node_modules/@noble/"] },
    },
    ...floorRules("", "packages/service/src", service, "FLOORS", FLOORS),
    ...floorRules("attestd-", "packages/attestd/src", attestd, "COMMAND_FLOORS", COMMAND_FLOORS),
    {
      name: "declarations-light",
      comment: "What declares a command imports no other code of the command: that is loaded when the command runs.",
      severity: "error",
      from: { path: "^packages/attestd/src/commands/[^/]+/command\\.ts$" },
      to: {
        path: "^packages/",
        pathNot: attestd(["command", "options", "failure"]),
        dependencyTypesNot: ["type-only", "dynamic-import"],
      },
    },
    {
      name: "transports-apart",
      comment: "No transport imports another one.",
      severity: "error",
      from: { path: `^packages/service/src/(${TRANSPORTS.join("|")})/`, pathNot: TEST },
      to: { path: service(TRANSPORTS), pathNot: "^packages/service/src/$1/" },
    },
    {
      name: "transports-thin",
      comment: "Transports and documents reach journal, rails and upstreams only by what the floors between offer.",
      severity: "error",
      from: { path: service([...TRANSPORTS, "api/documents"]), pathNot: TEST },
      to: {
        path: service([
          "journal",
          "calls/journal",
          "payment/rails",
          "attestor",
          "ledger",
          "chains",
          "networks",
          "providers",
        ]),
      },
    },
  ],
  options: {
    // build/typescript-api.mjs gives it this parser.
    parser: "tsc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^packages/[^/]+/dist/" },
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["node", "import", "require", "types", "default"],
      extensions: [".ts", ".mjs", ".js"],
    },
  },
};
