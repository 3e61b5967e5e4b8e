/**
 * A protocol of agents on one path of its own: it translates between that protocol and `operations`, and decides
 * nothing. It reads the request's body itself, and holds it to a limit.
 */
export type Door = {
  path: string;
  methods: readonly string[];
  handle(request: Request): Response | Promise<Response>;
};
