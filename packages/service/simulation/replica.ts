import { type Outcome, paymentRequired, unanswered } from "../src/calls/outcome.ts";
import { Problem } from "../src/lib/problems.ts";
import { type Subject, saleOf } from "../src/subjects/subject.ts";
import type { Answer, Request } from "./answers.ts";
import type { Life } from "./scheduler.ts";
import { openService, type Service, type ServiceOptions } from "./service.ts";
import type { World } from "./world.ts";

/** A process of the service, with the connections to its clients. */
export class Replica {
  readonly #life: Life;
  readonly #world: World;
  readonly #service: Service;
  /** Those who wait for an answer. */
  readonly #connected = new Set<(answer: Answer) => void>();

  private constructor(life: Life, world: World, service: Service) {
    this.#life = life;
    this.#world = world;
    this.#service = service;
  }

  /** Rejects when the service cannot be opened. */
  static async start(life: Life, world: World, options: ServiceOptions): Promise<Replica> {
    return new Replica(life, world, await openService(life, world, options));
  }

  /** Sends it a request. @returns what its client comes to know; nothing is known of a process that died meanwhile */
  request(request: Request): Promise<Answer> {
    const { scheduler, answers } = this.#world;
    const { sent, subject, payload, wait } = request;
    const { key } = sent.authorization;
    const purchase = { wait, ...(sent.name !== undefined && { name: sent.name }) };
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        if (this.#connected.delete(end)) resolve(answer);
      };
      this.#connected.add(end);
      scheduler.soon(this.#life, "request", key, () => {
        answers.came(request, this.#life);
        void this.#answer(() => this.#service.admit(subject, payload, purchase)).then((answer) => {
          answers.left(request, answer, this.#life);
          if (scheduler.tracing) scheduler.note(this.#life.name, "answers", `${key} ${describe(answer)}`);
          scheduler.soon(undefined, "answer", key, () => end(answer));
        });
      });
    });
  }

  /** A client without a payment asks what it may pay with. */
  offers(subject: Subject): Promise<Answer> {
    return this.#answer(async () => paymentRequired(this.#service.offers, saleOf(subject)));
  }

  /** The process is killed: nothing is left of it, and its clients are cut off. */
  crash(): void {
    this.#life.alive = false;
    for (const end of this.#connected)
      this.#world.scheduler.soon(undefined, "cut off", "", () => end({ kind: "disconnected" }));
  }

  /** Stops as on SIGTERM: admits nothing, ends its loops, gives its leases up. */
  async stop(): Promise<void> {
    const { capacity, runner, journal } = this.#service;
    capacity.stop();
    await runner.stop();
    await journal.close();
    this.crash();
  }

  async #answer(ask: () => Promise<Outcome>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      return error instanceof Problem ? unanswered(error) : { kind: "broken", error };
    }
  }
}

function describe(answer: Answer): string {
  if (answer.kind === "problem") return answer.problem.code;
  return answer.kind === "payment_required" ? `402 ${answer.error}` : answer.kind;
}
