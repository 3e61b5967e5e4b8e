/** What the page uses of Swagger UI, which has no types of its own. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  type Properties = Record<string, unknown>;
  type Component = (properties: Properties) => unknown;
  /** Parts of React, and the selectors of the document that is shown. */
  export type System = {
    React: {
      createElement(type: unknown, properties: Properties | null, ...children: unknown[]): unknown;
      Fragment: unknown;
    };
    getComponent(name: string, isContainer: boolean): unknown;
    specSelectors: { specJson(): { getIn(path: readonly string[]): { toJS(): unknown } | undefined } };
  };
  export type Plugin = {
    components?: Record<string, Component>;
    wrapComponents?: Record<string, (original: Component, system: System) => Component>;
  };
  export default function SwaggerUI(options: {
    spec: unknown;
    domNode: HTMLElement;
    plugins: readonly ((system: System) => Plugin)[];
    onComplete?: () => void;
    [option: string]: unknown;
  }): unknown;
}
