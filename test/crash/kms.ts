import { setTimeout as sleep } from "node:timers/promises";
import { type FakeKms, startKms } from "../../packages/service/test/fakes/kms/server.ts";
import { withOver } from "../../packages/service/test/settings.ts";
import { type Answer, buy, PAUSE_MS, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { expireLeases } from "./databases.ts";
import { newDeployment, UPSTREAMS } from "./deployment.ts";
import { answerFaults, endedPurchase, judge, rounds } from "./judge.ts";
import { KMS_CONDUCTS, type KmsRun, SIGNATURES } from "./kms-cells.ts";
import { keysOf, kmsEnvironment, kmsSettings, startKmsProcess } from "./kms-server.ts";
import { payerOf } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import { requestFor } from "./subjects.ts";

export type KmsOutcome = {
  run: KmsRun;
  /** The faults found; empty when the cell held. */
  wrong: string[];
  answers: Answer[];
  /** Requests to sign that the KMS got for this purchase; absent where it was killed, and its count with it. */
  signs?: number;
  seconds: number;
};

const PATIENCE_MS = 600_000;

/**
 * Buys one attestation of a service whose keys are in a fake KMS, which misbehaves or is killed meanwhile, or the service is;
 * sends the same payment until there is an answer, and once more; and checks chains and journal.
 */
export async function runKms(testBed: TestBed, run: KmsRun): Promise<KmsOutcome> {
  const started = performance.now();
  await using cell = new KmsCellExecution(testBed, run);
  const wrong = await cell.run().catch((error: Error) => [`not completed: ${error.message}`]);
  const { answers, signs } = cell;
  const seconds = (performance.now() - started) / 1_000;
  return { run, wrong, answers, ...(signs !== undefined && { signs }), seconds };
}

/** A KMS in this process or in one of its own, and what is to happen during the purchase. */
type Kms = {
  url: string;
  /** Arranges the conduct for the requests to sign from now on. */
  arrange(service: ServiceProcess): Promise<{ /** Resolves once it has. */ happened: Promise<void> }>;
};

class KmsCellExecution implements AsyncDisposable {
  readonly answers: Answer[] = [];
  signs: number | undefined;
  readonly #testBed: TestBed;
  readonly #run: KmsRun;
  readonly #opened = new AsyncDisposableStack();
  readonly #signal = AbortSignal.timeout(PATIENCE_MS);

  constructor(testBed: TestBed, run: KmsRun) {
    this.#testBed = testBed;
    this.#run = run;
  }

  async run(): Promise<string[]> {
    const { sandbox, databases } = this.#testBed;
    const { provider, journal } = this.#run;
    const deployment = await newDeployment(sandbox, await databases.create(journal));
    this.#opened.defer(() => deployment.close());
    const keys = keysOf(provider, deployment.accounts.attestor.mnemonic);
    const kms = this.#conduct.killed === "kms" ? await this.#killable(keys) : await this.#own(keys);
    const settings = withOver(deployment.settings, { attestor: kmsSettings(provider, kms.url) });
    const start = async () => {
      const process = await this.#testBed.start(settings, { env: kmsEnvironment(kms.url) });
      this.#opened.defer(() => process.kill());
      return process;
    };

    let service = await start();
    const request = await requestFor(sandbox, "transaction");
    const payment = await payerOf(sandbox)("base", await priceOf(service.url, request, this.#signal, "base"));
    const { happened } = await kms.arrange(service);
    const lost = new AbortController();
    const taken = happened.then(async () => {
      if (this.#conduct.killed !== "service") return;
      if (journal === "postgres") await expireLeases(deployment.databaseUrl);
      service = await start();
    });
    taken.catch((error) => lost.abort(error));
    const bought = await buy(() => service.url, request, payment, AbortSignal.any([this.#signal, lost.signal]));
    this.answers.push(...bought.answers);
    await taken;
    const again = await buy(() => service.url, request, payment, this.#signal);
    await rounds(sandbox, 2);
    await service.kill();
    for (const upstream of UPSTREAMS) deployment.proxies[upstream].heal();
    const wrong = await judge(sandbox, { ...deployment, settings }, [endedPurchase(payment, bought)]);
    return [...answerFaults("delivered", bought, again), ...wrong];
  }

  get #conduct() {
    const conduct = KMS_CONDUCTS[this.#run.conduct];
    if (!conduct) throw new Error(`there is no conduct ${this.#run.conduct}`);
    return conduct;
  }

  /** A KMS in this process. */
  async #own(keys: ReturnType<typeof keysOf>): Promise<Kms> {
    const kms = await startKms([keys.pq, keys.account]);
    this.#opened.defer(() => kms.close());
    const { at, faults = [], isDisabled, slowMs = 0 } = this.#conduct;
    return {
      url: kms.url,
      arrange: async (service) => {
        const before = signsOf(kms);
        const count = () => {
          this.signs = signsOf(kms) - before;
        };
        this.#opened.defer(count);
        kms.faults.push(...faults);
        const happened = Promise.withResolvers<void>();
        let nth = 0;
        kms.onSign = async () => {
          count();
          nth += 1;
          // Before the pause: those of bundle and receipt are asked for at the same time.
          const [isAt, isFirst] = [at !== undefined && nth === SIGNATURES.indexOf(at) + 1, nth === 1];
          await sleep(slowMs);
          if (isAt) {
            await service.kill();
            happened.resolve();
          }
          if (isDisabled && isFirst) {
            for (const key of Object.values(keys)) key.state = "disabled";
            void this.#notReady(service).then(() => {
              for (const key of Object.values(keys)) key.state = "enabled";
              happened.resolve();
            }, happened.reject);
          }
        };
        if (at === undefined && !isDisabled) happened.resolve();
        return { happened: happened.promise };
      },
    };
  }

  /** Resolves once the service says that it sells nothing. */
  async #notReady({ url }: ServiceProcess): Promise<void> {
    while ((await fetch(`${url}/ready`, { signal: this.#signal })).status !== 503)
      await sleep(PAUSE_MS, undefined, { signal: this.#signal });
  }

  /** A KMS in a process of its own. */
  async #killable(keys: ReturnType<typeof keysOf>): Promise<Kms> {
    const both = [keys.pq, keys.account];
    const kms = await startKmsProcess(both);
    this.#opened.defer(() => kms.kill());
    return {
      url: kms.url,
      arrange: async () => {
        const { at = "bundle" } = this.#conduct;
        const { silent } = await kms.arm(SIGNATURES.indexOf(at) + 1);
        const happened = silent.then(async () => {
          await kms.kill();
          const next = await startKmsProcess(both, Number(new URL(kms.url).port));
          this.#opened.defer(() => next.kill());
        });
        return { happened };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

function signsOf({ requests }: FakeKms): number {
  return requests.filter((operation) => operation.endsWith("Sign")).length;
}
