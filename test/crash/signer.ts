import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import algosdk from "algosdk";
import { type Settings, withOver } from "../../packages/service/test/settings.ts";
import { type Answer, buy, priceOf } from "./buyer.ts";
import type { TestBed } from "./cell.ts";
import { type Deployment, newDeployment } from "./deployment.ts";
import { answerFaults, endedPurchase, judge, rounds } from "./judge.ts";
import { payerOf } from "./payers.ts";
import type { ServiceProcess } from "./process.ts";
import type { SignerRun, Step } from "./signer-cells.ts";
import {
  type Handling,
  type Seeds,
  type SignerProcess,
  signerFolder,
  startSignerProcess,
  startSignerProxy,
} from "./signer-process.ts";
import { requestFor } from "./subjects.ts";

export type SignerOutcome = {
  run: SignerRun;
  /** The faults found; empty when the cell held. */
  wrong: string[];
  answers: Answer[];
  /** Requests of the step that the service made. */
  asked: number;
  seconds: number;
};

const PATIENCE_MS = 300_000;
const MISTREATED = { wrong: 3 };
const AWAY_MS = { "long away": 8_000, "another key": 3_000, slow: 4_000 };

/** A service, its signer in a process of its own, and a proxy between them. */
class SignerExecution implements AsyncDisposable {
  readonly answers: Answer[] = [];
  asked = 0;
  readonly #testBed: TestBed;
  readonly #run: SignerRun;
  readonly #opened = new AsyncDisposableStack();
  readonly #signal = AbortSignal.timeout(PATIENCE_MS);
  #signer: SignerProcess | undefined;
  #service: ServiceProcess | undefined;
  #restarting: Promise<void> = Promise.resolve();
  #startSigner: (seeds?: Seeds) => Promise<void> = async () => undefined;

  constructor(testBed: TestBed, run: SignerRun) {
    this.#testBed = testBed;
    this.#run = run;
  }

  async buy(): Promise<string[]> {
    const { sandbox, databases } = this.#testBed;
    const { rail, subject } = this.#run;
    const deployment = await newDeployment(sandbox, await databases.create("sqlite"));
    this.#opened.defer(() => deployment.close());
    const settings = await this.#deploySigner(deployment);
    await this.#startService(settings);

    const request = await requestFor(sandbox, subject);
    const payment = await payerOf(sandbox)(rail, await priceOf(this.#url(), request, this.#signal, rail));
    const bought = await buy(() => this.#url(), request, payment, this.#signal);
    this.answers.push(...bought.answers);
    await this.#restarting;
    const again = await buy(() => this.#url(), request, payment, this.#signal);
    await rounds(sandbox, 2);
    await this.#service?.kill();
    const wrong = await judge(sandbox, { ...deployment, settings }, [endedPurchase(payment, bought)]);
    if (this.asked === 0) wrong.push("the step was never reached");
    return [...answerFaults("delivered", bought, again), ...wrong];
  }

  #url = () => this.#service?.url ?? "";

  async #startService(settings: Settings): Promise<void> {
    const service = await this.#testBed.start(settings);
    this.#opened.defer(() => service.kill());
    this.#service = service;
  }

  /** @returns the settings of a service that has no seed */
  async #deploySigner({ settings, accounts }: Deployment): Promise<Settings> {
    const { folder, remove } = await signerFolder();
    this.#opened.defer(remove);
    const own = { seed: randomBytes(32).toString("hex"), mnemonic: accounts.attestor.mnemonic };
    const at = { folder, socket: "signer.sock", genesisHash: this.#testBed.sandbox.genesisHash };
    this.#startSigner = async (seeds = own) => {
      const signer = await startSignerProcess(at, seeds);
      this.#opened.defer(() => signer.kill());
      this.#signer = signer;
    };
    await this.#startSigner();
    const path = join(folder, "proxy.sock");
    const attestor = { signer: "socket", socket: path, mnemonic: undefined, pq_seed: undefined };
    const withSocket = withOver(settings, { attestor });
    const proxy = await startSignerProxy(path, join(folder, at.socket), (step) => this.#handle(step, withSocket));
    this.#opened.defer(() => proxy.close());
    return withSocket;
  }

  /** The fault of this cell, at its step. */
  async #handle(step: Step, settings: Settings): Promise<Handling> {
    if (step !== this.#run.step) return { pass: true };
    this.asked += 1;
    const { fault } = this.#run;
    if (this.asked > (fault === "wrong" ? MISTREATED.wrong : 1)) return { pass: true };
    switch (fault) {
      case "killed before":
        await this.#restart();
        return { pass: false };
      case "killed after":
        return { pass: true, answer: () => void this.#restart() };
      case "long away":
        await this.#restart(() => pause(AWAY_MS["long away"]));
        return { pass: false };
      case "another key":
        await this.#restart(async () => {
          const stranger = { seed: randomBytes(32).toString("hex"), mnemonic: strangersMnemonic() };
          await this.#startSigner(stranger);
          await pause(AWAY_MS["another key"]);
          await this.#signer?.kill();
        });
        return { pass: false };
      case "all killed":
        await this.#restart(
          () => this.#service?.kill(),
          () => this.#startService(settings),
        );
        return { pass: false };
      case "hang":
        return { pass: false };
      case "slow":
        return { pass: true, answer: (body, reply) => void pause(AWAY_MS.slow).then(() => reply(body)) };
      case "wrong":
        return { pass: true, answer: (body, reply) => reply(flipped(body)) };
      case "truncated":
        return {
          pass: true,
          answer: (body, reply, end) => {
            reply(body.subarray(0, 3));
            end();
          },
        };
    }
  }

  /** Kills the signer; what follows does not hold the request up. */
  async #restart(meanwhile?: () => unknown, afterwards?: () => unknown): Promise<void> {
    await this.#signer?.kill();
    this.#restarting = (async () => {
      await meanwhile?.();
      await this.#startSigner();
      await afterwards?.();
    })();
    this.#restarting.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#restarting.catch(() => undefined);
    await this.#opened.disposeAsync();
  }
}

function strangersMnemonic(): string {
  return algosdk.secretKeyToMnemonic(algosdk.generateAccount().sk);
}

function flipped(body: Buffer): Buffer {
  const copy = Buffer.from(body);
  copy[20] = (copy[20] as number) ^ 1;
  return copy;
}

/**
 * Buys one attestation from a service whose keys are in a signer's process, which fails at a step of the call, and sends the
 * same payment until there is an answer, and once more.
 */
export async function runSigner(testBed: TestBed, run: SignerRun): Promise<SignerOutcome> {
  const started = performance.now();
  await using execution = new SignerExecution(testBed, run);
  const wrong = await execution.buy().catch((error: Error) => [`not completed: ${error.message}`]);
  const { answers, asked } = execution;
  return { run, wrong, answers, asked, seconds: (performance.now() - started) / 1_000 };
}
